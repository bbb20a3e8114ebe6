// The minimum that a gateway in Node can do: one HTTP server in front of stdio servers, ids rewritten, nothing
// checked, nothing recorded. The difference to ours is the cost of guards, log and metrics.
// node floor-gateway.mjs <specs as JSON>; prints its URL when every server has listed its tools.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

/** @type {{ name: string, command: string, args: string[] }[]} */
const specs = JSON.parse(process.argv[2] ?? '[]');
const servers = new Map();

// As the SDK and we do: the variables of the host slow down the start of a Node process.
const { HOME, PATH } = process.env;

function connect({ name, command, args }) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { HOME, PATH } });
  const waiting = new Map();
  let rest = '';
  let last = 0;
  child.stdout.setEncoding('utf8').on('data', (part) => {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { id, result } = JSON.parse(line);
      waiting.get(id)?.(result);
      waiting.delete(id);
    }
  });
  const request = (method, params) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
    });
  servers.set(name, { request, tools: [] });
}

async function handshake([name, target]) {
  const clientInfo = { name: 'floor', version: '1' };
  await target.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  const { tools } = await target.request('tools/list', {});
  target.tools = tools.map((tool) => ({ ...tool, name: `${name}_${tool.name}` }));
}

for (const spec of specs) connect(spec);
await Promise.all([...servers].map(handshake));
const list = JSON.stringify([...servers.values()].flatMap(({ tools }) => tools));

async function answer({ id, method, params }) {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
  if (method === 'tools/list') return `${head}{"tools":${list}}}`;
  if (method !== 'tools/call')
    return `${head}{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"1"}}}`;
  const cut = params.name.indexOf('_');
  const target = servers.get(params.name.slice(0, cut));
  const result = await target.request('tools/call', { ...params, name: params.name.slice(cut + 1) });
  return `${head}${JSON.stringify(result)}}`;
}

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', async () => {
    const message = JSON.parse(Buffer.concat(parts).toString('utf8'));
    if (message.id === undefined) return response.writeHead(202).end();
    const text = await answer(message);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object')
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}/mcp` })}\n`);
});
process.stdin.once('end', () => process.exit(0)).resume();
