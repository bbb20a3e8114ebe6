/**
 * The only way to fetch an address that came from outside: metadata, registries, files. It enforces the rules for
 * scheme, network, redirects, size, time and content type; the caller interprets the response.
 */
import { TurnbuckleError } from '../errors.js';
import { createOriginRule, type OriginRule } from './allowed-origins.js';
import { ACCEPTED_ENCODINGS, readBoundedBody } from './bounded-body.js';
import { Deadline } from './deadline.js';
import { fetchRefused } from './fetch-refused.js';
import { firstHop, type Hop, nextHop } from './hop.js';
import { createNetworkScopeRule, type NetworkScopeOptions } from './network-scope.js';
import { type Dial, pinnedConnector } from './pinned-connect.js';
import { checkTarget, type Lookup, type Target } from './target.js';

export interface GuardedFetchOptions extends NetworkScopeOptions {
  /**
   * Only these origins (scheme, host and port) may be reached, by the first request and by every redirect; absent: any.
   * It opens no internal address: that is `allowedOrigins`.
   */
  readonly origins?: readonly string[] | undefined;
  /** For the body as received and as decompressed; 1 MiB by default. */
  readonly maxBytes?: number | undefined;
  /** In total, including redirects and body; 10 s by default. */
  readonly timeoutMs?: number | undefined;
  /** 3 by default. */
  readonly maxRedirects?: number | undefined;
  /** For tests: resolves a name. */
  readonly lookup?: Lookup | undefined;
  /** For tests: connects to a checked target. */
  readonly dial?: Dial | undefined;
}

export interface GuardedRequest extends RequestInit {
  /** Content types that a successful response may have, for example `application/json`; absent: any. */
  readonly accept?: readonly string[];
}

/** A `fetch` for GET and POST; it resolves when the whole body has arrived. */
export type GuardedFetch = (url: string | URL, init?: GuardedRequest) => Promise<Response>;

interface Settings extends GuardedFetchOptions {
  readonly maxBytes: number;
  readonly maxRedirects: number;
  readonly scopeOf: ReturnType<typeof createNetworkScopeRule>;
  readonly checkOrigin: OriginRule;
}

interface FetchJob {
  readonly settings: Settings;
  readonly init: GuardedRequest;
  readonly deadline: Deadline;
}

const MEBIBYTE = 1024 * 1024;

/**
 * Creates a guarded fetch. It throws FETCH_REFUSED if a rule is violated, TypeError like any fetch if the network
 * fails, and the reason of the caller's signal on abort. Ignores proxy settings of the environment. TypeError for
 * options with an origin that is not a URL.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { timeoutMs = 10_000, maxBytes = MEBIBYTE, maxRedirects = 3 } = options;
  const settings = {
    ...options,
    maxBytes,
    maxRedirects,
    scopeOf: createNetworkScopeRule(options),
    checkOrigin: createOriginRule(options.origins),
  };
  return async (input, init = {}) => {
    const hop = firstHop(input, init);
    const onTimeout = (): Error =>
      fetchRefused({ url: hop.url, reason: 'time', because: `the fetch took longer than ${timeoutMs} ms` });
    const deadline = new Deadline(timeoutMs, onTimeout, init.signal ?? undefined);
    try {
      return await fetchFollowingRedirects(hop, { settings, init, deadline });
    } catch (error) {
      if (deadline.signal.aborted) throw deadline.signal.reason;
      if (error instanceof TurnbuckleError) throw error;
      // Callers of a fetch expect this for network failures.
      throw new TypeError('fetch failed', { cause: error });
    } finally {
      deadline.stop();
    }
  };
}

async function fetchFollowingRedirects(first: Hop, job: FetchJob): Promise<Response> {
  const { settings, init, deadline } = job;
  let hop = first;
  for (let redirects = 0; ; redirects += 1) {
    settings.checkOrigin(hop.url);
    const target = await deadline.race(() => checkTarget(hop.url, settings));
    const answer = await exchange(hop, target, job);
    if (answer instanceof Response) return withUrl(answer, hop.url, redirects > 0);
    if (init.redirect === 'error' || redirects === settings.maxRedirects) {
      const because =
        init.redirect === 'error' ? 'it redirects' : `it redirects more than ${redirects} times`;
      throw fetchRefused({ url: first.url, reason: 'redirect', because });
    }
    hop = answer;
  }
}

/** One request on its own connection: the response, or the request that it redirects to. */
async function exchange(hop: Hop, target: Target, job: FetchJob): Promise<Response | Hop> {
  const { settings, init, deadline } = job;
  const { signal } = deadline;
  // The default export: a bundle of the library has no named exports of a CommonJS package.
  const { default: undici } = await import('undici');
  const connect = pinnedConnector(target, signal, settings.dial);
  const http = new undici.Client(target.url.origin, { connect, headersTimeout: 0, bodyTimeout: 0 });
  try {
    const answer = await http.request({
      path: `${hop.url.pathname}${hop.url.search}`,
      method: hop.method,
      headers: { ...Object.fromEntries(hop.headers), 'accept-encoding': ACCEPTED_ENCODINGS },
      body: hop.body ?? null,
      signal,
    });
    answer.body.on('error', () => {});
    const headers = headersOf(answer.headers);
    const next =
      init.redirect === 'manual' ? undefined : nextHop(hop, answer.statusCode, headers.get('location'));
    if (next !== undefined) return next;
    checkContentType(hop.url, { status: answer.statusCode, headers, accept: init.accept });
    const rules = { url: hop.url, headers, maxBytes: settings.maxBytes };
    const body = await deadline.race(() => readBoundedBody(answer.body, rules));
    return toResponse(answer.statusCode, headers, body);
  } finally {
    http.destroy().catch(() => {});
  }
}

function headersOf(raw: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(raw)) {
    for (const value of [values ?? []].flat()) headers.append(name, value);
  }
  return headers;
}

function checkContentType(
  url: URL,
  answer: { status: number; headers: Headers; accept: readonly string[] | undefined },
): void {
  const { status, headers, accept } = answer;
  const successful = status >= 200 && status < 300 && status !== 204;
  if (accept === undefined || !successful) return;
  const [essence = ''] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  if (accept.includes(essence.trim())) return;
  throw fetchRefused({
    url,
    reason: 'content-type',
    because: `its content type is not ${accept.join(' or ')}`,
  });
}

const BODILESS_STATUSES = new Set([204, 205, 304]);

function toResponse(status: number, headers: Headers, body: Uint8Array<ArrayBufferLike>): Response {
  // The body is already decompressed.
  headers.delete('content-encoding');
  headers.delete('content-length');
  return new Response(BODILESS_STATUSES.has(status) ? null : new Uint8Array(body), { status, headers });
}

/** A constructed Response has no URL; callers resolve links against it. */
function withUrl(response: Response, url: URL, redirected: boolean): Response {
  return Object.defineProperties(response, {
    url: { value: url.href, enumerable: true },
    redirected: { value: redirected, enumerable: true },
  });
}
