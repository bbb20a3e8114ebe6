import { inputRequired, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { filledIn, PIXEL } from './call.mjs';

/**
 * @typedef {import('@modelcontextprotocol/server').GetPromptResult} GetPromptResult
 * @typedef {import('@modelcontextprotocol/server').ContentBlock} ContentBlock
 * @typedef {{
 *   arguments?: { name: string, description: string, required: boolean }[],
 *   get: (args: Record<string, string>, call: import('./call.mjs').Call) => GetPromptResult | import('./call.mjs').InputRequiredResult,
 * }} Prompt
 */

/**
 * @param {...ContentBlock} contents
 * @returns {GetPromptResult}
 */
const messages = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });

/**
 * @param {string} text
 * @returns {ContentBlock}
 */
const textContent = (text) => ({ type: 'text', text });

/** @param {string} name @param {string} description */
const argument = (name, description) => ({ name, description, required: true });

const COMPLETIONS = ['testValue1', 'testValue2', 'paris', 'park'];

/** @type {Record<string, Prompt>} */
const PROMPTS = {
  test_simple_prompt: { get: () => messages(textContent('This is a simple prompt for testing.')) },
  test_prompt_with_arguments: {
    arguments: [argument('arg1', 'First test argument'), argument('arg2', 'Second test argument')],
    get: ({ arg1, arg2 }) => messages(textContent(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  },
  test_prompt_with_embedded_resource: {
    arguments: [argument('resourceUri', 'The resource to embed')],
    get: ({ resourceUri: uri = '' }) =>
      messages(
        {
          type: 'resource',
          resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
        textContent('Please process the embedded resource above.'),
      ),
  },
  test_prompt_with_image: {
    get: () =>
      messages(
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        textContent('Please analyze the image above.'),
      ),
  },
  test_input_required_result_prompt: {
    get: (_args, call) => {
      const content = filledIn(call, 'user_context');
      if (content !== undefined) return messages(textContent(`The context is: ${content.context}`));
      const user_context = inputRequired.elicit({
        message: 'What context should the prompt use?',
        requestedSchema: {
          type: 'object',
          properties: { context: { type: 'string' } },
          required: ['context'],
        },
      });
      return inputRequired({ inputRequests: { user_context } });
    },
  },
};
/** @type {Record<string, Prompt>} */
const EXTRA = { test_extra_prompt: { get: () => messages(textContent('Here today.')) } };

/**
 * @param {import('@modelcontextprotocol/server').Server} server
 * @param {import('./world.mjs').World} world
 */
export function servePrompts(server, world) {
  const prompts = () => ({ ...PROMPTS, ...(world.hasExtra('prompts') && EXTRA) });
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(prompts()).map(([name, { arguments: args }]) => ({
      name,
      description: `The prompt ${name}`,
      ...(args !== undefined && { arguments: args }),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, context) => {
    const prompt = prompts()[name];
    if (prompt === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
    return prompt.get(args, { context, world });
  });
  server.setRequestHandler('completion/complete', ({ params: { argument: written } }) => {
    const values = COMPLETIONS.filter((value) => value.startsWith(written.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
}
