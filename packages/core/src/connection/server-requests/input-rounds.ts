/**
 * Servers may send requests to the host: to fill in a form (elicitation), to query a model (sampling), to list the
 * user's directories (roots). Older revisions send requests, the newer one returns `input_required` and is called
 * again. Both go through one guard, and each gets its answer in the form of its revision.
 */
import type { Client } from '@modelcontextprotocol/client';
import type { RequestKind } from '../../config/schema/schema.js';
import { SERVER_BUG_HINT, TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { copyRawNumbers } from '../../json/lossless-json.js';
import type { CallClock } from '../../resilience/call-clock.js';
import type { Lane, LaneRequest, LaneResult } from '../lanes/lane.js';
import type { ClientResponders } from './client-responders.js';
import { requestKindOf } from './host-requests.js';
import { type HostAnswerOptions, paramsOf, type RequestGuard, type RequestOutcome } from './request-guard.js';

const MAX_ROUNDS = 10;
const MAX_REQUESTS_PER_ROUND = 16;

/** Lets the SDK's client answer requests of older servers; the SDK's own parsing of them is not used. */
export function handleServerRequests(
  client: Client,
  guard: RequestGuard,
  responders: ClientResponders,
): void {
  client.fallbackRequestHandler = async ({ method, params }, context) => {
    const reply = await answerRequest(method, params, {
      guard,
      signal: context.mcpReq.signal,
      responder: responders.unambiguous,
      id: context.mcpReq.id,
    });
    if ('result' in reply) return reply.result;
    throw Object.assign(new Error(reply.error.message), { code: reply.error.code });
  };
}

type Reply =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly error: { readonly code: number; readonly message: string } };

/** The reply to a request of an older server: the host's answer, or an error. */
export async function answerRequest(
  method: string,
  params: unknown,
  {
    guard,
    ...asked
  }: { readonly guard: RequestGuard } & Required<Pick<HostAnswerOptions, 'signal' | 'responder' | 'id'>>,
): Promise<Reply> {
  if (method === 'ping') return { result: {} };
  const kind = requestKindOf(method);
  if (kind === undefined) return { error: { code: -32601, message: 'Method not found' } };
  const outcome = await guard.answer(kind, paramsOf(params), asked);
  if (outcome.result !== undefined) return { result: outcome.result };
  if (outcome.outcome === 'declined' && kind === 'elicitation') return { result: DECLINED_RESULT };
  return {
    error: { code: ERROR_CODES[outcome.outcome], message: ERROR_MESSAGES[outcome.outcome](outcome.reason) },
  };
}

const DECLINED_RESULT = { action: 'decline' };
type UnansweredOutcome = Extract<RequestOutcome, { reason: string }>['outcome'];
const ERROR_CODES: Readonly<Record<UnansweredOutcome, number>> = {
  'not-offered': -32601,
  refused: -32602,
  limited: -32000,
  failed: -32603,
  // The protocol's code for a person rejecting sampling.
  declined: -1,
};
const ERROR_MESSAGES: Readonly<Record<UnansweredOutcome, (reason: string) => string>> = {
  'not-offered': () => 'Method not found',
  refused: (reason) => `Rejected: ${reason}`,
  limited: (reason) => `Limit exceeded: ${reason}`,
  failed: () => 'The host failed to respond',
  declined: (reason) => `Declined: ${reason}`,
};

export interface InputRoundOptions {
  readonly guard: RequestGuard;
  /**
   * The caller wants the server's result unchanged, including `input_required` and extensions, and continues itself.
   */
  readonly passThrough: boolean;
  /** Called before each further round is sent; throws if it must not be. */
  readonly confirm: () => Promise<void> | undefined;
  /** For all rounds together. */
  readonly clock: CallClock;
}

/** Nearly every result is: no request for input, and of no extension. */
export const isComplete = ({ resultType }: LaneResult): boolean =>
  resultType === undefined || resultType === 'complete';

/** Sends the request again with the answers as long as the server requests more, up to a maximum. */
export async function continueWithInput(
  lane: Lane,
  request: LaneRequest,
  { result: first, options }: { readonly result: LaneResult; readonly options: InputRoundOptions },
): Promise<LaneResult> {
  const { server } = options.guard;
  let result = first;
  for (let round = 0; !isComplete(result); round += 1) {
    if (result.resultType !== 'input_required') {
      if (options.passThrough) return result;
      throw unknownResult(server, result.resultType);
    }
    const questions = readInputRequests(server, result.inputRequests);
    if (options.passThrough) return checkPassThrough(result, questions, options.guard);
    if (round >= MAX_ROUNDS) {
      throw new TurnbuckleError(
        'INPUT_REQUIRED',
        `Server "${server}" is still requesting input after ${MAX_ROUNDS} rounds.`,
        { server, hint: SERVER_BUG_HINT },
      );
    }
    const answers = answerAll(questions, request, options.guard);
    const waiting = { what: "a reply to the server's request for input", server, begun: true };
    const inputResponses = await options.clock.until(answers, waiting);
    await options.confirm();
    const { requestState } = result;
    const answered = {
      ...request.params,
      inputResponses,
      ...(requestState !== undefined && { requestState }),
    };
    const params = copyRawNumbers(request.params, answered);
    result = await lane.request({ ...request, params, maxTotalMs: options.clock.timerMs });
  }
  return result;
}

