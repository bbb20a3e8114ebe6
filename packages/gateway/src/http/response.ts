/** The ways to answer: JSON, or a refusal as JSON. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ERRORS, writeJson } from 'turnbuckle';
import { LARGE_ANSWER } from './answer-text.js';
import type { Place } from './places.js';
import type { Refusal } from './refusal.js';
import { announcesBody } from './request-form.js';
import { retryAfterSeconds } from './safe-data.js';

/** What a client may still send after it was refused, so that it gets to read why. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 1_000;

/**
 * Begins an answer, with what keeps browsers from guessing its type and keeping it. For routes that answer
 * themselves: headers that are given along here, and not set one by one, cost least.
 */
export function beginAnswer(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void {
  response.writeHead(status, {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...headers,
  });
}

/** Numbers of other languages are written as they came. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, writeJson(body));
}

/** JSON that is text already. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  beginAnswer(response, status, jsonHeaders(text));
  response.end(text);
}

/** Counted before it is written: who has left too much of other answers unread is cut off instead. */
export function sendCounted({ response, place }: Answered, status: number, text: string): void {
  // The client may have gone away meanwhile.
  if (response.destroyed) return;
  if (text.length < LARGE_ANSWER || place.mayLeaveUnsent(text.length)) sendText(response, status, text);
  else response.destroy();
}

interface Answered {
  readonly response: ServerResponse;
  readonly place: Place;
}

/** The refusal as it is sent: also used where there is no response object yet. */
export function refusalText({ code, error, hint, server, tool, data }: Refusal): string {
  return writeJson({ success: false, error, code, hint, server, tool, data });
}

/**
 * Answers with a refusal. A body that has not arrived by then is not taken in: the connection ends. An answer
 * that has begun is broken off, so that nobody takes its first part for the whole.
 */
export function sendRefusal(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent) return void response.destroy();
  const { code, headers = {}, data } = refusal;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const retryAfter = retryAfterSeconds(data);
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  const text = refusalText(refusal);
  const { http } = ERRORS[code];
  if (request.complete || !announcesBody(request)) return sendText(response, http, text);
  response.setHeader('connection', 'close');
  beginAnswer(response, http, jsonHeaders(text));
  response.write(text);
  endAfterBody(request, response);
}

function jsonHeaders(text: string): OutgoingHttpHeaders {
  return { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
}

/**
 * A connection that is closed over unread bytes is reset, and the answer may be lost with it. So some more is
 * read, and then nothing: a client that cannot go on writing gets round to reading.
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
  // Whoever waits for the word to send (`Expect: 100-continue`) is answered and sends nothing.
  if (request.headers.expect !== undefined) finish();
}
