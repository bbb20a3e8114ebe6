/** What a client sends to the gateway about itself is not forwarded. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { modern } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

const seen: IncomingHttpHeaders[] = [];
const ANSWERS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'up', version: '1' },
  },
  'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'seen' }] },
};

/** A server that records every header it gets. */
const upstream = createServer((request, response) => {
  seen.push(request.headers);
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { id, method } = JSON.parse(Buffer.concat(parts).toString('utf8'));
    if (id === undefined) return response.writeHead(202).end();
    const result = ANSWERS[method];
    const error = { code: -32601, message: 'Method not found' };
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(
      JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }),
    );
  });
});

let stand: Stand | undefined;
afterEach(async () => {
  await stand?.close();
  await new Promise((resolve) => upstream.close(resolve));
});

it('its token, its cookies and its own headers never reach a server', async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`;
  stand = await openStand({ servers: { up: { url, headers: { 'x-configured': 'yes' } } } });
  const headers = { cookie: 'session=canary', 'x-secret': 'canary', 'proxy-authorization': 'Basic canary' };
  const call = { method: 'tools/call', params: { name: 'up_look', arguments: {} } };
  expect((await modern(stand, call, { headers })).body.result).toMatchObject({ content: [{ text: 'seen' }] });
  expect(seen.length).toBeGreaterThan(2);
  expect(seen.every((one) => one['x-configured'] === 'yes')).toBe(true);
  expect(JSON.stringify(seen)).not.toMatch(/Bearer|canary/);
});
