/** A result of many megabytes at the end of a stream: it arrives whole, however the call is made. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { initialize } from './raw-client.js';
import type { Stand } from './stand.js';

const TEXT = 'y'.repeat(7 * 1_024 * 1_024);
const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'large', version: '1' },
  },
  'tools/list': { tools: [{ name: 'large', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: TEXT }] },
};

/** Reports progress, then answers, both on one stream. */
const large = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += String(part);
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method, params } = JSON.parse(body);
  if (id === undefined) return void response.writeHead(202).end();
  const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
  const result = RESULTS[method];
  if (result === undefined) {
    response.writeHead(200, { 'content-type': 'application/json' });
    return void response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const progressToken = params?._meta?.progressToken;
  for (
    let progress = 1;
    method === 'tools/call' && progressToken !== undefined && progress <= 3;
    progress += 1
  )
    response.write(event({ method: 'notifications/progress', params: { progressToken, progress } }));
  response.end(event({ id, result }));
});

let here: OwnDaemon;
let there: Stand;
beforeAll(async () => {
  await new Promise<void>((resolve) => large.listen(0, '127.0.0.1', resolve));
  here = await ownDaemon({
    servers: { up: { url: `http://127.0.0.1:${(large.address() as AddressInfo).port}/mcp` } },
  });
  there = { url: here.daemon.url } as Stand;
  await here.daemon.configured.runtime.connectAll();
});
afterAll(async () => {
  await here.close();
  large.closeAllConnections();
  large.close();
});

const VERSION = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const NO_CAPABILITIES = { 'io.modelcontextprotocol/clientCapabilities': {} };

async function stream(path: string, body: object, headers: Record<string, string> = {}): Promise<string> {
  const response = await here.fetch(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  return response.text();
}

const call = (meta: object) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'up_large', arguments: {}, _meta: { progressToken: 'p', ...meta } },
});

const WAYS: Readonly<Record<string, () => Promise<string>>> = {
  'a legacy client': async () => {
    const session = await initialize(there, { token: here.daemon.token ?? '' });
    return stream('/mcp', call({}), { 'mcp-session-id': session });
  },
  'a modern client': () =>
    stream('/mcp', call({ ...VERSION, ...NO_CAPABILITIES }), {
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'up_large' },
    }),
  'the bridge': () => stream('/mcp/call', { server: 'up', tool_name: 'large' }),
};

describe('a result of seven megabytes after progress notifications', () => {
  it.each(Object.entries(WAYS))(
    'arrives complete: %s',
    async (_name, ask) => {
      const heard = await ask();
      expect(heard).toContain('progress');
      expect(heard.includes(TEXT)).toBe(true);
      expect(heard.endsWith('\n\n')).toBe(true);
    },
    60_000,
  );
});
