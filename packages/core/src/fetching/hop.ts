import { fetchRefused } from './fetch-refused.js';
import { parseUrl } from './parse-url.js';

export interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Headers;
  readonly body?: string | undefined;
}

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
/** Any other header may contain credentials for the first origin. */
const CROSS_ORIGIN_HEADERS = new Set(['accept', 'accept-language', 'user-agent', 'mcp-protocol-version']);

/** The request of a caller of fetch. Throws FETCH_REFUSED, or TypeError for a body that is not text. */
export function firstHop(
  input: string | URL,
  init: RequestInit & { readonly accept?: readonly string[] },
): Hop {
  const url = parseUrl(input);
  if (url === undefined)
    throw fetchRefused({ url: undefined, reason: 'url', because: 'it is not a valid address' });
  const method = (init.method ?? 'GET').toUpperCase();
  if (method !== 'GET' && method !== 'POST') {
    throw fetchRefused({ url, reason: 'method', because: 'only GET and POST are allowed' });
  }
  const headers = new Headers(init.headers);
  // A header must not change where the request goes.
  headers.delete('host');
  if (init.accept !== undefined && !headers.has('accept')) headers.set('accept', init.accept.join(', '));
  const { body } = init;
  if (body === undefined || body === null) return { url, method, headers };
  if (typeof body !== 'string' && !(body instanceof URLSearchParams)) {
    throw new TypeError('The request body must be a string or URLSearchParams.');
  }
  if (!headers.has('content-type')) {
    const kind = typeof body === 'string' ? 'text/plain' : 'application/x-www-form-urlencoded';
    headers.set('content-type', `${kind};charset=UTF-8`);
  }
  return { url, method, headers, body: String(body) };
}

/** The request that a redirect asks for, or undefined if the response is not a redirect. Throws FETCH_REFUSED. */
export function nextHop(hop: Hop, status: number, location: string | null): Hop | undefined {
  if (!REDIRECT_STATUSES.has(status) || location === null) return undefined;
  // Headers arrive as one character for each byte.
  const url = parseUrl(Buffer.from(location, 'latin1').toString(), hop.url);
  if (url === undefined) throw redirectRefused(hop, 'it redirects to an invalid address');
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw redirectRefused(hop, 'it redirects from https to plain http');
  }
  const sameOrigin = url.origin === hop.url.origin;
  if (hop.method === 'GET') {
    return { url, method: 'GET', headers: sameOrigin ? hop.headers : crossOriginHeaders(hop.headers) };
  }
  if (!sameOrigin) throw redirectRefused(hop, 'it redirects a POST to a different origin');
  if (status === 303) return { url, method: 'GET', headers: withoutContentHeaders(hop.headers) };
  if (status === 307 || status === 308) return { ...hop, url };
  throw redirectRefused(
    hop,
    `it redirects a POST with status ${status}, which does not say whether to repeat the POST`,
  );
}

function crossOriginHeaders(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => CROSS_ORIGIN_HEADERS.has(name)));
}

function withoutContentHeaders(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => !name.startsWith('content-')));
}

function redirectRefused({ url }: Hop, because: string): Error {
  return fetchRefused({ url, reason: 'redirect', because });
}
