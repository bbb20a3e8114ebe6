/**
 * One remote endpoint and its socket pool. It has no time limits for responses (a tool may take an hour; the call's
 * clock decides), but limits on size. The SDK uses `fetch`, the express lane `dispatch`.
 */
import type { FetchLike, JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Dispatcher, Pool } from 'undici';
import type { Authorizer, Credentials, OutgoingRequest } from '../../../auth/authorizer.js';
import { TurnbuckleError } from '../../../errors.js';
import { withDeferredSocketEnd } from '../../../fetching/defer-socket-end.js';
import type { LargeMessages } from '../../handshake/large-messages.js';
import type { FloodMeter } from '../../protocol/flood-meter.js';
import type { UnsentLimits } from '../outbox.js';
import { crossOriginRedirect, rateLimited } from './http-error.js';
import { limitBody } from './limited-body.js';
import { PendingPosts } from './pending-posts.js';
import { WireMeter } from './wire-meter.js';

export interface EndpointOptions {
  readonly server: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  readonly maxBytes: number;
  /** Adds credentials to requests. */
  readonly authorizer?: Authorizer | undefined;
  /** Measures what comes on streams. */
  readonly flood: FloodMeter;
  readonly unsent: UnsentLimits;
  /** A body exceeded the limit and was cut off. */
  readonly onTooLarge?: ((bytes: number) => void) | undefined;
  /** For large messages that come through `fetch`. */
  readonly largeMessages?: LargeMessages | undefined;
}

/** No more of an error response is read. */
export const MAX_ERROR_BODY_BYTES = 64 * 1_024;

export class HttpEndpoint {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly authorizer: Authorizer | undefined;
  readonly flood: FloodMeter;
  readonly wire: WireMeter;
  readonly #sockets: Sockets;
  readonly #posts: PendingPosts;
  readonly #fetch: FetchLike;
  readonly #authErrors: { last?: unknown };

