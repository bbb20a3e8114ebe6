/** Sends responses: JSON, or an error as JSON. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ERRORS, writeJson } from 'turnbuckle/host';
import type { ErrorResponse } from './error-response.js';
import type { RequestUsage } from './limits/in-flight-requests.js';
import { LARGE_RESPONSE_BYTES } from './response-text.js';
import { retryAfterSeconds } from './safe-data.js';
import { hasBody } from './server/check-request.js';

/** How many bytes a rejected client may still send, so that it gets to read the response. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 1_000;

/**
 * Starts a response, with headers that keep browsers from sniffing and caching it. For routes that write the response
 * themselves: passing all headers here is cheaper than setting them one by one.
 */
export function writeResponseHead(
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
): void {
  response.writeHead(status, {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...headers,
  });
}

/** Raw numbers are written losslessly. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, writeJson(body));
}

/** Sends text that is already JSON. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  writeResponseHead(response, status, jsonHeaders(text));
  response.end(text);
}

/** Counted before it is written: a client that has left too much unread is cut off instead. */
export function sendWithinLimit({ response, usage }: CountedResponse, status: number, text: string): void {
  // The client may have disconnected meanwhile.
  if (response.destroyed) return;
  if (text.length < LARGE_RESPONSE_BYTES || usage.canBufferUnsent(text.length))
    sendText(response, status, text);
  else response.destroy();
}

interface CountedResponse {
  readonly response: ServerResponse;
  readonly usage: RequestUsage;
}

/** The body of an error response; also used where there is no response object yet. */
export function errorResponseText({ code, error, hint, server, tool, data }: ErrorResponse): string {
  return writeJson({ success: false, error, code, hint, server, tool, data });
}

/**
 * Sends an error. If the body has not arrived completely, it is discarded and the connection ends. A response that has
 * already started is cut off, so that no client takes its first part for the whole.
 */
export function sendErrorResponse(
  request: IncomingMessage,
  response: ServerResponse,
  errorResponse: ErrorResponse,
): void {
  if (response.headersSent) return void response.destroy();
  const { code, headers = {}, data } = errorResponse;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const retryAfter = retryAfterSeconds(data);
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  const text = errorResponseText(errorResponse);
  const { http } = ERRORS[code];
  if (request.complete || !hasBody(request)) return sendText(response, http, text);
  response.setHeader('connection', 'close');
  writeResponseHead(response, http, jsonHeaders(text));
  response.write(text);
  endAfterBody(request, response);
}

function jsonHeaders(text: string): OutgoingHttpHeaders {
  return { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
}

/**
 * Closing a connection with unread bytes resets it, and the response may be lost. So a little more is read, and then
 * nothing: a client that cannot continue writing starts to read.
 */
function endAfterBody(request: IncomingMessage, response: ServerResponse): void {
  let left = LINGER_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(finish, LINGER_MS);
  request.once('end', finish);
  request.once('close', finish);
  request.on('data', (part: Buffer) => {
    left -= part.length;
    if (left < 0) request.pause();
  });
  // A client that sent `Expect: 100-continue` waits for the response and sends no body.
  if (request.headers.expect !== undefined) finish();
}
