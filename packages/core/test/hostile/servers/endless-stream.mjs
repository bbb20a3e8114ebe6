// A legacy HTTP server without sessions. The tool `endless` answers with a stream that never ends:
// one event (`event`), many events (`events`), comments (`comments`) or a JSON body (`json`); it stops
// after 400 MB, or when the client disconnects. Prints READY and its address; ends with stdin.
import { createServer } from 'node:http';

const CHUNK = 'x'.repeat(64 * 1024);
const MAX_BYTES = 400 * 1024 * 1024;
const KINDS = ['event', 'events', 'comments', 'json'];
const message = JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: CHUNK },
});
const PIECES = { event: CHUNK, events: `data: ${message}\n\n`, comments: `: ${CHUNK}\n\n`, json: CHUNK };
const schema = { type: 'object', properties: { kind: { enum: KINDS } }, required: ['kind'] };

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'endless-stream', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [
      { name: 'endless', inputSchema: schema },
      { name: 'good', inputSchema: { type: 'object' } },
    ],
  }),
};

async function stream(response, kind) {
  response.writeHead(200, { 'content-type': kind === 'json' ? 'application/json' : 'text/event-stream' });
  response.write(kind === 'json' ? '{"jsonrpc":"2.0","id":1,"x":"' : kind === 'event' ? 'data: ' : '');
  for (let sent = 0; sent < MAX_BYTES && !response.destroyed; sent += CHUNK.length) {
    if (!response.write(PIECES[kind]))
      await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
  }
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  if (request.method !== 'POST') return response.writeHead(405).end();
  const { id, method, params } = JSON.parse(body);
  if (id === undefined) return response.writeHead(202).end();
  if (method === 'tools/call' && params.name === 'endless') return stream(response, params.arguments.kind);
  const answer =
    method === 'tools/call' ? () => ({ content: [{ type: 'text', text: 'good' }] }) : ANSWERS[method];
  const outcome = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: 'no' } };
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
});
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`READY http://127.0.0.1:${server.address().port}/mcp\n`),
);
process.stdin.on('end', () => process.exit(0)).resume();
