/** Answers to what is no request: Node's parser gave up, or waited in vain. */
import { ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS } from 'turnbuckle';
import { refusalText } from './answer.js';
import type { Refusal } from './refusal.js';

const BROKEN: Refusal = {
  code: 'REQUEST_INVALID',
  error: 'The request does not follow the rules of HTTP.',
  hint: 'Use an HTTP/1.1 client.',
};

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'HEADERS_TOO_LARGE',
    error: 'The headers are too large.',
    hint: 'Send fewer headers.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'REQUEST_TOO_LARGE',
    error: 'The chunks of the body carry too much besides the body.',
    hint: 'Send it without chunk extensions.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'REQUEST_TIMEOUT',
    error: 'The request did not arrive in time.',
    hint: 'Send it again, faster.',
  },
};

/** For `clientError` of a server: says why, if that can still be said, and ends the connection. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  if (hasAnswered(socket)) return void socket.end(() => socket.destroy());
  const refusal = REFUSALS[error.code ?? ''] ?? BROKEN;
  const text = refusalText(refusal);
  const { http } = ERRORS[refusal.code];
  const head = [
    `HTTP/1.1 ${http} ${STATUS_CODES[http]}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}

/** Inside an answer that has begun, another one would be taken for part of it. Node looks at the same place. */
function hasAnswered(socket: Duplex): boolean {
  const response: unknown = Reflect.get(socket, '_httpMessage');
  return response instanceof ServerResponse && response.headersSent;
}
