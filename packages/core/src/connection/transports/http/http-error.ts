/** The meaning of an HTTP status other than 200 for a request, by status and headers alone. */
import { errorCode, SERVER_BUG_HINT, TurnbuckleError } from '../../../errors.js';
import { isRecord } from '../../../json/is-record.js';
import { parseJson } from '../../../json/parse-json.js';
import { shellQuote } from '../../../text/shell-quote.js';
import { connectionLost, type RpcError, serverError } from '../../lanes/server-error.js';

export interface HttpErrorResponse {
  readonly server: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly hasSession: boolean;
  readonly requestId: number;
}

/** The error for the caller, and whether the whole connection is broken. */
export function fromHttpError(facts: HttpErrorResponse): {
  readonly error: TurnbuckleError;
  readonly broken: boolean;
} {
  const { server, status } = facts;
  if (status === 401 || status === 403) return { error: authRequired(server, status), broken: true };
  const rpc = rpcError(facts);
  const forgotten = status === 404 && facts.hasSession && rpc?.answersRequest !== true;
  if (rpc !== undefined && !forgotten) return { error: serverError(server, rpc.error), broken: false };
  if (forgotten) {
    return {
      error: connectionLost(server, { sent: false, detail: 'the server does not know the session' }),
      broken: true,
    };
  }
  if (status === 429 || status === 503)
    return { error: rateLimited(server, status, facts.headers['retry-after']), broken: false };
  if (status >= 500)
    return { error: connectionLost(server, { sent: true, detail: `HTTP ${status}` }), broken: false };
  return {
    error: new TurnbuckleError('SERVER_ERROR', `Server "${server}" rejected the request (HTTP ${status}).`, {
      server,
      data: { status },
      hint: `Check the server's address. If it is correct, ask the server's operator. Show the address: turnbuckle config ${shellQuote(server)}`,
    }),
    broken: false,
  };
}

export function authRequired(server: string, status: number): TurnbuckleError {
  const what = status === 403 ? 'denied access' : 'requires authentication';
  return new TurnbuckleError('AUTH_REQUIRED', `Server "${server}" ${what} (HTTP ${status}).`, {
    server,
    hint: "Configure valid credentials, for example an Authorization header in the server's configuration.",
    data: { status, sent: false },
  });
}

/** Rate-limited; nothing was executed. */
export function rateLimited(
  server: string,
  status: number,
  retryAfter: string | string[] | undefined,
): TurnbuckleError {
  const retryAfterMs = parseRetryAfter(retryAfter, Date.now());
  return new TurnbuckleError('RATE_LIMITED', `Server "${server}" is limiting requests (HTTP ${status}).`, {
    server,
    hint:
      retryAfterMs === undefined ? 'Try again later.' : `Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
    data: { status, sent: false, retryAfterMs },
  });
}

/** Seconds or a date; anything else is ignored. Capped at an hour. */
export function parseRetryAfter(value: string | string[] | undefined, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 3_600_000) : undefined;
}

/** The JSON-RPC error in the body of an error response; some servers omit the request id. */
function rpcError({
  text,
  requestId,
}: HttpErrorResponse): { readonly error: RpcError; readonly answersRequest: boolean } | undefined {
  try {
    const body: unknown = parseJson(text);
    if (!isRecord(body) || !isRecord(body.error) || typeof body.error.code !== 'number') return undefined;
    if (body.id !== undefined && body.id !== null && body.id !== requestId) return undefined;
    const { code, message, data } = body.error;
    return { error: { code, message: String(message ?? ''), data }, answersRequest: body.id === requestId };
  } catch {
    return undefined;
  }
}

/** A redirect to another origin, where neither headers nor credentials may go; undefined for anything else. */
export function crossOriginRedirect(
  server: string,
  status: number,
  { url, location }: { readonly url: URL; readonly location: string | null | undefined },
): TurnbuckleError | undefined {
  if (status < 300 || status >= 400 || location == null || !URL.canParse(location, url.href))
    return undefined;
  const { origin } = new URL(location, url);
  if (origin === url.origin) return undefined;
  return new TurnbuckleError(
    'CONNECT_FAILED',
    `Server "${server}" redirects to a different origin, ${origin.slice(0, 200)} (HTTP ${status}). The redirect was not followed.`,
    {
      server,
      hint: 'No headers or credentials were sent to that origin. If the server has moved, change the address in its configuration.',
      data: { status, origin: origin.slice(0, 200), sent: false },
    },
  );
}

/** The values of a header as one text. */
export const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header;

export function noAnswerError(server: string, detail: string): TurnbuckleError {
  return new TurnbuckleError('PROTOCOL_VIOLATION', `Server "${server}" violated the protocol (${detail}).`, {
    server,
    hint: SERVER_BUG_HINT,
  });
}

/** No connection was made, so nothing was sent. */
export function isConnectFailure(error: Error): boolean {
  const code = errorCode(error) ?? '';
  return [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
  ].includes(code);
}
