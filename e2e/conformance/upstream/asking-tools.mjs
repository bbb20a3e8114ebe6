// Tools that send requests to their client. Each asks as in 2026-07-28, with an input_required result; for a client
// of 2025-11-25 the SDK sends the same questions as separate requests.
import { randomUUID } from 'node:crypto';
import { inputRequired } from '@modelcontextprotocol/server';
import { answersOf, filledIn, offeredBy, textResult } from './call.mjs';
import { CHOICES, CONTACT, DEFAULTS, formOf } from './forms.mjs';
import { states } from './states.mjs';

/**
 * @typedef {import('@modelcontextprotocol/server').InputRequest} InputRequest
 * @typedef {import('./call.mjs').Call} Call
 * @typedef {import('./call.mjs').Tool} Tool
 */

/** @param {string} message @param {import('./forms.mjs').Form} requestedSchema */
const form = (message, requestedSchema) => inputRequired.elicit({ message, requestedSchema });

/**
 * @param {string} text
 * @returns {import('@modelcontextprotocol/server').CreateMessageRequestParamsBase}
 */
const sampling = (text) => ({
  messages: [{ role: 'user', content: { type: 'text', text } }],
  maxTokens: 100,
});

/**
 * A tool that asks everything at once and returns the answers.
 * @param {(args: Record<string, unknown>) => Record<string, InputRequest>} questions
 * @param {Tool['inputSchema']} [inputSchema]
 * @returns {Tool}
 */
const asking = (questions, inputSchema) => ({
  ...(inputSchema !== undefined && { inputSchema }),
  run: (args, call) => {
    const inputRequests = questions(args);
    const answers = answersOf(call);
    return Object.keys(inputRequests).every((key) => answers[key] !== undefined)
      ? textResult(`The answers: ${JSON.stringify(answers)}`)
      : inputRequired({ inputRequests });
  },
});

/** @param {string} name @returns {import('./call.mjs').InputSchema} */
const textArgument = (name) => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
});

const NAME = {
  message: 'What is your name?',
  requestedSchema: formOf({ name: { type: 'string' } }, ['name']),
};
const nameForm = inputRequired.elicit(NAME);

/** @type {Tool} */
const withState = {
  run: async (_args, call) => {
    if (call.context.mcpReq.requestState() !== undefined && filledIn(call, 'confirm') !== undefined)
      return textResult('state-ok');
    return inputRequired({
      inputRequests: { confirm: form('Please confirm', formOf({ ok: { type: 'boolean' } }, ['ok'])) },
      requestState: await states.mint({ nonce: randomUUID() }),
    });
  },
};

/** @type {Tool} */
const twoRounds = {
  run: async (_args, { context }) => {
    const state = context.mcpReq.requestState();
    const round = typeof state === 'object' && state !== null && 'round' in state ? state.round : 0;
    if (round === 2) return textResult('both rounds are over');
    const question =
      round === 0
        ? { step1: nameForm }
        : { step2: form('What is your favourite colour?', formOf({ color: { type: 'string' } }, ['color'])) };
    return inputRequired({
      inputRequests: question,
      requestState: await states.mint({ round: round === 0 ? 1 : 2 }),
    });
  },
};

/**
 * In the older revision, requests do not carry the client's capabilities: the tool tries, and treats an error as unsupported.
 * @type {Tool}
 */
const whatIsOffered = {
  run: async (_args, call) => {
    const { mcpReq } = call.context;
    const offered = offeredBy(call);
    if (offered === undefined) {
      await mcpReq.elicitInput(NAME).catch(() => {});
      const answer = await mcpReq.requestSampling(sampling('Say hello'));
      return textResult(`The model: ${JSON.stringify(answer.content)}`);
    }
    const inputRequests = {
      ...(offered.sampling !== undefined && { greeting: inputRequired.createMessage(sampling('Say hello')) }),
      ...(offered.elicitation !== undefined && { user_name: nameForm }),
    };
    const isOver = Object.keys(inputRequests).length === 0 || Object.keys(answersOf(call)).length > 0;
    return isOver ? textResult('nothing is left to ask') : inputRequired({ inputRequests });
  },
};

/** @type {import('./call.mjs').Tools} */
export const ASKING_TOOLS = {
  test_sampling: asking(
    ({ prompt }) => ({ completion: inputRequired.createMessage(sampling(String(prompt))) }),
    textArgument('prompt'),
  ),
  test_elicitation: asking(
    ({ message }) => ({ contact: form(String(message), CONTACT) }),
    textArgument('message'),
  ),
  test_streaming_elicitation: asking(() => ({ ready: form('Ready?', formOf({ ok: { type: 'boolean' } })) })),
  test_elicitation_sep1034_defaults: asking(() => ({
    defaults: form('Please check these values', DEFAULTS),
  })),
  test_elicitation_sep1330_enums: asking(() => ({ choices: form('Please choose', CHOICES) })),
  test_missing_capability: asking(() => ({ greeting: inputRequired.createMessage(sampling('Say hello')) })),
  test_input_required_result_elicitation: asking(() => ({ user_name: nameForm })),
  test_input_required_result_sampling: asking(() => ({
    capital_question: inputRequired.createMessage(sampling('What is the capital of France?')),
  })),
  test_input_required_result_list_roots: asking(() => ({ client_roots: inputRequired.listRoots() })),
  test_input_required_result_request_state: withState,
  test_input_required_result_tampered_state: withState,
  test_input_required_result_multi_round: twoRounds,
  test_input_required_result_capabilities: whatIsOffered,
  test_input_required_result_multiple_inputs: {
    run: async (_args, call) => {
      const inputRequests = {
        user_name: nameForm,
        greeting: inputRequired.createMessage(sampling('Generate a greeting')),
        client_roots: inputRequired.listRoots(),
      };
      const answers = answersOf(call);
      return Object.keys(inputRequests).every((key) => answers[key] !== undefined)
        ? textResult('all inputs received')
        : inputRequired({ inputRequests, requestState: await states.mint({ nonce: randomUUID() }) });
    },
  },
};
