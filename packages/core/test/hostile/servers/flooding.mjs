// A server that sends endlessly after its tools were listed: `junk`, `notices`, `answers` (to no request),
// `progress` (of no call), `requests`, `comments`, `stderr`, `bytes` (a line that never ends) or `none`. The tool `good`
// first reports `steps` progress notifications. The first argument is the
// kind, the second the transport: `stdio`, `http` (on the GET stream), `sse` or `websocket`. Over the network it
// prints READY and its address. Ends with stdin.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { WebSocketServer } from 'ws';

const [kind = 'junk', way = 'stdio'] = process.argv.slice(2);
const json = (message) => JSON.stringify({ jsonrpc: '2.0', ...message });

const LINES = {
  junk: 'starting up, please wait',
  notices: json({ method: 'notifications/message', params: { level: 'info', data: 'still here' } }),
  answers: json({ id: 1_000_000_001, result: {} }),
  progress: json({ method: 'notifications/progress', params: { progressToken: 7, progress: 1 } }),
  requests: json({ id: 1, method: 'roots/list' }),
  stderr: 'debug: still here',
  bytes: 'x'.repeat(50),
};
const line = LINES[kind];

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: process.env.REVISION ?? protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'flooding', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [{ name: 'good', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'good' }] }),
  ping: () => ({}),
};

function answerTo({ id, method, params }) {
  const result = RESULTS[method]?.(params ?? {});
  return json({ id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) });
}

/** Writes the block for as long as the client reads; in between, the server handles requests. */
async function pour(stream, block) {
  stream.setMaxListeners(0);
  while (!stream.destroyed) {
    if (!stream.write(block))
      await new Promise((resolve) => stream.once('drain', resolve).once('close', resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function speakStdio() {
  createInterface({ input: process.stdin })
    .on('line', (text) => {
      const message = JSON.parse(text);
      if (message.id === undefined) return;
      const { arguments: { steps = 0 } = {}, _meta: { progressToken } = {} } = message.params ?? {};
      for (let progress = 1; progress <= steps; progress += 1)
        process.stdout.write(
          `${json({ method: 'notifications/progress', params: { progressToken, progress } })}\n`,
        );
      process.stdout.write(`${answerTo(message)}\n`);
      if (message.method !== 'tools/list' || kind === 'none') return;
      const block = `${line}${kind === 'bytes' ? '' : '\n'}`.repeat(1_000);
      void pour(kind === 'stderr' ? process.stderr : process.stdout, block);
    })
    .on('close', () => process.exit(0));
}

const event = kind === 'comments' ? ': still here\n\n' : `data: ${line}\n\n`;

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
    const message = await bodyOf(request);
    if (way === 'sse') response.writeHead(202).end();
    if (message.id === undefined) return way === 'sse' || response.writeHead(202).end();
    if (way === 'sse') stream.write(`data: ${answerTo(message)}\n\n`);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(message));
    if (message.method !== 'tools/list') return;
    for (let tries = 0; stream === undefined && tries < 100; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
    void pour(stream, event.repeat(1_000));
  });
  if (way === 'websocket')
    new WebSocketServer({ server, handleProtocols: () => 'mcp' }).on('connection', (socket) => {
      socket.on('message', (text) => {
        const message = JSON.parse(text);
        if (message.id === undefined) return;
        socket.send(answerTo(message));
        if (message.method === 'tools/list') void pourFrames(socket);
      });
    });
  server.listen(0, '127.0.0.1', () =>
    process.stdout.write(`READY http://127.0.0.1:${server.address().port}/mcp\n`),
  );
  process.stdin.on('end', () => process.exit(0)).resume();
}

async function pourFrames(socket) {
  while (socket.readyState === socket.OPEN) {
    for (let count = 0; count < 1_000; count += 1) socket.send(line);
    while (socket.readyState === socket.OPEN && socket.bufferedAmount > 1_000_000)
      await new Promise((resolve) => setTimeout(resolve, 1));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

if (way === 'stdio') speakStdio();
else speakHttp();
