/**
 * A request counts for the memory that it takes once it is parsed, over every transport: a daemon with a small heap
 * survives requests that take many times their size, and others are served meanwhile.
 */
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { type RunningFixture, startFixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ChildDaemon, childDaemon } from '../threats/child-daemon.js';

/** Answers `echo` only. */
const SERVER = `
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.length > 300000) return;
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') return say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
  if (method === 'tools/list') return say(id, { tools: ['wait', 'echo'].map((name) => ({ name, inputSchema: { type: 'object' } })) });
  if (params?.name === 'echo') return say(id, { content: [{ type: 'text', text: 'hi' }] });
});`;
const UP = { command: process.execPath, args: ['-e', SERVER], era: 'legacy' };
const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
const META = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
});
/** 360 KB of text that take about 9 MB parsed. */
const EXPENSIVE = `{"a":[${'{},'.repeat(119_999)}{}]}`;
const LONG = `{"a":"${'x'.repeat(3_900_000)}"}`;

let daemon: ChildDaemon;
let web: RunningFixture;
beforeAll(async () => {
  const rules = [
    { action: 'ask', caller: 'asking*' },
    { action: 'allow', caller: '*' },
  ];
  web = await startFixture('echo', { transport: 'http' });
  const config = { servers: { up: UP, near: UP }, rules, daemon: { bridge: { urls: [web.url] } } };
  daemon = await childDaemon(config, { heapMb: 512 });
  for (const server of ['up', 'near']) await daemon.call(server, 'echo');
}, 60_000);
afterAll(async () => {
  await daemon.remove();
  await web.stop();
});

async function tokenOf(name: string): Promise<string> {
  const named = { name: name.replaceAll(' ', '-').toLowerCase(), can: ['mcp_integration'] };
  const made = await daemon.post('/api/tokens', { ...named, access: ['call', 'read'] });
  expect(made.status).toBeLessThan(300);
  return String(made.body.token);
}

/** Requests and their responses; those without a response are held. */
class Requests {
  readonly answers: string[] = [];
  readonly #open = new Set<ClientRequest>();

  post(path: string, body: string, headers: object): void {
    const asked = request(daemon.url + path, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
    });
    this.#open.add(asked);
    asked.on('response', (response) =>
      textOf(response).then(
        (said) => this.answers.push(said),
        () => {},
      ),
    );
    asked.on('error', () => {});
    asked.end(body);
  }

  leave(): void {
    for (const asked of this.#open) asked.destroy();
  }

  get refused(): number {
    return this.answers.filter((said) => said.includes('OVERLOADED')).length;
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const mcp = { accept: 'application/json, text/event-stream' };

type Send = (args: string) => void;

/** Each way to send arguments. */
const WAYS: Readonly<Record<string, (token: string, all: Requests) => Promise<Send> | Send>> = {
  bridge: (token, all) => (args) =>
    all.post('/mcp/call', `{"server":"up","tool_name":"wait","arguments":${args}}`, bearer(token)),
  batch: (token, all) => (args) =>
    all.post(
      '/mcp/calls',
      `{"calls":[{"server":"up","tool_name":"wait","arguments":${args}}]}`,
      bearer(token),
    ),
  'inline endpoint': (token, all) => (args) =>
    all.post(
      '/mcp/call',
      `{"endpoint":{"url":"${web.url}"},"tool_name":"echo","arguments":${args}}`,
      bearer(token),
    ),
  'modern MCP': (token, all) => (args) =>
    all.post(
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up_wait","arguments":${args},"_meta":${META}}}`,
      {
        ...bearer(token),
        ...mcp,
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'up_wait' },
      },
    ),
  'session of an older client': async (token, all) => {
    const begun = await daemon.fetch('/mcp', {
      method: 'POST',
      headers: { ...bearer(token), ...mcp },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: CLIENT }),
    });
    const session = begun.headers.get('mcp-session-id') ?? '';
    return (args) =>
      all.post(
        '/mcp',
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up_wait","arguments":${args}}}`,
        { ...bearer(token), ...mcp, 'mcp-session-id': session },
      );
  },
  stdio: async (token, all) => {
    const { port, host } = new URL(daemon.url);
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    all.leave = () => socket.destroy();
    socket.write(`CONNECT mcp-stdio:0 HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`);
    let rest = '';
    let id = 0;
    await new Promise<void>((resolve) => socket.once('data', () => resolve()));
    socket.setEncoding('utf8').on('data', (part: string) => {
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      all.answers.push(...lines);
    });
    return (args) => {
      id += 1;
      socket.write(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"up_wait","arguments":${args},"_meta":${META}}}\n`,
      );
    };
  },
};

/** How many calls wait for approval. */
async function waiting(): Promise<number> {
  const response = await daemon.fetch('/api/approvals');
  const { approvals } = (await response.json()) as { approvals: unknown[] };
  return approvals.length;
}

const expectNeighbour = async (token: string): Promise<void> => {
  const call = { server: 'near', tool_name: 'echo', arguments: { pad: 'x'.repeat(100_000) } };
  expect((await daemon.post('/mcp/call', call, token)).body).toMatchObject({ success: true });
};

describe('calls that wait for approval', () => {
  it.each(Object.keys(WAYS))(
    'take the share of their caller, counted as values, and others are served: %s',
    async (way) => {
      const token = await tokenOf(`asking ${way}`);
      const other = await tokenOf(`other ${way}`);
      const all = new Requests();
      const send = await WAYS[way]?.(token, all);
      for (let sent = 0; sent < 12; sent += 1) send?.(EXPENSIVE);
      await waitUntil(async () => all.answers.length + (await waiting()) === 12, 60_000);
      expect(all.refused).toBe(all.answers.length);
      const held = await waiting();
      expect(held).toBeGreaterThan(0);
      // Counted by their bytes, all 12 would fit.
      expect(held).toBeLessThan(5);
      await expectNeighbour(other);
      all.leave();
      await waitUntil(async () => (await waiting()) === 0, 20_000);
      // What they held is free again.
      const again = new Requests();
      (await WAYS[way]?.(token, again))?.(EXPENSIVE);
      await waitUntil(async () => again.answers.length + (await waiting()) === 1, 20_000);
      expect(again.answers).toEqual([]);
      again.leave();
      await waitUntil(async () => (await waiting()) === 0, 20_000);
    },
    120_000,
  );
});

describe('a daemon with a small heap', () => {
  it.each([
    ['60 calls with very many values that wait for approval', EXPENSIVE, ['asking crowd']],
    ['120 calls of 3.9 MB that wait for a server', LONG, ['ada', 'bob']],
  ])(
    'survives %s',
    async (_, args, names) => {
      const other = await tokenOf(`neighbour of ${names[0]}`);
      const all = new Requests();
      for (const name of names) {
        const send = await WAYS.bridge?.(await tokenOf(name), all);
        for (let sent = 0; sent < 60; sent += 1) send?.(args);
      }
      // More than half of all are refused, and no other answer is given.
      await waitUntil(() => all.refused > names.length * 30, 60_000);
      for (let round = 0; round < 20; round += 1) await expectNeighbour(other);
      expect(all.refused).toBe(all.answers.length);
      all.leave();
      await expectNeighbour(daemon.token);
      expect(daemon.child.exitCode).toBeNull();
    },
    120_000,
  );
});