/** A server of the newer revision sends no request to a host that does not support it: it fails with this code. */
const MISSING_CAPABILITY = -32021;

/** The error of a request; of one that failed because the host answers no request for input, with what to do. */
export function explainRefusal(error: unknown, guard: RequestGuard): unknown {
  const rpc = error instanceof TurnbuckleError ? error.data?.rpc : undefined;
  if (!isRecord(rpc) || rpc.code !== MISSING_CAPABILITY) return error;
  const { server } = guard;
  const data = isRecord(rpc.data) ? rpc.data : {};
  const wanted = Object.keys(isRecord(data.requiredCapabilities) ? data.requiredCapabilities : {});
  const kind = (['elicitation', 'sampling', 'roots'] as const).find((one) => wanted.includes(one));
  return new TurnbuckleError(
    'INPUT_REQUIRED',
    `Server "${server}" requires input, but no handler is available.`,
    {
      server,
      cause: error,
      hint: hintFor(kind, guard),
      data: { rpc },
    },
  );
}

interface InputRequest {
  readonly key: string;
  readonly method: string;
  readonly kind: RequestKind | undefined;
  readonly params: Readonly<Record<string, unknown>>;
}

function readInputRequests(server: string, requests: unknown): InputRequest[] {
  const entries = Object.entries(isRecord(requests) ? requests : {});
  if (entries.length > MAX_REQUESTS_PER_ROUND)
    throw new TurnbuckleError(
      'PROTOCOL_VIOLATION',
      `Server "${server}" sent ${entries.length} requests in one result; the limit is ${MAX_REQUESTS_PER_ROUND}.`,
      { server, hint: SERVER_BUG_HINT },
    );
  return entries.map(([key, entry]) => {
    const method = isRecord(entry) && typeof entry.method === 'string' ? entry.method : '';
    return {
      key,
      method,
      kind: requestKindOf(method),
      params: paramsOf(isRecord(entry) ? entry.params : undefined),
    };
  });
}

/** Requests that a caller answers itself have passed the same checks. */
function checkPassThrough(
  result: LaneResult,
  questions: readonly InputRequest[],
  guard: RequestGuard,
): LaneResult {
  for (const { kind, method, params } of questions) {
    if (kind === undefined) throw unansweredError(guard, { kind, method });
    const reason = guard.checkPassThrough(kind, params);
    if (reason !== undefined) throw refusedError(guard.server, kind, reason);
  }
  return result;
}

async function answerAll(
  questions: readonly InputRequest[],
  { signal, responder }: Pick<LaneRequest, 'signal' | 'responder'>,
  guard: RequestGuard,
): Promise<Record<string, unknown>> {
  const responses: [string, unknown][] = [];
  for (const { key, method, kind, params } of questions) {
    if (kind === undefined) throw unansweredError(guard, { kind, method });
    const outcome = await guard.answer(kind, params, { signal, responder, id: key });
    if (outcome.outcome === 'not-offered') throw unansweredError(guard, { kind, method });
    if (signal?.aborted) throw new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled.');
    // This revision has no error answers; a form at least can be declined.
    const isDeclined = kind === 'elicitation' && outcome.outcome !== 'failed';
    const response = outcome.result ?? (isDeclined ? DECLINED_RESULT : undefined);
    if (response === undefined)
      throw refusedError(guard.server, kind, outcome.result === undefined ? outcome.reason : '');
    responses.push([key, response]);
  }
  return Object.fromEntries(responses);
}

function refusedError(server: string, kind: RequestKind, reason: string): TurnbuckleError {
  return new TurnbuckleError(
    'INPUT_REQUIRED',
    `Server "${server}" requested ${kind}, but Turnbuckle did not respond because ${reason}.`,
    {
      server,
      hint: 'The event "server.asked" reports every request from a server and its outcome.',
      data: { kind },
    },
  );
}

function unansweredError(
  guard: RequestGuard,
  { kind, method }: Pick<InputRequest, 'kind' | 'method'>,
): TurnbuckleError {
  const { server } = guard;
  return new TurnbuckleError(
    'INPUT_REQUIRED',
    `Server "${server}" requests ${kind ?? JSON.stringify(method.slice(0, 80))}, but no handler is available.`,
    {
      server,
      hint: kind === undefined ? 'Turnbuckle does not support this kind of request.' : hintFor(kind, guard),
      data: { method },
    },
  );
}

function hintFor(kind: RequestKind | undefined, guard: RequestGuard): string {
  if (kind !== undefined && guard.forbids(kind))
    return `To allow such requests, add "${kind}" to mayAsk in the configuration for server "${guard.server}".`;
  const what = kind === undefined ? 'the required handlers' : `a handlers.${kind} function`;
  return `Pass ${what} to createRuntime, or call with inputRequired: 'return' and answer the request yourself.`;
}

function unknownResult(server: string, type: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'PROTOCOL_VIOLATION',
    `Server "${server}" returned a result of unknown type "${String(type).slice(0, 80)}".`,
    { server, hint: SERVER_BUG_HINT },
  );
}