  private constructor(
    options: EndpointOptions,
    sockets: Sockets,
    { fetch, refusals, wire }: { fetch: FetchLike; refusals: { last?: unknown }; wire: WireMeter },
  ) {
    this.#authErrors = refusals;
    this.url = new URL(options.url);
    // In lower case, so that a credential replaces a header of the same name.
    this.headers = Object.fromEntries(
      Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    this.authorizer = options.authorizer;
    this.flood = options.flood;
    this.#sockets = sockets;
    this.wire = wire;
    this.#posts = new PendingPosts(options);
    this.#fetch = this.#posts.limitFetch(fetch);
  }

  /** Loads the HTTP client on first use: a runtime with only local servers does not pay for it. */
  static async open(options: EndpointOptions): Promise<HttpEndpoint> {
    // The default export: a bundle of the library has no named exports of a CommonJS package.
    const { default: undici } = await import('undici');
    const connector = undici.buildConnector({ timeout: options.connectTimeoutMs });
    const wire = new WireMeter(options.flood);
    const connect = withDeferredSocketEnd(connector, wire);
    const open = (): Pool =>
      new undici.Pool(new URL(options.url).origin, {
        connections: 256,
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
        connect,
      });
    const sockets: Sockets = { open, pool: open(), retired: new Set() };
    const { origin } = new URL(options.url);
    // The SDK expects a standard fetch; undici's types differ from the platform's in name only.
    const raw = undici.fetch as unknown as (url: string | URL, init: unknown) => Promise<Response>;
    const agent = new undici.Agent({
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: withDeferredSocketEnd(connector),
    });
    const refusals: { last?: unknown } = {};
    const fetch: FetchLike = async (url, init) => {
      const inside = new URL(url).origin === origin;
      const send = (credentials: Readonly<Record<string, string>>): Promise<Response> => {
        const headers = new Headers(init?.headers);
        for (const [name, value] of Object.entries(credentials)) headers.set(name, value);
        return raw(url, { ...init, headers, dispatcher: inside ? sockets.pool : agent });
      };
      // Credentials never leave the origin they were configured for.
      const response = await (inside && options.authorizer !== undefined
        ? sendAuthorized(options.authorizer, {
            url: new URL(url),
            method: init?.method ?? 'GET',
            send,
          }).catch((error: unknown) => {
            refusals.last = error instanceof TurnbuckleError ? error : undefined;
            throw error;
          })
        : send({}));
      return checkResponse(response, options, {
        url: new URL(url),
        wire: inside ? wire : undefined,
        method: init?.method,
      });
    };
    return new HttpEndpoint(options, sockets, { fetch, refusals, wire });
  }

  /** Why a request was last not sent for lack of a credential: the SDK's event source does not pass it on. */
  get lastAuthError(): unknown {
    return this.#authErrors.last;
  }

  get fetch(): FetchLike {
    return this.#fetch;
  }

  dispatch(
    request: {
      path: string;
      method: 'POST' | 'GET' | 'DELETE';
      headers: Record<string, string>;
      body?: string;
    },
    sink: Dispatcher.DispatchHandler,
  ): void {
    this.#sockets.pool.dispatch(request, sink);
  }

  /** A message arrived: if it is a response, nothing more is expected of the request that it answers. */
  received(message: JSONRPCMessage): void {
    if (!('method' in message)) this.#posts.answered(message.id);
  }

  async close(): Promise<void> {
    const { pool, retired } = this.#sockets;
    await Promise.all([pool, ...retired].map((each) => each.destroy()));
  }

  /**
   * A response arrived that was not for its request: the socket cannot be trusted any more. Other requests finish
   * normally.
   */
  replacePool(): void {
    const { pool, open, retired } = this.#sockets;
    this.#sockets.pool = open();
    retired.add(pool);
    pool
      .close()
      .catch(() => {})
      .finally(() => retired.delete(pool));
  }
}

/** The sockets to the endpoint, and how to replace them. */
interface Sockets {
  pool: Pool;
  readonly open: () => Pool;
  /** Replaced ones, until their last request is over. */
  readonly retired: Set<Pool>;
}

interface AuthorizedRequest extends OutgoingRequest {
  readonly send: (credentials: Credentials) => Promise<Response>;
}

/** Sends the request with credentials, and again with better ones as long as that makes sense. */
async function sendAuthorized(authorizer: Authorizer, request: AuthorizedRequest): Promise<Response> {
  for (let retries = 0; ; retries += 1) {
    const credentials = await authorizer.headers(request);
    const response = await request.send(credentials);
    authorizer.observe?.(request.url, (name) => response.headers.get(name) ?? undefined);
    const { status } = response;
    if (status !== 401 && status !== 403) return response;
    const challenge = response.headers.get('www-authenticate') ?? undefined;
    if (!(await authorizer.handleRefusal({ status, challenge, credentials, retries }))) return response;
    await response.body?.cancel();
  }
}

/** The SDK drops the retry-after header. */
function retryLaterError(server: string, { status, headers }: Response): TurnbuckleError | undefined {
  if (status !== 429 && status !== 503) return undefined;
  return rateLimited(server, status, headers.get('retry-after') ?? undefined);
}

export function responseTooLarge(options: {
  readonly server: string;
  readonly maxBytes: number;
}): TurnbuckleError {
  return new TurnbuckleError(
    'RESPONSE_TOO_LARGE',
    `Server "${options.server}" sent more than ${options.maxBytes} bytes in one message.`,
    {
      server: options.server,
      hint: 'Request less data from the tool (a page, a range), or increase limits.maxMessageBytes.',
    },
  );
}

/** Rejects redirects to other origins and requests to try again later. Limits the body. */
function checkResponse(
  response: Response,
  options: EndpointOptions,
  {
    url,
    wire,
    method,
  }: { readonly url: URL; readonly wire: WireMeter | undefined; readonly method: string | undefined },
): Response {
  wire?.response();
  const location = response.headers.get('location');
  const elsewhere = crossOriginRedirect(options.server, response.status, { url, location });
  if (wire !== undefined && elsewhere !== undefined) throw elsewhere;
  const refused = method === 'POST' ? retryLaterError(options.server, response) : undefined;
  if (refused !== undefined) throw refused;
  if (!response.ok)
    return limitBody(response, {
      maxBytes: MAX_ERROR_BODY_BYTES,
      wire,
      onExceeded: () => responseTooLarge(options),
    });
  return limitBody(response, {
    maxBytes: options.maxBytes,
    flood: options.flood,
    wire,
    largeMessages: options.largeMessages,
    onExceeded: () => {
      options.onTooLarge?.(options.maxBytes);
      return responseTooLarge(options);
    },
  });
}
