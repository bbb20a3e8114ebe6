/** The name of a view of which a caller can use nothing is answered like one that no view has, on every way in. */

import { connect } from 'node:net';
import { waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { openUpstream, type Upstream } from '../threats/upstream.js';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'c', version: '1' },
};
const message = (method: string, params: object, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const BOTH = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const modernHeaders = (method: string) => ({
  ...BOTH,
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
});

/** Of both eras, well made and not. */
const REQUESTS: Readonly<Record<string, RequestInit & { headers?: Record<string, string> }>> = {
  'modern list': {
    method: 'POST',
    headers: modernHeaders('tools/list'),
    body: message('tools/list', { _meta: META }),
  },
  'modern discover': {
    method: 'POST',
    headers: modernHeaders('server/discover'),
    body: message('server/discover', { _meta: META }),
  },
  'modern with the wrong header': {
    method: 'POST',
    headers: modernHeaders('tools/call'),
    body: message('tools/list', { _meta: META }),
  },
  'a revision that is none': {
    method: 'POST',
    headers: { ...BOTH, 'mcp-protocol-version': '1999-01-01' },
    body: message('tools/list', {}),
  },
  'legacy initialize': { method: 'POST', headers: BOTH, body: message('initialize', INITIALIZE) },
  'legacy without a session': { method: 'POST', headers: BOTH, body: message('tools/list', {}) },
  'legacy with a session that is none': {
    method: 'POST',
    headers: { ...BOTH, 'mcp-session-id': 'none' },
    body: message('tools/list', {}),
  },
  'no JSON': { method: 'POST', headers: BOTH, body: '{' },
  'no body': { method: 'POST', headers: BOTH },
  'GET without a session': { method: 'GET', headers: { accept: 'text/event-stream' } },
  'GET with a session that is none': {
    method: 'GET',
    headers: { accept: 'text/event-stream', 'mcp-session-id': 'none' },
  },
  'DELETE without a session': { method: 'DELETE' },
  'DELETE with a session that is none': { method: 'DELETE', headers: { 'mcp-session-id': 'none' } },
  'a method that is none': { method: 'PUT' },
};

const CALLERS = { worded: ['mcp:open'], ruled: ['mcp_integration'], bare: [], other: ['mcp_openly_look'] };
const VIEWS = ['there', 'plain', 'narrow'] as const;

let own: OwnDaemon;
let ups: Upstream[];
const tokens = new Map<string, string>();
beforeAll(async () => {
  const tools = [{ name: 'look', inputSchema: { type: 'object' } }];
  ups = [await openUpstream({ tools }), await openUpstream({ tools })];
  own = await ownDaemon({
    servers: {
      open: { url: ups[0]?.url },
      secret: { url: ups[1]?.url },
      away: { url: 'http://127.0.0.1:9/mcp', start: 'lazy' },
    },
    rules: [{ action: 'deny', server: 'secret', caller: 'ruled' }, { action: 'allow' }],
    daemon: {
      views: {
        there: { servers: ['secret'] },
        plain: { servers: ['secret'], names: 'plain' },
        narrow: { servers: ['secret'], tools: ['look'], capabilities: ['mcp:secret/look'] },
        all: { names: 'plain' },
        away: { servers: ['away'] },
      },
    },
  });
  await own.daemon.configured.runtime.connectAll();
  const all = { ...CALLERS, able: ['mcp:secret/look'], afar: ['mcp:away/thing'] };
  for (const [name, can] of Object.entries(all)) {
    const { body } = await own.post('/api/tokens', { name, can, access: ['call'] });
    tokens.set(name, String(body.token));
  }
});
afterAll(async () => {
  await own.close();
  for (const up of ups) await up.close();
});

/** Everything of an answer but when it was given, which request it was, and how the view was called. */
async function told(view: string, request: RequestInit, token: string): Promise<string> {
  const { headers, ...rest } = request;
  const response = await own.fetch(`/mcp/${view}`, {
    ...rest,
    headers: { authorization: `Bearer ${token}`, ...(headers as Record<string, string>) },
    token,
  });
  const names = [...response.headers].filter(([name]) => name !== 'date');
  const text = JSON.stringify([response.status, names, await response.text()]);
  return text.replaceAll(view, 'VIEW').replace(/"(x-request-id|requestId)[\\]*",?:?[\\]*"[^"]*"/g, '');
}

async function tunnel(view: string, token: string): Promise<string> {
  const { host, port } = new URL(own.daemon.url);
  const socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const lines = [`host: ${host}`, `authorization: Bearer ${token}`, `turnbuckle-view: ${view}`];
  socket.write(['CONNECT mcp-stdio:0 HTTP/1.1', ...lines, '', ''].join('\r\n'));
  await waitUntil(() => text.includes('\r\n\r\n'));
  socket.destroy();
  return text.replaceAll(view, 'VIEW').replace(/^date: .*$/im, '');
}

const ABSENT: Readonly<Record<(typeof VIEWS)[number], string>> = {
  there: 'gone5',
  plain: 'gone6',
  narrow: 'gone_7',
};

describe.each(Object.keys(CALLERS))('to %s', (caller) => {
  it.each(Object.keys(REQUESTS))('%s says nothing', async (name) => {
    const request = REQUESTS[name] ?? {};
    const token = tokens.get(caller) ?? '';
    for (const view of VIEWS) {
      const there = await told(view, request, token);
      expect(there).toBe(await told(ABSENT[view], request, token));
      if (request.method !== 'PUT') expect(there).toMatch(/^\[404,/);
    }
  });

  it('nor does a tunnel', async () => {
    const token = tokens.get(caller) ?? '';
    for (const view of VIEWS) {
      const there = await tunnel(view, token);
      expect(there).toMatch(/^HTTP\/1.1 404/);
      expect(there).toBe(await tunnel(ABSENT[view], token));
    }
  });
});

it.each([
  ['able', 'there'],
  ['able', 'plain'],
  ['able', 'narrow'],
  ['able', 'all'],
  ['worded', 'all'],
  ['afar', 'away'],
  ['ruled', 'all'],
  ['ruled', 'away'],
])('who can use something there finds it: %s in %s', async (caller, view) => {
  const request = REQUESTS['legacy initialize'] ?? {};
  expect(await told(view, request, tokens.get(caller) ?? '')).toMatch(/^\[200,/);
});

it('is there for the owner', async () => {
  for (const view of VIEWS)
    expect(await told(view, REQUESTS['legacy initialize'] ?? {}, own.daemon.token)).toMatch(/^\[200,/);
});
