/** Malformed responses of an HTTP server; each ends by itself. */
import type { ServerResponse } from 'node:http';
import { fuzzEvent } from './fuzz-bytes.js';
import type { FuzzMessages } from './fuzz-messages.js';

const STATUSES = [200, 200, 200, 202, 204, 206, 301, 307, 400, 401, 403, 404, 405, 406, 409, 429, 500, 503];
const TYPES = [
  ...['application/json', 'text/event-stream', 'text/html', 'application/json; charset=utf-16', ''],
  ...['TEXT/EVENT-STREAM;x=y', 'application/jsonp', 'multipart/mixed'],
];
const HEADERS: ReadonlyArray<readonly [string, string]> = [
  ['retry-after', '-1'],
  ['retry-after', '99999999999'],
  ['www-authenticate', 'Bearer resource_metadata="http://127.0.0.1:1/x", scope='],
  ['www-authenticate', 'Bearer '.repeat(50)],
  ['www-authenticate', '"'],
  ['location', 'http://127.0.0.1:1/elsewhere'],
  ['location', '//'],
  ['mcp-session-id', 'x'.repeat(5_000)],
  ['mcp-session-id', ''],
  ['content-encoding', 'gzip'],
  ['content-length', '5'],
  ['set-cookie', 'a=b'],
];

export function sendFuzzResponse(messages: FuzzMessages, response: ServerResponse): void {
  const { json } = messages;
  const context = { ids: [0, 1, 2, 'x', null] };
  response.on('error', () => {});
  response.statusCode = json.pick(STATUSES);
  const type = json.pick(TYPES);
  if (type !== '') response.setHeader('content-type', type);
  for (let count = json.below(3); count > 0; count -= 1) response.setHeader(...json.pick(HEADERS));
  // The content length may be wrong on purpose.
  response.strictContentLength = false;
  const parts = Array.from({ length: json.below(5) }, () =>
    type.toLowerCase().includes('event-stream')
      ? fuzzEvent(messages, context)
      : messages.answer(1, messages.result()),
  );
  for (const part of parts) response.write(part);
  if (json.chance(0.2)) response.socket?.destroySoon();
  else response.end();
}
