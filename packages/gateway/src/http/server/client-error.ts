/** Responses to malformed requests: Node's parser failed or timed out. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS } from 'turnbuckle/host';
import type { ErrorResponse } from '../error-response.js';
import { errorResponseText } from '../response.js';
import { currentResponse } from './current-response.js';

const MALFORMED_REQUEST: ErrorResponse = {
  code: 'REQUEST_INVALID',
  error: 'Malformed HTTP request.',
  hint: 'Use an HTTP/1.1 client.',
};

const ERROR_RESPONSES: Readonly<Record<string, ErrorResponse>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'HEADERS_TOO_LARGE',
    error: 'The request headers are too large.',
    hint: 'Send fewer headers.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'REQUEST_TOO_LARGE',
    error: 'The chunk extensions in the body are too large.',
    hint: 'Send the body without chunk extensions.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'REQUEST_TIMEOUT',
    error: 'Timed out while reading the request.',
    hint: 'Send the request again.',
  },
};

/** For `clientError` of a server: sends the reason, if that is still possible, and ends the connection. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const response = currentResponse(socket);
  if (response?.headersSent === true) return void socket.end(() => socket.destroy());
  // The malformed bytes follow a complete request: its response comes next on the connection, and is the last.
  if (response?.req.complete === true) return void response.setHeader('connection', 'close');
  const errorResponse = ERROR_RESPONSES[error.code ?? ''] ?? MALFORMED_REQUEST;
  const text = errorResponseText(errorResponse);
  const { http } = ERRORS[errorResponse.code];
  const head = [
    `HTTP/1.1 ${http} ${STATUS_CODES[http]}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}
