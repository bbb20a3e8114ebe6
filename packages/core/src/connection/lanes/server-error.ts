/** Failures of the wire as TurnbuckleErrors, made in one place so that both lanes say the same. */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { hasMoreParts } from '../json/write-large.js';

const MAX_FOREIGN_TEXT = 500;
const MOST_MESSAGE = 64 * 1_024;
const MOST_DATA = 256 * 1_024;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** It sent so much unasked, for so long, that it was stopped. */
export function flooded(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'SERVER_FLOODED',
    `Server "${server}" was stopped: it sent far more than anybody asked for, and did not end when it was made to wait.`,
    {
      server,
      hint: 'Look at what it sends (its stderr, its notifications). Its next call starts it again; limits.unaskedBytesPerSecond and limits.maxFloodMs say how much is too much.',
    },
  );
}

/** The server's own JSON-RPC error; the whole of it is in `data.rpc`, but for what is far too long. */
export function serverError(server: string, rpc: RpcError): TurnbuckleError {
  const own = ownFailure(rpc);
  if (own !== undefined) return own;
  const text = String(rpc.message).slice(0, MAX_FOREIGN_TEXT);
  return new TurnbuckleError('SERVER_ERROR', `Server "${server}" answered with error ${rpc.code}: ${text}`, {
    server,
    data: { rpc: bounded(rpc) },
  });
}

/** The failure of ours that an error answer stands for. */
export const ownFailure = ({ data }: RpcError): TurnbuckleError | undefined =>
  isRecord(data) ? OWN.get(data) : undefined;

/** Errors are searched for secrets: a server must not be able to hold up everybody with one. */
function bounded(rpc: RpcError): RpcError {
  const message = String(rpc.message);
  const isLarge =
    hasMoreParts(rpc.data, MOST_DATA / 16) || (JSON.stringify(rpc.data)?.length ?? 0) > MOST_DATA;
  if (message.length <= MOST_MESSAGE && !isLarge) return rpc;
  return {
    code: rpc.code,
    message: message.slice(0, MOST_MESSAGE),
    ...(!isLarge && rpc.data !== undefined && { data: rpc.data }),
  };
}

/** The connection broke. `sent`: the request may have reached the server, so that it may have happened. */
export function connectionLost(
  server: string,
  facts: { sent: boolean; cause?: unknown; detail?: string },
): TurnbuckleError {
  const when = facts.sent ? 'before it answered' : 'before the request was sent';
  return new TurnbuckleError(
    'CONNECTION_LOST',
    `The connection to server "${server}" was lost ${when}${facts.detail === undefined ? '' : ` (${facts.detail})`}.`,
    { server, cause: facts.cause, data: { sent: facts.sent } },
  );
}

/** A message of the server's that we failed to handle. */
export function messageDefect(server: string, cause: unknown): TurnbuckleError {
  const text = cause instanceof Error ? cause.message : typeof cause;
  return new TurnbuckleError('INTERNAL', `A message of server "${server}" could not be handled: ${text}`, {
    server,
    cause,
    hint: 'This is a defect. Please report it with the cause of this error. The connection is made anew.',
  });
}

/** True when the request certainly did not reach the tool, so that repeating it does no harm. */
export function wasNotSent(error: TurnbuckleError): boolean {
  return error.data?.sent === false;
}

/** Failures of ours on their way through the SDK, which only knows answers. */
const OWN = new WeakMap<object, TurnbuckleError>();

/** An error answer that stands for a failure of ours, for a request that the SDK made. */
export function toAnswer(error: TurnbuckleError): RpcError {
  const data = {};
  OWN.set(data, error);
  return { code: -32603, message: error.message, data };
}
