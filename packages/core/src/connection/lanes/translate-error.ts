/**
 * The only place where foreign errors (SDK, sockets, DNS, TLS) become TurnbuckleErrors: by class, code, status and
 * errno, never by their text.
 */
import { SERVER_BUG_HINT, TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { shellQuote } from '../../text/shell-quote.js';
import { loadSdk } from '../handshake/load-sdk.js';
import { authRequired, fromHttpError } from '../transports/http/http-error.js';
import { CALL_TIMEOUT_HINT, connectionLost, serverError } from './server-error.js';

export interface ErrorContext {
  readonly server: string;
  readonly step: 'connect' | 'call';
  readonly cancelled?: boolean;
  readonly timeoutMs?: number;
  /** The origin of a remote server, for those who may see it. */
  readonly address?: string | undefined;
  /** An older HTTP server keeps a session, and may have lost it. */
  readonly hasSession?: boolean;
}

export async function translateError(thrown: unknown, where: ErrorContext): Promise<TurnbuckleError> {
  const { server } = where;
  const own = causeChain(thrown).find((cause) => cause instanceof TurnbuckleError);
  if (own !== undefined) return own;
  const sdk = await loadSdk();
  if (where.cancelled)
    return new TurnbuckleError('CALL_CANCELLED', `The call to server "${server}" was cancelled.`, {
      server,
      cause: thrown,
    });
  const chain = causeChain(thrown);
  if (chain.some((cause) => cause instanceof sdk.UnauthorizedError)) return authRequired(server, 401);
  if (chain.some((cause) => cause instanceof sdk.InsufficientScopeError)) return authRequired(server, 403);
  if (thrown instanceof sdk.SdkHttpError) return fromStatus(thrown, where);
  if (thrown instanceof sdk.ProtocolError) return serverError(server, thrown);
  if (thrown instanceof sdk.SdkError) {
    const known = fromSdkCode(thrown.code, sdk.SdkErrorCode, where);
    if (known !== undefined) return known(thrown);
  }
  return fromErrno(thrown, where);
}

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

function fromSdkCode(
  code: string,
  codes: Sdk['SdkErrorCode'],
  where: ErrorContext,
): ((cause: unknown) => TurnbuckleError) | undefined {
  const { server, step } = where;
  if (code === codes.RequestTimeout) return (cause) => timeoutError(where, cause);
  if (code === codes.ConnectionClosed || code === codes.NotConnected) {
    return (cause) =>
      connectionLost(server, { sent: step === 'call' && code === codes.ConnectionClosed, cause });
  }
  if (code === codes.InvalidResult || code === codes.UnsupportedResultType) {
    return (cause) =>
      new TurnbuckleError(
        'PROTOCOL_VIOLATION',
        `Server "${server}" sent a response that violates the MCP protocol revision in use.`,
        { server, cause, hint: SERVER_BUG_HINT },
      );
  }
  return undefined;
}

/** No response, or no handshake, in time. */
export function timeoutError({ server, step, timeoutMs }: ErrorContext, cause: unknown): TurnbuckleError {
  const limit = timeoutMs === undefined ? '' : ` within ${timeoutMs} ms`;
  if (step === 'call')
    return new TurnbuckleError('CALL_TIMEOUT', `Server "${server}" did not respond${limit}.`, {
      server,
      cause,
      hint: CALL_TIMEOUT_HINT,
    });
  return new TurnbuckleError(
    'CONNECT_TIMEOUT',
    `Server "${server}" did not complete the handshake${limit}.`,
    {
      server,
      cause,
      hint: `Increase connectTimeoutMs if the server needs longer to start, or check the server's output: turnbuckle logs ${shellQuote(server)}`,
    },
  );
}

function fromStatus(
  thrown: Error & { readonly data?: unknown; readonly status?: unknown },
  where: ErrorContext,
): TurnbuckleError {
  const { server, step, address } = where;
  const status = typeof thrown.status === 'number' ? thrown.status : 0;
  if (status === 401 || status === 403) return authRequired(server, status);
  if (step === 'call') {
    const text = isRecord(thrown.data) && typeof thrown.data.text === 'string' ? thrown.data.text : '';
    return fromHttpError({
      server,
      status,
      headers: {},
      text,
      hasSession: where.hasSession ?? false,
      requestId: -1,
    }).error;
  }
  return new TurnbuckleError(
    'CONNECT_FAILED',
    `Server "${server}" rejected the handshake (HTTP ${status}).`,
    {
      server,
      cause: thrown,
      hint: `Check that the server's address is an MCP endpoint: turnbuckle config ${shellQuote(server)}`,
      data: { status, address },
    },
  );
}

const UNREACHABLE_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection',
  ENOTFOUND: 'its host name does not exist',
  EAI_AGAIN: 'its host name could not be resolved',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  ETIMEDOUT: 'it did not respond',
  UND_ERR_CONNECT_TIMEOUT: 'it did not respond',
  UND_ERR_SOCKET: 'it closed the connection',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for a different host',
};

function fromErrno(thrown: unknown, { server, step, address }: ErrorContext): TurnbuckleError {
  const codes = causeChain(thrown).flatMap((cause) =>
    cause instanceof Error && 'code' in cause ? [String(cause.code)] : [],
  );
  const reason = codes.map((code) => UNREACHABLE_REASONS[code]).find((text) => text !== undefined);
  if (step === 'call')
    return connectionLost(server, { sent: reason !== UNREACHABLE_REASONS.ECONNREFUSED, cause: thrown });
  const why =
    reason ?? (thrown instanceof Error ? 'the handshake failed' : `the handshake failed (${String(thrown)})`);
  return new TurnbuckleError('CONNECT_FAILED', `Cannot reach server "${server}" because ${why}.`, {
    server,
    cause: thrown,
    hint: `Check that the server is running and that its address is correct: turnbuckle config ${shellQuote(server)}`,
    data: { address },
  });
}

/** The error and its causes, outermost first; bounded, because the chain may be a cycle. */
function causeChain(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let next: unknown = thrown; next instanceof Error && chain.length < 8; next = next.cause)
    chain.push(next);
  return chain;
}
