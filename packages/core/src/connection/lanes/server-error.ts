/** Transport failures as TurnbuckleErrors, created in one place so that both lanes report the same. */
import { TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { hasMorePartsThan } from '../../json/write-large.js';

const MAX_MESSAGE_EXCERPT_LENGTH = 500;
const MAX_ERROR_MESSAGE_LENGTH = 64 * 1_024;
const MAX_ERROR_DATA_LENGTH = 256 * 1_024;

export const CALL_TIMEOUT_HINT =
  'Increase callTimeoutMs or maxCallMs for this server if the call needs longer.';

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** It sent too much unrequested data for too long and was stopped. */
export function serverFlooded(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'SERVER_FLOODED',
    `Server "${server}" was stopped because it kept sending far more unrequested data than the limits allow.`,
    {
      server,
      hint: 'Check what the server sends (its stderr, its notifications). The next call starts the server again. The limits are limits.unaskedBytesPerSecond and limits.maxFloodMs.',
    },
  );
}

/** The lane has no number left for another request. */
export const tooManyPending = (server: string): TurnbuckleError =>
  new TurnbuckleError('OVERLOADED', `Too many requests to server "${server}" are pending.`, {
    server,
    hint: 'This request was not sent. Try again when some of the pending requests have finished.',
    data: { sent: false },
  });

/** The server's own JSON-RPC error; `data.rpc` holds all of it, except overlong parts. */
export function serverError(server: string, rpc: RpcError): TurnbuckleError {
  const own = localErrorOf(rpc);
  if (own !== undefined) return own;
  const text = String(rpc.message).slice(0, MAX_MESSAGE_EXCERPT_LENGTH);
  return new TurnbuckleError('SERVER_ERROR', `Server "${server}" returned error ${rpc.code}: ${text}`, {
    server,
    data: { rpc: truncateRpcError(rpc) },
  });
}

/** The local error that an error response represents. */
export const localErrorOf = ({ data }: RpcError): TurnbuckleError | undefined =>
  isRecord(data) ? LOCAL_ERRORS.get(data) : undefined;

/** Errors are searched for secrets: a server must not be able to block the event loop with one. */
function truncateRpcError(rpc: RpcError): RpcError {
  const message = String(rpc.message);
  const isLarge =
    hasMorePartsThan(rpc.data, MAX_ERROR_DATA_LENGTH / 16) ||
    (JSON.stringify(rpc.data)?.length ?? 0) > MAX_ERROR_DATA_LENGTH;
  if (message.length <= MAX_ERROR_MESSAGE_LENGTH && !isLarge) return rpc;
  return {
    code: rpc.code,
    message: message.slice(0, MAX_ERROR_MESSAGE_LENGTH),
    ...(!isLarge && rpc.data !== undefined && { data: rpc.data }),
  };
}

/** The connection broke. `sent`: the request may have reached the server and been executed. */
export function connectionLost(
  server: string,
  facts: { sent: boolean; cause?: unknown; detail?: string },
): TurnbuckleError {
  const when = facts.sent ? 'before the server responded' : 'before the request was sent';
  return new TurnbuckleError(
    'CONNECTION_LOST',
    `The connection to server "${server}" was lost ${when}${facts.detail === undefined ? '' : ` (${facts.detail})`}.`,
    { server, cause: facts.cause, data: { sent: facts.sent } },
  );
}

/** Handling a message of the server failed. */
export function messageHandlingError(server: string, cause: unknown): TurnbuckleError {
  const text = cause instanceof Error ? cause.message : typeof cause;
  return new TurnbuckleError('INTERNAL', `Cannot handle a message from server "${server}": ${text}`, {
    server,
    cause,
    hint: 'This is a bug in Turnbuckle. Please report it and include the cause of this error. The connection will be reopened.',
  });
}

/** True if the request certainly did not reach the tool, so that repeating it is harmless. */
export function wasNotSent(error: TurnbuckleError): boolean {
  return error.data?.sent === false;
}

/** Local errors on their way through the SDK, which knows only responses. */
const LOCAL_ERRORS = new WeakMap<object, TurnbuckleError>();

/** An error response that represents a local error, for a request of the SDK. */
export function toRpcError(error: TurnbuckleError): RpcError {
  const data = {};
  LOCAL_ERRORS.set(data, error);
  return { code: -32603, message: error.message, data };
}
