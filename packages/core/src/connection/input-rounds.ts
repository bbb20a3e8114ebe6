/**
 * Servers may ask the host back: for a form to be filled in (elicitation), a model to be asked (sampling),
 * the user's directories (roots). Older revisions send requests, the newer one answers `input_required`
 * and is asked again. Both end in the same answers, which the host gives or does not offer at all.
 */
import type { Client, ClientCapabilities } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import type { Lane, LaneRequest, LaneResult } from './lane.js';

export interface ServerRequest {
  readonly server: string;
  /** Untrusted: written by the server. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal | undefined;
}

type Answer = (request: ServerRequest) => Promise<Record<string, unknown>> | Record<string, unknown>;

/** What the host answers. What is absent is not offered to servers. */
export interface ServerRequestAnswers {
  readonly elicitation?: Answer | undefined;
  readonly sampling?: Answer | undefined;
  readonly roots?: Answer | undefined;
}

const METHODS = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
} as const satisfies Record<string, keyof ServerRequestAnswers>;

type Method = keyof typeof METHODS;

const MAX_ROUNDS = 10;
const MAX_REQUESTS_A_ROUND = 16;

export function offeredCapabilities(answers: ServerRequestAnswers): ClientCapabilities {
  return {
    ...(answers.elicitation && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(answers.sampling && { sampling: {} }),
    ...(answers.roots && { roots: {} }),
  };
}

/** Lets the SDK's client answer the requests of older servers. */
export function serveRequests(client: Client, server: string, answers: ServerRequestAnswers): void {
  for (const method of Object.keys(METHODS) as Method[]) {
    const answer = answers[METHODS[method]];
    if (answer === undefined) continue;
    client.setRequestHandler(method, async (request, context) => {
      const params = { ...request.params };
      return withDefaults(
        method,
        params,
        await answer({ server, params, signal: context.mcpReq.signal }),
      ) as never;
    });
  }
}

type Reply =
  | { readonly result: Record<string, unknown> }
  | { readonly error: { readonly code: number; readonly message: string } };

/** The reply to a request of an older server: the host's answer, or that there is none. */
export async function answerRequest(
  method: string,
  request: ServerRequest,
  answers: ServerRequestAnswers,
): Promise<Reply> {
  if (method === 'ping') return { result: {} };
  const answer = isKnown(method) ? answers[METHODS[method]] : undefined;
  if (!isKnown(method) || answer === undefined)
    return { error: { code: -32601, message: 'Method not found' } };
  try {
    return { result: withDefaults(method, request.params, await answer(request)) };
  } catch (error) {
    return {
      error: { code: -32603, message: error instanceof Error ? error.message : 'The host failed to answer' },
    };
  }
}

const isKnown = (method: string): method is Method => Object.hasOwn(METHODS, method);

export interface InputRoundOptions {
  readonly server: string;
  readonly answers: ServerRequestAnswers;
  /** The caller wants to see `input_required` and go on itself. */
  readonly passOn: boolean;
}

/** Sends the request, and again with the answers as long as the server asks for more, in bounded rounds. */
export async function requestWithInput(
  lane: Lane,
  request: LaneRequest,
  options: InputRoundOptions,
): Promise<LaneResult> {
  let result: LaneResult;
  try {
    result = await lane.request(request);
  } catch (error) {
    throw explainRefusal(error, options.server);
  }
  for (let round = 0; result.resultType !== undefined && result.resultType !== 'complete'; round += 1) {
    if (result.resultType !== 'input_required') throw unknownResult(options.server, result.resultType);
    if (options.passOn) return result;
    if (round >= MAX_ROUNDS) {
      throw new TurnbuckleError(
        'INPUT_REQUIRED',
        `Server "${options.server}" still asks for input after ${MAX_ROUNDS} rounds.`,
        { server: options.server },
      );
    }
    const inputResponses = await answerAll(result.inputRequests, request.signal, options);
    const { requestState } = result;
    const params = { ...request.params, inputResponses, ...(requestState !== undefined && { requestState }) };
    result = await lane.request({ ...request, params });
  }
  return result;
}

/** A server of the newer revision does not ask a host that did not offer to answer: it refuses with this code. */
const MISSING_CAPABILITY = -32021;

function explainRefusal(error: unknown, server: string): unknown {
  const rpc = error instanceof TurnbuckleError ? error.data?.rpc : undefined;
  if (!isRecord(rpc) || rpc.code !== MISSING_CAPABILITY) return error;
  return new TurnbuckleError('INPUT_REQUIRED', `Server "${server}" needs to ask back, and nobody answers.`, {
    server,
    cause: error,
    hint: "Give createRuntime the handlers it asks for, or call with inputRequired: 'return' and go on yourself.",
    data: { rpc },
  });
}

async function answerAll(
  requests: unknown,
  signal: AbortSignal | undefined,
  options: InputRoundOptions,
): Promise<Record<string, unknown>> {
  const entries = Object.entries(isRecord(requests) ? requests : {});
  if (entries.length > MAX_REQUESTS_A_ROUND)
    throw unknownResult(options.server, `input_required with ${entries.length} requests`);
  const responses: Record<string, unknown> = {};
  for (const [key, entry] of entries) {
    const method = isRecord(entry) && typeof entry.method === 'string' ? entry.method : '';
    const answer = method in METHODS ? options.answers[METHODS[method as Method]] : undefined;
    if (answer === undefined) throw unanswered(options.server, method);
    const params = isRecord(entry) && isRecord(entry.params) ? entry.params : {};
    responses[key] = withDefaults(
      method as Method,
      params,
      await answer({ server: options.server, params, signal }),
    );
  }
  return responses;
}

/** Fields of a form that the host left open take the default that the form itself proposes. */
function withDefaults(
  method: Method,
  params: Readonly<Record<string, unknown>>,
  answer: Record<string, unknown>,
): Record<string, unknown> {
  const schema = params.requestedSchema;
  if (
    method !== 'elicitation/create' ||
    answer.action !== 'accept' ||
    !isRecord(schema) ||
    !isRecord(schema.properties)
  )
    return answer;
  const content: Record<string, unknown> = { ...(isRecord(answer.content) ? answer.content : {}) };
  for (const [name, property] of Object.entries(schema.properties)) {
    if (content[name] === undefined && isRecord(property) && property.default !== undefined)
      content[name] = property.default;
  }
  return { ...answer, content };
}

function unanswered(server: string, method: string): TurnbuckleError {
  const known = method in METHODS;
  return new TurnbuckleError(
    'INPUT_REQUIRED',
    `Server "${server}" asks for ${known ? METHODS[method as Method] : `"${method.slice(0, 80)}"`}, and nobody answers.`,
    {
      server,
      hint: known
        ? `Give createRuntime a handlers.${METHODS[method as Method]} function, or call with inputRequired: 'return' and go on yourself.`
        : 'This kind of request is not known here.',
      data: { method },
    },
  );
}

function unknownResult(server: string, type: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'PROTOCOL_VIOLATION',
    `Server "${server}" answered with a result of unknown type "${String(type).slice(0, 80)}".`,
    { server },
  );
}
