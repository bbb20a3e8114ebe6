// node gateway-process.mjs '<servers as JSON>'
// A gateway before these servers; writes its address as its first line, and ends with its stdin.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { createRuntime } from 'turnbuckle';
import { McpFront } from '../../packages/gateway/dist/mcp/mcp-front.js';

const stateDir = await mkdtemp(path.join(os.tmpdir(), 'turnbuckle-conformance-gateway-'));
const runtime = await createRuntime({
  servers: JSON.parse(process.argv[2] ?? '{}'),
  naming: 'server_tool',
  callersAnswer: true,
  defaultDecision: 'allow',
  stateDir,
});
const front = new McpFront({ runtime, version: '0.0.0', views: { plain: { names: 'plain' } } });
const desk = front.desk('plain');
if (desk === undefined) throw new Error('The view is missing.');
const caller = { id: 'referee', capabilities: ['mcp_integration'] };

const http = createServer(async (request, response) => {
  const { host, origin } = request.headers;
  if (!isLocal(`http://${host}`) || (origin !== undefined && !isLocal(origin)))
    return void response.writeHead(403).end();
  if (request.url !== '/mcp') return void response.writeHead(404).end();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const visitor = { request, response, caller, signal: gone.signal };
  if (request.method === 'POST') await front.http.post(desk, visitor, await text(request));
  else if (request.method === 'GET') front.http.get(desk, visitor);
  else if (request.method === 'DELETE') await front.http.delete(desk, visitor);
  else response.writeHead(405, { allow: 'POST' }).end();
});

process.stdin.resume().once('end', async () => {
  http.close();
  await front.close();
  await runtime.close();
  await rm(stateDir, { recursive: true, force: true });
  process.exit();
});
await runtime.connectAll();
http.listen(0, '127.0.0.1', () => {
  const address = http.address();
  process.stdout.write(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp\n`);
});

/** @param {string} origin */
function isLocal(origin) {
  return URL.canParse(origin) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname);
}
