/** One request to a registry: retried if the registry is busy or fails for a moment, within a budget. */
import { TurnbuckleError } from 'turnbuckle';
import { backoffDelay, type GuardedFetch, parseRetryAfter } from 'turnbuckle/host';
import { parseRegistryJson } from './record-list.js';

export interface RequestTools {
  readonly fetch: GuardedFetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** What all requests of one refresh may spend on retries together. */
export interface RetryBudget {
  retries: number;
  waitMs: number;
}

export interface RegistryRequest {
  readonly url: URL;
  readonly budget: RetryBudget;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Any content type: a copy is often served as text. */
  readonly isCopy?: boolean;
}

export interface RegistryAnswer {
  readonly status: number;
  /** Of a successful answer. */
  readonly value?: unknown;
  /** The length of its text. */
  readonly length: number;
  readonly etag?: string;
}

const TRIES_PER_REQUEST = 3;
const BACKOFF = {
  initialMs: 500,
  factor: 2,
  maxMs: 8_000,
  tries: TRIES_PER_REQUEST,
  probeMs: 0,
  jitter: 0.2,
};
/** A registry that wants a longer pause is not waited for. */
const MAX_WAIT_MS = 20_000;
const MAX_ETAG_LENGTH = 256;

export const newBudget = (): RetryBudget => ({ retries: 12, waitMs: 60_000 });

/**
 * The answer, if its status is below 500 and not 429: the caller knows what a missing server means. Throws
 * CONNECT_FAILED, RATE_LIMITED, SERVER_ERROR, PROTOCOL_VIOLATION, FETCH_REFUSED, or the reason of the signal.
 */
export async function requestJson(request: RegistryRequest, tools: RequestTools): Promise<RegistryAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await attemptOnce(request, tools);
    if ('answer' in outcome) return outcome.answer;
    const delayMs = nextDelay(outcome, { attempt, request, tools });
    if (delayMs === undefined) throw outcome.failure;
    await tools.wait(delayMs, request.signal);
  }
}

interface Failed {
  readonly failure: TurnbuckleError;
  readonly retryAfterMs?: number | undefined;
}

async function attemptOnce(
  request: RegistryRequest,
  { fetch, now }: RequestTools,
): Promise<{ readonly answer: RegistryAnswer } | Failed> {
  const { url, signal, headers, isCopy } = request;
  let response: Response;
  try {
    response = await fetch(url, {
      headers: { ...headers },
      ...(isCopy !== true && { accept: ['application/json', 'application/problem+json'] }),
      ...(signal !== undefined && { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true || error instanceof TurnbuckleError) throw error;
    return { failure: unreachable(url, error) };
  }
  const { status } = response;
  if (status === 429 || status === 408 || status >= 500) {
    const retryAfterMs = parseRetryAfter(response.headers.get('retry-after') ?? undefined, now());
    return { failure: failedWith(url, status, retryAfterMs), retryAfterMs };
  }
  const text = await response.text();
  const etag = response.headers.get('etag') ?? '';
  return {
    answer: {
      status,
      length: text.length,
      ...(status === 200 && { value: await parsed(url, text) }),
      ...(etag !== '' && etag.length <= MAX_ETAG_LENGTH && { etag }),
    },
  };
}

/** The pause before the next attempt; undefined if there is none. */
function nextDelay(
  { failure, retryAfterMs }: Failed,
  { attempt, request, tools }: { attempt: number; request: RegistryRequest; tools: RequestTools },
): number | undefined {
  const { budget } = request;
  const backoffMs = backoffDelay(BACKOFF, attempt, tools.random);
  if (!failure.retryable && failure.code !== 'SERVER_ERROR') return undefined;
  if (backoffMs === undefined || budget.retries <= 0) return undefined;
  const delayMs = Math.max(backoffMs, retryAfterMs ?? 0);
  if (delayMs > MAX_WAIT_MS || delayMs > budget.waitMs) return undefined;
  budget.retries -= 1;
  budget.waitMs -= delayMs;
  return delayMs;
}

async function parsed(url: URL, text: string): Promise<unknown> {
  try {
    return await parseRegistryJson(text);
  } catch (cause) {
    throw malformed(url, 'is not JSON', cause);
  }
}

/** The registry answered something else than its API describes. */
export function malformed(url: URL, what: string, cause?: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'PROTOCOL_VIOLATION',
    `The response from the registry at ${shown(url)} ${what}.`,
    {
      hint: 'Check that the configured URL points to an MCP registry (API v0.1), or to a registry copy whose URL ends in .json.',
      cause,
      data: { url: shown(url) },
    },
  );
}

/** For a status that no retry can change. */
export function unexpectedStatus(url: URL, status: number): TurnbuckleError {
  return new TurnbuckleError('SERVER_ERROR', `The registry at ${shown(url)} responded with HTTP ${status}.`, {
    hint: 'Check that the configured URL points to an MCP registry (API v0.1) that does not require sign-in.',
    data: { url: shown(url), status },
  });
}

function failedWith(url: URL, status: number, retryAfterMs: number | undefined): TurnbuckleError {
  const isBusy = status === 429 || status === 503;
  return new TurnbuckleError(
    isBusy ? 'RATE_LIMITED' : 'SERVER_ERROR',
    `The registry at ${shown(url)} ${isBusy ? 'is limiting requests' : 'failed'} (HTTP ${status}).`,
    {
      hint:
        retryAfterMs === undefined
          ? 'Try again later.'
          : `Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
      data: { url: shown(url), status, retryAfterMs },
    },
  );
}

function unreachable(url: URL, cause: unknown): TurnbuckleError {
  return new TurnbuckleError('CONNECT_FAILED', `The registry at ${shown(url)} could not be reached.`, {
    hint: 'Check the network and the configured registry URL, or configure a copy of the registry in a file.',
    cause,
    data: { address: shown(url) },
  });
}

/** Without the query, which is long and says nothing about the place. */
const shown = ({ origin, pathname }: URL): string => `${origin}${pathname}`.slice(0, 300);
