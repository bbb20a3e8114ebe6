/**
 * Servers may ask the host back: for a form to be filled in (elicitation), a model to be asked (sampling),
 * the user's directories (roots). Older revisions send requests, the newer one answers `input_required`
 * and is asked again. Both go through the one guard, and each is told in the way of its revision.
 */
import type { Client } from '@modelcontextprotocol/client';
import type { RequestKind } from '../config/schema.js';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { keepSpelling } from '../json/spelling.js';
import type { CallClock } from '../resilience/call-clock.js';
import type { Lane, LaneRequest, LaneResult } from './lane.js';
import { type AskOptions, type Outcome, paramsOf, type RequestGuard } from './request-guard.js';
import type { Respondents } from './respondents.js';
import { kindOf } from './server-requests.js';

const MAX_ROUNDS = 10;
const MAX_REQUESTS_A_ROUND = 16;

/** Lets the SDK's client answer the requests of older servers; the SDK's own reading of them is not used. */
export function serveRequests(client: Client, guard: RequestGuard, respondents: Respondents): void {
  client.fallbackRequestHandler = async ({ method, params }, context) => {
    const reply = await answerRequest(method, params, {
      guard,
      signal: context.mcpReq.signal,
      respondent: respondents.only,
      id: context.mcpReq.id,
    });
    if ('result' in reply) return reply.result;
    throw Object.assign(new Error(reply.error.message), { code: reply.error.code });
  };
}

type Reply =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly error: { readonly code: number; readonly message: string } };

/** The reply to a request of an older server: the host's answer, or that there is none. */
export async function answerRequest(
  method: string,
  params: unknown,
  {
    guard,
    ...asked
  }: { readonly guard: RequestGuard } & Required<Pick<AskOptions, 'signal' | 'respondent' | 'id'>>,
): Promise<Reply> {
  if (method === 'ping') return { result: {} };
  const kind = kindOf(method);
  if (kind === undefined) return { error: { code: -32601, message: 'Method not found' } };
  const outcome = await guard.answer(kind, paramsOf(params), asked);
  if (outcome.result !== undefined) return { result: outcome.result };
  if (outcome.outcome === 'declined' && kind === 'elicitation') return { result: DECLINED };
  return { error: { code: CODES[outcome.outcome], message: MESSAGES[outcome.outcome](outcome.reason) } };
}

const DECLINED = { action: 'decline' };
type Unanswered = Extract<Outcome, { reason: string }>['outcome'];
const CODES: Readonly<Record<Unanswered, number>> = {
  'not-offered': -32601,
  refused: -32602,
  limited: -32000,
  failed: -32603,
  // What the protocol names for a person's no to sampling.
  declined: -1,
};
const MESSAGES: Readonly<Record<Unanswered, (reason: string) => string>> = {
  'not-offered': () => 'Method not found',
  refused: (reason) => `Refused: ${reason}`,
  limited: (reason) => `Not now: ${reason}`,
  failed: () => 'The host failed to answer',
  declined: (reason) => `Declined: ${reason}`,
};

export interface InputRoundOptions {
  readonly guard: RequestGuard;
  /** The caller wants to see whatever the server answers, `input_required` and what extensions add, and go on itself. */
  readonly passOn: boolean;
  /** Asked before each further round leaves: throws when it may not. */
  readonly confirm: () => Promise<void> | undefined;
  /** For all rounds together. */
  readonly clock: CallClock;
}

/** Sends the request, and again with the answers as long as the server asks for more, in bounded rounds. */
export async function requestWithInput(
  lane: Lane,
  request: LaneRequest,
  options: InputRoundOptions,
): Promise<LaneResult> {
  const { server } = options.guard;
  let result: LaneResult;
  try {
    result = await lane.request(request);
  } catch (error) {
    throw explainRefusal(error, options.guard);
  }
  for (let round = 0; result.resultType !== undefined && result.resultType !== 'complete'; round += 1) {
    if (result.resultType !== 'input_required') {
      if (options.passOn) return result;
      throw unknownResult(server, result.resultType);
    }
    const questions = readQuestions(server, result.inputRequests);
    if (options.passOn) return passOn(result, questions, options.guard);
    if (round >= MAX_ROUNDS) {
      throw new TurnbuckleError(
        'INPUT_REQUIRED',
        `Server "${server}" still asks for input after ${MAX_ROUNDS} rounds.`,
        { server },
      );
    }
    const answers = answerAll(questions, request, options.guard);
    const waiting = { what: 'an answer to what its server asked', server, begun: true };
    const inputResponses = await options.clock.until(answers, waiting);
    await options.confirm();
    const { requestState } = result;
    const answered = {
      ...request.params,
      inputResponses,
      ...(requestState !== undefined && { requestState }),
    };
    const params = keepSpelling(request.params, answered);
    result = await lane.request({ ...request, params, maxTotalMs: options.clock.timerMs });
  }
  return result;
}

