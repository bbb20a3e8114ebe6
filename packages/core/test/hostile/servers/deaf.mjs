// A server that stops reading after its tools were listed, for some milliseconds (the second argument) or forever.
// Its tool `eat` returns the names of all calls so far. The first argument is the transport: `stdio`, `http`, `sse` or `websocket`.
// Over the network it prints READY and its address. Ends with stdin, unless it has stopped reading that.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const [way = 'stdio', forMs = ''] = process.argv.slice(2);
const json = (message) => JSON.stringify({ jsonrpc: '2.0', ...message });
const eaten = [];

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'deaf', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [{ name: 'eat', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ arguments: { name } }) => {
    eaten.push(name);
    return { content: [{ type: 'text', text: eaten.join(' ') }] };
  },
  ping: () => ({}),
};

function answerTo({ id, method, params }) {
  const result = RESULTS[method]?.(params ?? {});
  return json({ id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) });
}

let isDeaf = false;
function stopReading({ method }, stream) {
  if (method !== 'tools/list' || isDeaf) return;
  isDeaf = true;
  stream?.pause();
  if (forMs === '') return;
  setTimeout(() => {
    isDeaf = false;
    stream?.resume();
  }, Number(forMs));
}

function speakStdio() {
  let text = '';
  process.stdin.setEncoding('utf8').on('data', (part) => {
    const lines = (text + part).split('\n');
    text = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.id === undefined) continue;
      process.stdout.write(`${answerTo(message)}\n`);
      stopReading(message, process.stdin);
    }
  });
  // Nothing keeps the process alive any more.
  setInterval(() => {}, 1_000);
}

async function bodyOf(request) {
  let body = '';
  for await (const part of request) body += part;
  return JSON.parse(body);
}

function speakHttp() {
  let stream;
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      stream = response;
      if (way === 'sse') response.write('event: endpoint\ndata: /message\n\n');
      return;
    }
    if (request.method !== 'POST') return response.writeHead(405).end();
    if (way === 'sse' && request.url !== '/message') return response.writeHead(405).end();
    if (isDeaf) return;
    const message = await bodyOf(request);
    if (way === 'sse') response.writeHead(202).end();
    if (message.id === undefined) return way === 'sse' || response.writeHead(202).end();
    if (way === 'sse') stream.write(`data: ${answerTo(message)}\n\n`);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(message));
    stopReading(message);
  });
  if (way === 'websocket')
    new WebSocketServer({ server, handleProtocols: () => 'mcp' }).on('connection', (socket) => {
      socket.on('message', (text) => {
        const message = JSON.parse(text);
        if (message.id === undefined) return;
        socket.send(answerTo(message));
        stopReading(message, socket);
      });
    });
  server.listen(0, '127.0.0.1', () =>
    process.stdout.write(`READY http://127.0.0.1:${server.address().port}/mcp\n`),
  );
  process.stdin.on('end', () => process.exit(0)).resume();
}

if (way === 'stdio') speakStdio();
else speakHttp();
