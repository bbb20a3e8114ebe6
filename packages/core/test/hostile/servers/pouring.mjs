// A server whose tool `pour` writes a `block` of text for a while before it answers: on the stream of the answer itself
// (`where: "answer"`), or on the GET stream of the client. The first argument is the transport: `http` or `sse`.
// Prints READY and its address. Ends with stdin.
import { createServer } from 'node:http';

const [way = 'http'] = process.argv.slice(2);
const POUR_MS = 500;

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'pouring', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [{ name: 'pour', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'poured' }] }),
  ping: () => ({}),
};

const answerTo = ({ id, method, params }) => {
  const result = RESULTS[method]?.(params ?? {});
  const error = { code: -32601, message: 'no' };
  return JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) });
};

async function pour(stream, block) {
  const bytes = Buffer.from(block.repeat(Math.ceil(65_536 / block.length)).slice(0, 65_536));
  for (const end = Date.now() + POUR_MS; Date.now() < end && !stream.destroyed; ) {
    if (!stream.write(bytes))
      await Promise.race([
        new Promise((resolve) => stream.once('drain', resolve).once('close', resolve)),
        new Promise((resolve) => setTimeout(resolve, 100)),
      ]);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

let stream;
const server = createServer(async (request, response) => {
  response.setMaxListeners(0);
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    stream = response;
    if (way === 'sse') response.write('event: endpoint\ndata: /message\n\n');
    return;
  }
  if (request.method !== 'POST' || (way === 'sse' && request.url !== '/message'))
    return response.writeHead(405).end();
  let body = '';
  for await (const part of request) body += part;
  const message = JSON.parse(body);
  if (way === 'sse' || message.id === undefined) response.writeHead(202).end();
  if (message.id === undefined) return;
  const { block, where } = message.params?.arguments ?? {};
  if (way !== 'sse' && where === 'answer') response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (block !== undefined) await pour(where === 'answer' && way === 'http' ? response : stream, block);
  // Starts a new line and a new event, whatever was written before.
  const event = `\n\ndata: ${answerTo(message)}\n\n`;
  if (way === 'sse') stream.write(event);
  else if (where === 'answer') response.end(event);
  else response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(message));
});
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`READY http://127.0.0.1:${server.address().port}/mcp\n`),
);
process.stdin.on('end', () => process.exit(0)).resume();