/** A server of the newer revision does not ask a host that did not offer to answer: it refuses with this code. */
const MISSING_CAPABILITY = -32021;

function explainRefusal(error: unknown, guard: RequestGuard): unknown {
  const rpc = error instanceof TurnbuckleError ? error.data?.rpc : undefined;
  if (!isRecord(rpc) || rpc.code !== MISSING_CAPABILITY) return error;
  const { server } = guard;
  const data = isRecord(rpc.data) ? rpc.data : {};
  const wanted = Object.keys(isRecord(data.requiredCapabilities) ? data.requiredCapabilities : {});
  const kind = (['elicitation', 'sampling', 'roots'] as const).find((one) => wanted.includes(one));
  return new TurnbuckleError('INPUT_REQUIRED', `Server "${server}" needs to ask back, and nobody answers.`, {
    server,
    cause: error,
    hint: hintFor(kind, guard),
    data: { rpc },
  });
}

interface Question {
  readonly key: string;
  readonly method: string;
  readonly kind: RequestKind | undefined;
  readonly params: Readonly<Record<string, unknown>>;
}

function readQuestions(server: string, requests: unknown): Question[] {
  const entries = Object.entries(isRecord(requests) ? requests : {});
  if (entries.length > MAX_REQUESTS_A_ROUND)
    throw unknownResult(server, `input_required with ${entries.length} requests`);
  return entries.map(([key, entry]) => {
    const method = isRecord(entry) && typeof entry.method === 'string' ? entry.method : '';
    return {
      key,
      method,
      kind: kindOf(method),
      params: paramsOf(isRecord(entry) ? entry.params : undefined),
    };
  });
}

/** What a caller gets to answer itself has passed the same checks. */
function passOn(result: LaneResult, questions: readonly Question[], guard: RequestGuard): LaneResult {
  for (const { kind, method, params } of questions) {
    if (kind === undefined) throw unanswered(guard, { kind, method });
    const reason = guard.pass(kind, params);
    if (reason !== undefined) throw refused(guard.server, kind, reason);
  }
  return result;
}

async function answerAll(
  questions: readonly Question[],
  { signal, respondent }: Pick<LaneRequest, 'signal' | 'respondent'>,
  guard: RequestGuard,
): Promise<Record<string, unknown>> {
  const responses: [string, unknown][] = [];
  for (const { key, method, kind, params } of questions) {
    if (kind === undefined) throw unanswered(guard, { kind, method });
    const outcome = await guard.answer(kind, params, { signal, respondent, id: key });
    if (outcome.outcome === 'not-offered') throw unanswered(guard, { kind, method });
    if (signal?.aborted) throw new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled.');
    // This revision has no way to answer with an error; a form at least can be declined.
    const isDeclined = kind === 'elicitation' && outcome.outcome !== 'failed';
    const response = outcome.result ?? (isDeclined ? DECLINED : undefined);
    if (response === undefined)
      throw refused(guard.server, kind, outcome.result === undefined ? outcome.reason : '');
    responses.push([key, response]);
  }
  return Object.fromEntries(responses);
}

function refused(server: string, kind: RequestKind, reason: string): TurnbuckleError {
  return new TurnbuckleError(
    'INPUT_REQUIRED',
    `Server "${server}" asked for ${kind} and got none: ${reason}.`,
    {
      server,
      hint: 'The event server.asked tells every question of a server and how it ended.',
      data: { kind },
    },
  );
}

function unanswered(
  guard: RequestGuard,
  { kind, method }: Pick<Question, 'kind' | 'method'>,
): TurnbuckleError {
  const { server } = guard;
  return new TurnbuckleError(
    'INPUT_REQUIRED',
    `Server "${server}" asks for ${kind ?? JSON.stringify(method.slice(0, 80))}, and nobody answers.`,
    {
      server,
      hint: kind === undefined ? 'This kind of request is not known here.' : hintFor(kind, guard),
      data: { method },
    },
  );
}

function hintFor(kind: RequestKind | undefined, guard: RequestGuard): string {
  if (kind !== undefined && guard.forbids(kind))
    return `Add "${kind}" to mayAsk in the configuration of "${guard.server}", if you want it to ask.`;
  const what = kind === undefined ? 'the handlers it asks for' : `a handlers.${kind} function`;
  return `Give createRuntime ${what}, or call with inputRequired: 'return' and go on yourself.`;
}

function unknownResult(server: string, type: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'PROTOCOL_VIOLATION',
    `Server "${server}" answered with a result of unknown type "${String(type).slice(0, 80)}".`,
    { server },
  );
}
