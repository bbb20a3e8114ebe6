/** Answers to what is no request: Node's parser gave up, or waited in vain. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS } from 'turnbuckle';
import { refusalText } from './answer.js';
import { owedAnswer } from './owed-answer.js';
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
  const response = owedAnswer(socket);
  if (response?.headersSent === true) return void socket.end(() => socket.destroy());
  // What is broken came behind a whole request: its answer is the next on the wire, and the last.
  if (response?.req.complete === true) return void response.setHeader('connection', 'close');
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
