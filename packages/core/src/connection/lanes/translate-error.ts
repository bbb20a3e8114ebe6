/**
 * The one place where foreign errors (SDK, sockets, DNS, TLS) become TurnbuckleErrors: by class, code,
 * status and errno, never by their text.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { authRequired, refusal } from './http-refusal.js';
import { loadSdk } from './sdk.js';
import { connectionLost, serverError } from './server-error.js';

export interface Circumstances {
  readonly server: string;
  readonly step: 'connect' | 'call';
  readonly cancelled?: boolean;
  readonly timeoutMs?: number;
  /** Where a remote server is: its origin, for whoever may see that. */
  readonly address?: string | undefined;
  /** An older HTTP server keeps a session, and may have forgotten it. */
  readonly hasSession?: boolean;
}

export async function translate(thrown: unknown, where: Circumstances): Promise<TurnbuckleError> {
  const { server } = where;
  const own = causes(thrown).find((cause) => cause instanceof TurnbuckleError);
  if (own !== undefined) return own;
  const sdk = await loadSdk();
  if (where.cancelled)
    return new TurnbuckleError('CALL_CANCELLED', `The call to server "${server}" was cancelled.`, {
      server,
      cause: thrown,
    });
  const chain = causes(thrown);
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
  where: Circumstances,
): ((cause: unknown) => TurnbuckleError) | undefined {
  const { server, step } = where;
  if (code === codes.RequestTimeout) return (cause) => timedOut(where, cause);
  if (code === codes.ConnectionClosed || code === codes.NotConnected) {
    return (cause) =>
      connectionLost(server, { sent: step === 'call' && code === codes.ConnectionClosed, cause });
  }
  if (code === codes.InvalidResult || code === codes.UnsupportedResultType) {
    return (cause) =>
      new TurnbuckleError(
        'PROTOCOL_VIOLATION',
        `Server "${server}" answered in a form that its protocol revision does not know.`,
        { server, cause },
      );
  }
  return undefined;
}

/** No answer, or no handshake, in time. */
export function timedOut({ server, step, timeoutMs }: Circumstances, cause: unknown): TurnbuckleError {
  const limit = timeoutMs === undefined ? '' : ` within ${timeoutMs} ms`;
  if (step === 'call')
    return new TurnbuckleError('CALL_TIMEOUT', `Server "${server}" did not answer${limit}.`, {
      server,
      cause,
    });
  return new TurnbuckleError(
    'CONNECT_TIMEOUT',
    `Server "${server}" did not complete the handshake${limit}.`,
    {
      server,
      cause,
      hint: `Raise connectTimeoutMs if it needs longer to start, or look at what it writes: turnbuckle logs ${server}`,
    },
  );
}

function fromStatus(
  thrown: Error & { readonly data?: unknown; readonly status?: unknown },
  where: Circumstances,
): TurnbuckleError {
  const { server, step, address } = where;
  const status = typeof thrown.status === 'number' ? thrown.status : 0;
  if (status === 401 || status === 403) return authRequired(server, status);
  if (step === 'call') {
    const text = isRecord(thrown.data) && typeof thrown.data.text === 'string' ? thrown.data.text : '';
    return refusal({
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
    `Server "${server}" refused the handshake with HTTP ${status}.`,
    {
      server,
      cause: thrown,
      hint: `Check that its address is an MCP endpoint: turnbuckle config ${server}`,
      data: { status, address },
    },
  );
}

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name could not be looked up',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  ETIMEDOUT: 'it did not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer',
  UND_ERR_SOCKET: 'it closed the connection',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

function fromErrno(thrown: unknown, { server, step, address }: Circumstances): TurnbuckleError {
  const codes = causes(thrown).flatMap((cause) =>
    cause instanceof Error && 'code' in cause ? [String(cause.code)] : [],
  );
  const reason = codes.map((code) => UNREACHABLE[code]).find((text) => text !== undefined);
  if (step === 'call')
    return connectionLost(server, { sent: reason !== UNREACHABLE.ECONNREFUSED, cause: thrown });
  const why = reason ?? (thrown instanceof Error ? 'the handshake failed' : String(thrown));
  return new TurnbuckleError('CONNECT_FAILED', `Server "${server}" could not be reached: ${why}.`, {
    server,
    cause: thrown,
    hint: `Check that it is running and that its address is right: turnbuckle config ${server}`,
    data: { address },
  });
}

/** The error and what it was caused by, outermost first; bounded, for a chain may be a ring. */
function causes(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let next: unknown = thrown; next instanceof Error && chain.length < 8; next = next.cause)
    chain.push(next);
  return chain;
}
