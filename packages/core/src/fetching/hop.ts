import { parseUrl } from './parse-url.js';
import { refused } from './refusal.js';

export interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Headers;
  readonly body?: string | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Any other header may be a key to the first origin. */
const KEPT_ACROSS_ORIGINS = new Set(['accept', 'accept-language', 'user-agent', 'mcp-protocol-version']);

/** The request that a caller of fetch asks for. Throws FETCH_REFUSED, or TypeError for a body that is no text. */
export function firstHop(
  input: string | URL,
  init: RequestInit & { readonly accept?: readonly string[] },
): Hop {
  const url = parseUrl(input);
  if (url === undefined)
    throw refused({ url: undefined, reason: 'url', because: 'it is not a valid address' });
  const method = (init.method ?? 'GET').toUpperCase();
  if (method !== 'GET' && method !== 'POST') {
    throw refused({ url, reason: 'method', because: 'only GET and POST are sent' });
  }
  const headers = new Headers(init.headers);
  // Where the request goes is not for a header to say.
  headers.delete('host');
  if (init.accept !== undefined && !headers.has('accept')) headers.set('accept', init.accept.join(', '));
  const { body } = init;
  if (body === undefined || body === null) return { url, method, headers };
  if (typeof body !== 'string' && !(body instanceof URLSearchParams)) {
    throw new TypeError('A guarded fetch sends text or URLSearchParams.');
  }
  if (!headers.has('content-type')) {
    const kind = typeof body === 'string' ? 'text/plain' : 'application/x-www-form-urlencoded';
    headers.set('content-type', `${kind};charset=UTF-8`);
  }
  return { url, method, headers, body: String(body) };
}

/** The request that a redirect asks for, or undefined if the answer is none. Throws FETCH_REFUSED. */
export function nextHop(hop: Hop, status: number, location: string | null): Hop | undefined {
  if (!REDIRECTS.has(status) || location === null) return undefined;
  // Headers arrive as one character for each byte.
  const url = parseUrl(Buffer.from(location, 'latin1').toString(), hop.url);
  if (url === undefined) throw refuse(hop, 'its redirect leads to something that is no address');
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw refuse(hop, 'it redirects from https to plain http');
  }
  const sameOrigin = url.origin === hop.url.origin;
  if (hop.method === 'GET') {
    return { url, method: 'GET', headers: sameOrigin ? hop.headers : withoutKeys(hop.headers) };
  }
  if (!sameOrigin) throw refuse(hop, 'it redirects a POST to another origin');
  if (status === 303) return { url, method: 'GET', headers: withoutContent(hop.headers) };
  if (status === 307 || status === 308) return { ...hop, url };
  throw refuse(hop, `it redirects a POST by status ${status}, which does not say whether to send it again`);
}

function withoutKeys(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => KEPT_ACROSS_ORIGINS.has(name)));
}

function withoutContent(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => !name.startsWith('content-')));
}

function refuse({ url }: Hop, because: string): Error {
  return refused({ url, reason: 'redirect', because });
}
