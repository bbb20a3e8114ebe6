/** Clients over stdin and stdout through the daemon: they are authenticated, and none can act as another. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

let own: OwnDaemon;
let little: string;
beforeAll(async () => {
  own = await ownDaemon({
    servers: { echo: fixture('echo'), vetted: { ...fixture('echo'), requires: ['mcp_vetted'] } },
    daemon: {
      views: { small: { tools: ['add'] }, vetted: { capabilities: ['mcp_integration', 'mcp_vetted'] } },
    },
    rules: [
      { action: 'deny', tool: 'pid', caller: 'named' },
      { action: 'allow', caller: ['named', 'stdio:*', 'little'] },
    ],
  });
  await own.daemon.configured.runtime.connectAll();
  const made = await own.post('/api/tokens', { name: 'little', can: ['mcp:echo/add'], access: ['call'] });
  little = String(made.body.token);
  await own.post('/api/tokens', { name: 'named', can: ['mcp_integration'], access: ['call'] });
});
afterAll(() => own.close());

interface Tunnel {
  readonly socket: Socket;
  text(): string;
  ask(id: number, method: string, params: object): Promise<{ result?: object; error?: object }>;
}

async function open(
  headers: Readonly<Record<string, string | undefined>> = {},
  target = 'mcp-stdio:0',
): Promise<Tunnel> {
  const { host, port } = new URL(own.daemon.url);
  const socket = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => {});
  const all = { host, authorization: `Bearer ${own.daemon.token}`, ...headers };
  const lines = Object.entries(all).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${value}`],
  );
  socket.write([`CONNECT ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  await waitUntil(() => text.includes('\r\n\r\n'));
  const answerTo = (id: number) =>
    text
      .slice(text.indexOf('\r\n\r\n') + 4)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .find((message) => message.id === id);
  return {
    socket,
    text: () => text,
    ask: async (id, method, params) => {
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      await waitUntil(() => answerTo(id) !== undefined);
      return answerTo(id);
    },
  };
}

const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'some Client!', version: '1' },
};
const MODERN = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'new/Client', version: '1' },
  },
};
const lastCall = async () => {
  const { calls } = (await (await own.fetch('/api/calls?limit=1')).json()) as { calls: object[] };
  return calls[0];
};

it.each([
  ['no token', { authorization: undefined }, 401],
  ['a wrong token', { authorization: 'Bearer tbk_wrong' }, 401],
  ['another host', { host: 'evil.example' }, 421],
  ['a web page', { origin: 'https://evil.example' }, 403],
  ['the name of the owner', { 'turnbuckle-caller': 'owner' }, 422],
  ['the name of the host', { 'turnbuckle-caller': 'host' }, 422],
  ['an invalid name', { 'turnbuckle-caller': 'a b' }, 422],
  ['the name of no token', { 'turnbuckle-caller': 'nobody' }, 403],
  ['an invalid capability', { 'turnbuckle-capabilities': 'everything' }, 422],
  ['an unknown view', { 'turnbuckle-view': 'big' }, 404],
])('refuses %s', async (_what, headers, status) => {
  const { text, socket } = await open(headers);
  expect(text()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  if (!socket.closed) await once(socket, 'close');
});

it.each([{ 'turnbuckle-caller': 'named' }, { 'turnbuckle-capabilities': 'mcp_integration' }])(
  "lets no token but the owner's act as another: %j",
  async (headers) => {
    const { text } = await open({ authorization: `Bearer ${little}`, ...headers });
    expect(text()).toMatch(/^HTTP\/1.1 403 /);
  },
);

it('rejects a CONNECT to any other target', async () => {
  expect((await open({}, 'example.com:443')).text()).toMatch(/^HTTP\/1.1 405 /);
});

it('takes a client for what it calls itself, never for the owner', async () => {
  const { ask } = await open();
  await ask(1, 'initialize', HELLO);
  expect((await ask(2, 'tools/call', { name: 'echo_add', arguments: { a: 1, b: 2 } })).result).toMatchObject({
    structuredContent: { sum: 3 },
  });
  await expect.poll(lastCall).toMatchObject({ caller: 'stdio:some-Client', tool: 'add', outcome: 'ok' });
  const modern = await open();
  await modern.ask(1, 'tools/call', { ...MODERN, name: 'echo_add', arguments: { a: 1, b: 2 } });
  await expect.poll(lastCall).toMatchObject({ caller: 'stdio:new-Client' });
});

it('applies the rules, the capabilities and the view of its caller', async () => {
  const named = await open({ 'turnbuckle-caller': 'named' });
  await named.ask(1, 'initialize', HELLO);
  const call = { name: 'echo_pid', arguments: {} };
  expect((await named.ask(2, 'tools/call', call)).error).toMatchObject({ data: { code: 'TOOL_UNKNOWN' } });
  await expect.poll(lastCall).toMatchObject({ caller: 'named', code: 'TOOL_UNKNOWN' });
  const names = async (headers: Record<string, string>): Promise<string> => {
    const { ask } = await open(headers);
    await ask(1, 'initialize', HELLO);
    return JSON.stringify((await ask(2, 'tools/list', {})).result);
  };
  for (const headers of [
    { 'turnbuckle-view': 'small' },
    { 'turnbuckle-capabilities': 'mcp:echo/add' },
    // What its token may see, and no more.
    { 'turnbuckle-caller': 'little' },
    { authorization: `Bearer ${little}` },
  ]) {
    const listed = await names(headers);
    expect(listed).toContain('"echo_add"');
    expect(listed).not.toContain('echo_echo');
  }
});

it('limits the capabilities of its token, and gives none', async () => {
  const names = async (headers: Record<string, string>): Promise<string> => {
    const { ask } = await open(headers);
    await ask(1, 'initialize', HELLO);
    return JSON.stringify((await ask(2, 'tools/list', {})).result);
  };
  const named = { 'turnbuckle-caller': 'named' };
  const vetted = { 'turnbuckle-capabilities': 'mcp_integration mcp_vetted' };
  for (const headers of [
    { ...named, ...vetted },
    { ...named, 'turnbuckle-view': 'vetted' },
  ]) {
    const listed = await names(headers);
    expect(listed).toContain('"echo_echo"');
    expect(listed).not.toContain('vetted_');
  }
  expect(await names({ ...vetted, ...named, 'turnbuckle-view': 'vetted' })).not.toContain('vetted_');
  expect(await names({ ...named, 'turnbuckle-capabilities': 'mcp:echo/add' })).not.toContain('echo_echo');
  // The same token a moment later, with other limits, in a view.
  const [wide, small] = [
    await names({ ...named, 'turnbuckle-view': 'small', 'turnbuckle-capabilities': 'mcp:echo' }),
    await names({ ...named, 'turnbuckle-view': 'small', 'turnbuckle-capabilities': 'mcp:echo/echo' }),
  ];
  expect(wide).toContain('echo_add');
  expect(small).not.toContain('echo_add');
  // Without a token it has what the owner gives it.
  expect(await names(vetted)).toContain('vetted_echo');
});

it('ends with the token that it was opened with', async () => {
  const made = await own.post('/api/tokens', { name: 'short', can: ['mcp_integration'], access: ['call'] });
  const { ask, socket } = await open({ authorization: `Bearer ${String(made.body.token)}` });
  await ask(1, 'initialize', HELLO);
  const closed = once(socket, 'close');
  await own.fetch('/api/tokens/short', { method: 'DELETE' });
  await closed;
});

it('ends with the token that it acts as, and no client inherits its responses', async () => {
  const create = () => own.post('/api/tokens', { name: 'guest', can: ['mcp:echo'], access: ['call'] });
  await create();
  const begin = async (): Promise<Tunnel> => {
    const tunnel = await open({ 'turnbuckle-caller': 'guest' });
    await tunnel.ask(1, 'initialize', HELLO);
    return tunnel;
  };
  const first = await begin();
  const asked = () => own.daemon.configured.runtime.approvals.pending()[0];
  const call = { name: 'echo_add', arguments: { a: 1, b: 2 } };
  const answer = first.ask(2, 'tools/call', call);
  await waitUntil(() => asked() !== undefined);
  await own.post(`/api/approvals/${asked()?.id}`, { answer: 'session' });
  expect((await answer).result).toMatchObject({ structuredContent: { sum: 3 } });
  const closed = once(first.socket, 'close');
  await own.fetch('/api/tokens/guest', { method: 'DELETE' });
  await closed;
  await create();
  const second = await begin();
  const again = second.ask(2, 'tools/call', call);
  await waitUntil(() => asked() !== undefined);
  await own.post(`/api/approvals/${asked()?.id}`, { answer: 'deny' });
  expect((await again).result).toMatchObject({ isError: true });
});

it('answers requests that offer another protocol as usual', async () => {
  const { host, port } = new URL(own.daemon.url);
  const socket = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(
    [
      'GET /health HTTP/1.1',
      `host: ${host}`,
      'connection: Upgrade, HTTP2-Settings',
      'upgrade: h2c',
      'http2-settings: AAMAAABkAAQAAP__',
      '',
      '',
    ].join('\r\n'),
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
});

it.each([
  [
    'one call',
    (size: number) => JSON.stringify({ id: 7, method: 'tools/call', params: 'x'.repeat(size) }),
    7,
  ],
  ['no JSON', (size: number) => 'x'.repeat(size), null],
  ['nothing', (size: number) => ' '.repeat(size), null],
])(
  'a line that is too long is refused, and the next one is answered: %s',
  async (_what, make, id) => {
    const { socket, ask, text } = await open();
    await ask(1, 'initialize', HELLO);
    for (const size of [4 * 1_024 * 1_024 + 1, 30_000_000]) socket.write(`${make(size)}\n`);
    expect((await ask(99, 'tools/list', {})).result).toHaveProperty('tools');
    const refused = text()
      .split('\n')
      .filter((line) => line.includes('REQUEST_TOO_LARGE'))
      .map((line) => JSON.parse(line));
    expect(refused).toMatchObject([{ id }, { id }]);
    expect(refused[0].error.message).toBe('The message is longer than 4194304 characters.');
  },
  30_000,
);
