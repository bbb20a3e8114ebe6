// node gateway-process.mjs '<servers as JSON>'
// A gateway in front of these servers; prints its URL as its first line, and ends when stdin closes.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { createRuntime } from 'turnbuckle';
import { McpEndpoint } from '../../packages/gateway/dist/mcp/mcp-endpoint.js';

const stateDir = await mkdtemp(path.join(os.tmpdir(), 'turnbuckle-conformance-gateway-'));
const runtime = await createRuntime({
  servers: JSON.parse(process.argv[2] ?? '{}'),
  naming: 'server_tool',
  callersAnswer: true,
  defaultDecision: 'allow',
  stateDir,
});
const endpoint = new McpEndpoint({ runtime, version: '0.0.0', views: { plain: { names: 'plain' } } });
const viewContext = endpoint.viewContext('plain');
if (viewContext === undefined) throw new Error('The view is missing.');
const caller = { id: 'referee', capabilities: ['mcp_integration'] };

const http = createServer(async (request, response) => {
  const { host, origin } = request.headers;
  if (!isLocal(`http://${host}`) || (origin !== undefined && !isLocal(origin)))
    return void response.writeHead(403).end();
  if (request.url !== '/mcp') return void response.writeHead(404).end();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const context = { request, response, caller, signal: gone.signal };
  if (request.method === 'POST') await endpoint.http.post(viewContext, context, await text(request));
  else if (request.method === 'GET') endpoint.http.get(viewContext, context);
  else if (request.method === 'DELETE') await endpoint.http.delete(viewContext, context);
  else response.writeHead(405, { allow: 'POST' }).end();
});

process.stdin.resume().once('end', async () => {
  http.close();
  await endpoint.close();
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
