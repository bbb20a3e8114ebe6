/** The form of a request: what can be said without knowing who sent it and what it is for. */
import type { IncomingMessage } from 'node:http';
import type { Refusal } from './refusal.js';

/** True when a body follows the headers. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Readers that disagree about which of two headers counts can be played against each other: none counts. */
export function refuseHeaders({ rawHeaders }: IncomingMessage): Refusal | undefined {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const bit = bitOf(rawHeaders[at] ?? '');
    if ((seen & bit) !== 0)
      return invalid(`The header ${rawHeaders[at]} comes more than once.`, 'Send each header once.');
    seen |= bit;
  }
  return undefined;
}

/** The target must be a path: a proxy's form, or an asterisk, has nothing to look for here. */
export function refuseTarget({ url }: IncomingMessage): Refusal | undefined {
  if (url?.charCodeAt(0) === SLASH) return undefined;
  return invalid('The address of the request does not begin with a slash.', 'This is not a proxy.');
}

/** GET and DELETE have no body, all others JSON in UTF-8, not packed. */
export function refuseContent(request: IncomingMessage): Refusal | undefined {
  const { headers, method } = request;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return invalid('The transfer coding is not known.', 'Send it with a length, or chunked.');
  if (method === 'GET' || method === 'DELETE') {
    if (!announcesBody(request)) return undefined;
    return invalid(`${method} has no body here.`, 'Send it without a body.');
  }
  const type = headers['content-type'];
  const isPlain = headers['content-encoding'] === undefined;
  return isPlain && (type === 'application/json' || isJson(type)) ? undefined : NOT_JSON;
}

/** OPTIONS would let a browser ask for leave, and nobody has it; the others have no use. */
export function refuseMethod({ method }: IncomingMessage): Refusal | undefined {
  return method !== undefined && METHODS.has(method) ? undefined : METHOD_REFUSED;
}

const SLASH = 47;
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

export const METHOD_REFUSED: Refusal = {
  code: 'METHOD_REFUSED',
  error: 'This method is not known here.',
  hint: `There are ${[...METHODS].join(', ')}.`,
  headers: { allow: [...METHODS].join(', ') },
};

const NOT_JSON: Refusal = {
  code: 'CONTENT_TYPE_REFUSED',
  error: 'Only JSON is taken here.',
  hint: 'Send it with the header Content-Type: application/json, and not packed.',
};

const invalid = (error: string, hint: string): Refusal => ({ code: 'REQUEST_INVALID', error, hint });

function isJson(type = ''): boolean {
  if (!/^application\/json[ \t]*(;|$)/i.test(type)) return false;
  const charset = /;[ \t]*charset=([^;]*)/i.exec(type)?.[1];
  return charset === undefined || /^"?utf-?8"?[ \t]*$/i.test(charset);
}

/** One bit for each header that may come once; the length tells most others apart. */
function bitOf(name: string): number {
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
