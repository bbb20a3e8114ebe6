/** One token takes all it can get: the owner can still revoke it and another agent can call, both at once. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';

/** A second on an idle machine; this one may be busy. */
const AT_ONCE_MS = 4_000;
const LISTEN = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 9, method: 'subscriptions/listen' },
  params: {
    notifications: { toolsListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});

let daemon: ChildDaemon;
let owner: string;
let other: string;
beforeAll(async () => {
  daemon = await childDaemon({ servers: { up: fixture('echo') }, rules: [{ action: 'allow' }] });
  await daemon.call('up', 'echo', { text: 'warm' });
  owner = readFileSync(daemon.directory.file('state/daemon-token'), 'utf8').trim();
  other = await makeToken('other');
});
afterAll(() => daemon.remove());

async function makeToken(name: string): Promise<string> {
  const { body } = await daemon.post('/api/tokens', {
    ...{ name, can: ['mcp_integration'], access: ['call', 'read'] },
  });
  return String(body.token);
}

interface Attack {
  readonly count: number;
  /** What each connection sends. */
  readonly text: (host: string, token: string) => string;
}

const head = (first: string, host: string, token: string): string =>
  `${first} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n`;

const ATTACKS: Readonly<Record<string, Attack>> = {
  'streams without an end': {
    count: 1_100,
    text: (host, token) =>
      `${head('POST /mcp', host, token)}content-type: application/json\r\naccept: text/event-stream\r\n` +
      'mcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\n' +
      `content-length: ${LISTEN.length}\r\n\r\n${LISTEN}`,
  },
  'bodies that do not arrive': {
    count: 1_100,
    text: (host, token) =>
      `${head('POST /mcp/call', host, token)}content-type: application/json\r\ncontent-length: 4000000\r\nexpect: 100-continue\r\n\r\n`,
  },
  'connections that are kept alive': {
    count: 1_100,
    text: (host, token) => `${head('GET /tools', host, token)}\r\n`,
  },
  'connections that send nothing': { count: 1_100, text: () => '' },
};

async function attack({ count, text }: Attack, token: string): Promise<Socket[]> {
  const { host, port } = new URL(daemon.url);
  const sockets: Socket[] = [];
  const heard = new Set<Socket>();
  for (let number = 0; number < count; number += 1) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    socket.on('connect', () => void (text(host, token) !== '' && socket.write(text(host, token))));
    // Each receives something: a rejection, the start of its response, or `100 Continue`.
    socket.on('data', () => heard.add(socket));
    if (number % 100 === 99) await waitUntil(() => sockets.every(isSettled), 20_000);
  }
  if (text(host, token) !== '')
    await waitUntil(() => sockets.every((socket) => heard.has(socket) || socket.destroyed), 60_000);
  return sockets;
}

const isSettled = ({ readyState, destroyed }: Socket): boolean => readyState === 'open' || destroyed;

/** Over a new connection, and in time. */
async function ask(what: string, token = '', body?: object): Promise<string> {
  const began = performance.now();
  const [method, path] = what.split(' ');
  const asked = request(`${daemon.url}${path}`, {
    ...{ method, agent: false },
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
  });
  asked.end(body && JSON.stringify(body));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const said = await textOf(response);
  expect(performance.now() - began).toBeLessThan(AT_ONCE_MS);
  return said;
}

describe('one token with all it can get', () => {
  it.each(Object.entries(ATTACKS))(
    '%s: others are served, and it can be revoked',
    async (_name, what) => {
      const token = await makeToken('greedy');
      const sockets = await attack(what, token);
      try {
        const call = { server: 'up', tool_name: 'echo', arguments: { text: 'me too' } };
        expect(await ask('POST /mcp/call', other, call)).toContain('"success":true');
        expect(await ask('GET /health')).toContain('ok');
        expect(await ask('DELETE /api/tokens/greedy', owner)).toContain('greedy');
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    },
    120_000,
  );
});
