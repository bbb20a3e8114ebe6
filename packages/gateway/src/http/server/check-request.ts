/** Checks the form of a request, independent of its sender and route. */
import type { IncomingMessage } from 'node:http';
import type { ErrorResponse } from '../error-response.js';

/** True if a body follows the headers. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Duplicate headers are rejected: parsers that disagree about which one counts can be played off against each other. */
export function checkHeaders({ rawHeaders }: IncomingMessage): ErrorResponse | undefined {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const bit = headerBit(rawHeaders[at] ?? '');
    if ((seen & bit) !== 0) return invalid(`Duplicate header ${rawHeaders[at]}.`, 'Send each header once.');
    seen |= bit;
  }
  return undefined;
}

/** The target must be a path, not the absolute form for proxies or an asterisk. */
export function checkTarget({ url }: IncomingMessage): ErrorResponse | undefined {
  if (url?.charCodeAt(0) === SLASH) return undefined;
  return invalid(
    'The request target does not start with "/".',
    'Send only the path. The daemon is not a proxy.',
  );
}

/** GET and DELETE have no body; all others have JSON in UTF-8 without content encoding, or none outside of MCP. */
export function checkContent(request: IncomingMessage): ErrorResponse | undefined {
  const { headers, method } = request;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return invalid(
      'Unsupported Transfer-Encoding.',
      'Send the body with Content-Length, or with Transfer-Encoding: chunked.',
    );
  if (method === 'GET' || method === 'DELETE') {
    if (!hasBody(request)) return undefined;
    return invalid(`${method} does not accept a body.`, 'Send the request without a body.');
  }
  const type = headers['content-type'];
  const isPlain = headers['content-encoding'] === undefined;
  if (type === undefined && isPlain && !hasBody(request) && !MCP_PATH.test(request.url ?? ''))
    return undefined;
  return isPlain && (type === 'application/json' || isJson(type)) ? undefined : NOT_JSON;
}

/** OPTIONS would be a CORS preflight, and no origin is allowed by CORS; the other methods have no use. */
export function checkMethod({ method }: IncomingMessage): ErrorResponse | undefined {
  return method !== undefined && METHODS.has(method) ? undefined : METHOD_REFUSED;
}

const MCP_PATH = /^\/mcp(?=$|[/?])/;
const SLASH = 47;
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

export const METHOD_REFUSED: ErrorResponse = {
  code: 'METHOD_REFUSED',
  error: 'Unsupported HTTP method.',
  hint: `Use one of ${[...METHODS].join(', ')}.`,
  headers: { allow: [...METHODS].join(', ') },
};

const NOT_JSON: ErrorResponse = {
  code: 'CONTENT_TYPE_REFUSED',
  error: 'Only JSON bodies are accepted.',
  hint: 'Send Content-Type: application/json, without Content-Encoding.',
};

const invalid = (error: string, hint: string): ErrorResponse => ({ code: 'REQUEST_INVALID', error, hint });

function isJson(type = ''): boolean {
  if (!/^application\/json[ \t]*(;|$)/i.test(type)) return false;
  const charset = /;[ \t]*charset=([^;]*)/i.exec(type)?.[1];
  return charset === undefined || /^"?utf-?8"?[ \t]*$/i.test(charset);
}

/** A bit for each header that may occur once; most others already differ in length. */
function headerBit(name: string): number {
  switch (name.length) {
    case 4:
      return name.toLowerCase() === 'host' ? 1 : 0;
    case 6:
      return name.toLowerCase() === 'origin' ? 2 : name.toLowerCase() === 'expect' ? 4 : 0;
    case 12:
      return name.toLowerCase() === 'content-type' ? 8 : 0;
    case 13:
      return name.toLowerCase() === 'authorization' ? 16 : 0;
    case 14:
      return name.toLowerCase() === 'content-length' ? 32 : 0;
    case 16:
      return name.toLowerCase() === 'content-encoding' ? 64 : 0;
    case 17:
      return name.toLowerCase() === 'transfer-encoding' ? 128 : 0;
    default:
      return 0;
  }
}
