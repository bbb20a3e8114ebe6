/**
 * The one way to fetch an address that came from outside: metadata, registries, files. It owns the rules for
 * scheme, network, redirects, size, time and content type; what the answer means is the caller's.
 */
import { TurnbuckleError } from '../errors.js';
import { ACCEPTED_ENCODINGS, readBoundedBody } from './bounded-body.js';
import { Deadline } from './deadline.js';
import { firstHop, type Hop, nextHop } from './hop.js';
import { type Dial, pinnedConnector } from './pinned-connect.js';
import { createReachRule, type ReachOptions } from './reach.js';
import { refused } from './refusal.js';
import { checkTarget, type Lookup, type Target } from './target.js';

export interface GuardOptions extends ReachOptions {
  /** For the body as sent and as unpacked; 1 MiB by default. */
  readonly maxBytes?: number | undefined;
  /** In all, redirects and body included; 10 s by default. */
  readonly timeoutMs?: number | undefined;
  /** 3 by default. */
  readonly maxRedirects?: number | undefined;
  /** For tests: how a name is resolved. */
  readonly lookup?: Lookup | undefined;
  /** For tests: how a checked target is connected to. */
  readonly dial?: Dial | undefined;
}

export interface GuardedRequest extends RequestInit {
  /** Content types that a successful answer may have, for example `application/json`; absent: any. */
  readonly accept?: readonly string[];
}

/** A `fetch` for GET and POST; it resolves when the body has arrived. */
export type GuardedFetch = (url: string | URL, init?: GuardedRequest) => Promise<Response>;

interface Settings extends GuardOptions {
  readonly maxBytes: number;
  readonly maxRedirects: number;
  readonly reachOf: ReturnType<typeof createReachRule>;
}

interface Errand {
  readonly settings: Settings;
  readonly init: GuardedRequest;
  readonly deadline: Deadline;
}

const MEBIBYTE = 1024 * 1024;

/**
 * Makes a guarded fetch. It throws FETCH_REFUSED when a rule says no, TypeError like any fetch when the network
 * fails, and the reason of the caller's signal when that aborts. Proxies of the environment are not used.
 */
export function createGuardedFetch(options: GuardOptions = {}): GuardedFetch {
  const { timeoutMs = 10_000, maxBytes = MEBIBYTE, maxRedirects = 3 } = options;
  const settings = { ...options, maxBytes, maxRedirects, reachOf: createReachRule(options) };
  return async (input, init = {}) => {
    const hop = firstHop(input, init);
    const onTimeout = (): Error =>
      refused({ url: hop.url, reason: 'time', because: `it took longer than ${timeoutMs} ms` });
    const deadline = new Deadline(timeoutMs, onTimeout, init.signal ?? undefined);
    try {
      return await followed(hop, { settings, init, deadline });
    } catch (error) {
      if (deadline.signal.aborted) throw deadline.signal.reason;
      if (error instanceof TurnbuckleError) throw error;
      // What callers of a fetch expect of a network that fails.
      throw new TypeError('fetch failed', { cause: error });
    } finally {
      deadline.stop();
    }
  };
}

async function followed(first: Hop, errand: Errand): Promise<Response> {
  const { settings, init, deadline } = errand;
  let hop = first;
  for (let redirects = 0; ; redirects += 1) {
    const target = await deadline.race(() => checkTarget(hop.url, settings));
    const answer = await exchange(hop, target, errand);
    if (answer instanceof Response) return named(answer, hop.url, redirects > 0);
    if (init.redirect === 'error' || redirects === settings.maxRedirects) {
      const because =
        init.redirect === 'error' ? 'it redirects' : `it redirects more than ${redirects} times`;
      throw refused({ url: first.url, reason: 'redirect', because });
    }
    hop = answer;
  }
}

/** One request on a connection of its own: the answer, or the request that it redirects to. */
async function exchange(hop: Hop, target: Target, errand: Errand): Promise<Response | Hop> {
  const { settings, init, deadline } = errand;
  const { signal } = deadline;
  // The default export: a bundle of the library has no other names of a CommonJS package.
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
  throw refused({ url, reason: 'content-type', because: `it is not of type ${accept.join(' or ')}` });
}

const WITHOUT_BODY = new Set([204, 205, 304]);

function toResponse(status: number, headers: Headers, body: Uint8Array<ArrayBufferLike>): Response {
  // The body is unpacked by now.
  headers.delete('content-encoding');
  headers.delete('content-length');
  return new Response(WITHOUT_BODY.has(status) ? null : new Uint8Array(body), { status, headers });
}

/** A Response made by hand has no address; callers resolve links against it. */
function named(response: Response, url: URL, redirected: boolean): Response {
  return Object.defineProperties(response, {
    url: { value: url.href, enumerable: true },
    redirected: { value: redirected, enumerable: true },
  });
}
