/** A token of an issuer that expires before the body of its request has arrived is no longer valid for that request. */
import { connect } from 'node:net';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  CLOCK_TOLERANCE_MS,
  IdentityEnd,
  isTokenEnded,
  requireActiveToken,
} from '../../src/identity/identity-end.js';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { type Issuer, openIssuer } from './issuer.js';

const RESOURCE = 'https://tools.example/mcp';
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const CALL = { server: 'up', tool_name: 'echo', arguments: { text: 'hi' } };
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const MODERN = 'mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: up_echo\r\n';

/** Where bodies are sent: the path, the body, and further headers. */
const WAYS: Readonly<Record<string, readonly [path: string, body: object, headers?: string]>> = {
  bridge: ['/mcp/call', CALL],
  batch: ['/mcp/calls', { calls: [CALL] }],
  'modern MCP': [
    '/mcp',
    rpc('tools/call', { name: 'up_echo', arguments: { text: 'hi' }, _meta: META }),
    MODERN,
  ],
  'legacy MCP': [
    '/mcp',
    rpc('initialize', {
      ...{ protocolVersion: '2025-11-25', capabilities: {} },
      clientInfo: { name: 'c', version: '1' },
    }),
  ],
  'management API': ['/api/tokens', { name: 'more', can: [], access: ['call'] }],
};

let issuer: Issuer;
let own: OwnDaemon;
beforeEach(async () => {
  issuer = await openIssuer();
  const scopes = { up: { access: ['call', 'read', 'admin'], can: ['mcp_integration'] } };
  own = await ownDaemon({
    servers: { up: fixture('echo') },
    rules: [{ action: 'allow' }],
    daemon: { issuer: { url: issuer.url, resource: RESOURCE, scopes } },
  });
  await own.daemon.configured.runtime.connectAll();
});
afterEach(() => own.close());

/** Sends the head; once it is accepted, returns a function that sends the body. */
async function begin(token: string, way: string): Promise<() => Promise<string>> {
  const [path = '', body = {}, headers = ''] = WAYS[way] ?? [];
  const { host, port } = new URL(own.daemon.url);
  const text = JSON.stringify(body);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  let heard = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    heard += part;
  });
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\nexpect: 100-continue\r\n` +
      `content-type: application/json\r\naccept: application/json, text/event-stream\r\n${headers}` +
      `content-length: ${text.length}\r\n\r\n`,
  );
  await waitUntil(() => heard.includes('\r\n\r\n'));
  expect(heard).toContain('100 Continue');
  heard = '';
  return async () => {
    socket.write(text);
    await waitUntil(() => heard.includes('\r\n\r\n'));
    return heard.split('\r\n')[0] ?? '';
  };
}

const sign = (exp: number): Promise<string> =>
  issuer.sign({ iss: issuer.url, aud: RESOURCE, sub: 'ada', scope: 'up', exp });

describe('a body that arrives', () => {
  it('after its token has expired is refused on every way, and nothing was done', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 5;
    const [short, long] = await Promise.all([sign(exp), sign(exp + 600)]);
    const ways = Object.keys(WAYS);
    const late = await Promise.all(ways.map((way) => begin(short, way)));
    const inTime = await Promise.all(ways.map((way) => begin(long, way)));
    await waitUntil(() => Date.now() >= exp * 1_000 + CLOCK_TOLERANCE_MS, 30_000);
    const statuses = await Promise.all(late.map((send) => send()));
    expect(Object.fromEntries(ways.map((way, at) => [way, statuses[at]]))).toEqual(
      Object.fromEntries(ways.map((way) => [way, 'HTTP/1.1 401 Unauthorized'])),
    );
    const { calls } = (await (await own.fetch('/api/calls')).json()) as { calls: unknown[] };
    expect(calls).toEqual([]);
    expect(await (await own.fetch('/api/tokens')).text()).not.toContain('"more"');
    for (const send of inTime) expect(await send()).toMatch(/^HTTP\/1\.1 20[01] /);
  }, 60_000);
});

describe('an identity', () => {
  it('ends with its token, with some tolerance for clocks that differ', () => {
    const at = (now: number) => () => now;
    expect(isTokenEnded({}, at(1e15))).toBe(false);
    expect(isTokenEnded({ expiresAt: 1_000 }, at(1_000))).toBe(false);
    expect(isTokenEnded({ expiresAt: 1_000 }, at(1_000 + CLOCK_TOLERANCE_MS))).toBe(true);
    const ended = new IdentityEnd();
    expect(isTokenEnded({ ended }, at(0))).toBe(false);
    ended.end();
    expect(isTokenEnded({ ended }, at(0))).toBe(true);
    expect(() => requireActiveToken({ expiresAt: Date.now() - CLOCK_TOLERANCE_MS })).toThrow('has expired');
    expect(() => requireActiveToken(undefined)).not.toThrow();
  });
});
