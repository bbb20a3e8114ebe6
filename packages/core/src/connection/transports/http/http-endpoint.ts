/**
 * One remote endpoint and the socket pool to it. Has no time limits of its own on answers (a tool may take
 * an hour; the call's clock decides), but limits on size. The SDK gets `fetch`, the express lane `dispatch`.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import type { Dispatcher, Pool } from 'undici';
import type { Authorizer, Credentials, OutgoingRequest } from '../auth/authorizer.js';
import { TurnbuckleError } from '../errors.js';
import { withPatientSockets } from '../fetching/patient-socket.js';
import type { FloodMeter } from './flood-meter.js';
import { rateLimited, redirectedAway } from './http-refusal.js';
import { limitBody } from './limited-body.js';
import type { UnsentLimits } from './outbox.js';
import { Posts } from './posts.js';
import type { StandIns } from './stand-ins.js';

export interface EndpointOptions {
  readonly server: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  readonly maxBytes: number;
  /** Presents who asks. */
  readonly authorizer?: Authorizer | undefined;
  /** Weighs what comes on streams. */
  readonly flood: FloodMeter;
  readonly unsent: UnsentLimits;
  /** A body went over the limit and was cut off. */
  readonly onTooLarge?: ((bytes: number) => void) | undefined;
  /** For large messages that come by `fetch`. */
  readonly standIns?: StandIns | undefined;
}

/** Nobody reads more of a refusal. */
export const REFUSAL_BYTES = 64 * 1_024;

export class HttpEndpoint {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly authorizer: Authorizer | undefined;
  readonly flood: FloodMeter;
  readonly #sockets: Sockets;
  readonly #fetch: FetchLike;
  readonly #refusals: { last?: unknown };

  private constructor(
    options: EndpointOptions,
    sockets: Sockets,
    { fetch, refusals }: { fetch: FetchLike; refusals: { last?: unknown } },
  ) {
    this.#refusals = refusals;
    this.url = new URL(options.url);
    // In one spelling, so that a credential takes the place of a header with its name.
    this.headers = Object.fromEntries(
      Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    this.authorizer = options.authorizer;
    this.flood = options.flood;
    this.#sockets = sockets;
    this.#fetch = fetch;
  }

  /** Loads the HTTP client on first use: a runtime with local servers only never pays for it. */
  static async open(options: EndpointOptions): Promise<HttpEndpoint> {
    // The default export: a bundle of the library has no other names of a CommonJS package.
    const { default: undici } = await import('undici');
    const connect = withPatientSockets(undici.buildConnector({ timeout: options.connectTimeoutMs }));
    const open = (): Pool =>
      new undici.Pool(new URL(options.url).origin, {
        connections: 256,
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
        connect,
      });
    const sockets: Sockets = { open, pool: open() };
    const { origin } = new URL(options.url);
    // The SDK is given a standard fetch; undici's own types differ from the platform's in name only.
    const raw = undici.fetch as unknown as (url: string | URL, init: unknown) => Promise<Response>;
    const agent = new undici.Agent({ headersTimeout: 0, bodyTimeout: 0, connect });
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
      const elsewhere = redirectedAway(options.server, response.status, {
        url: new URL(url),
        location: response.headers.get('location'),
      });
      if (inside && elsewhere !== undefined) throw elsewhere;
      const refused = init?.method === 'POST' ? tryLater(options.server, response) : undefined;
      if (refused !== undefined) throw refused;
      if (!response.ok)
        return limitBody(response, { maxBytes: REFUSAL_BYTES, onExceeded: () => tooLarge(options) });
      return limitBody(response, {
        maxBytes: options.maxBytes,
        flood: options.flood,
        standIns: options.standIns,
        onExceeded: () => {
          options.onTooLarge?.(options.maxBytes);
          return tooLarge(options);
        },
      });
    };
    return new HttpEndpoint(options, sockets, { fetch: new Posts(options).counted(fetch), refusals });
  }

  /** Why a request was last not made for want of a credential: the SDK's event source does not pass it on. */
  get refusal(): unknown {
    return this.#refusals.last;
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

  async close(): Promise<void> {
    await this.#sockets.pool.destroy();
  }

  /** An answer came that was not for its request: who knows what comes next on that socket. Others end in peace. */
  renew(): void {
    const { pool, open } = this.#sockets;
    this.#sockets.pool = open();
    pool.close().catch(() => {});
  }
}

/** The sockets to the endpoint, and how to get others. */
interface Sockets {
  pool: Pool;
  readonly open: () => Pool;
}

interface AuthorizedRequest extends OutgoingRequest {
  readonly send: (credentials: Credentials) => Promise<Response>;
}

/** The request with credentials, and again with better ones as long as that makes sense. */
async function sendAuthorized(authorizer: Authorizer, request: AuthorizedRequest): Promise<Response> {
  for (let round = 0; ; round += 1) {
    const credentials = await authorizer.headers(request);
    const response = await request.send(credentials);
    authorizer.observe?.(request.url, (name) => response.headers.get(name) ?? undefined);
    const { status } = response;
    if (status !== 401 && status !== 403) return response;
    const challenge = response.headers.get('www-authenticate') ?? undefined;
    if (!(await authorizer.refused({ status, challenge, credentials, round }))) return response;
    await response.body?.cancel();
  }
}

/** The SDK drops the header that says when to come back. */
function tryLater(server: string, { status, headers }: Response): TurnbuckleError | undefined {
  if (status !== 429 && status !== 503) return undefined;
  return rateLimited(server, status, headers.get('retry-after') ?? undefined);
}

export function tooLarge(options: { readonly server: string; readonly maxBytes: number }): TurnbuckleError {
  return new TurnbuckleError(
    'RESPONSE_TOO_LARGE',
    `Server "${options.server}" sent more than ${options.maxBytes} bytes in one message.`,
    {
      server: options.server,
      hint: 'Ask the tool for less (a page, a range), or raise limits.maxMessageBytes.',
    },
  );
}
