/**
 * A token is revoked while one of its large messages is being read, over every transport. Once the revocation has been
 * answered, the message has no effect.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { type TemporaryDirectory, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { Cancellation } from 'turnbuckle/host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { McpEndpoint } from '../../src/mcp/mcp-endpoint.js';
import { initialize } from '../mcp/raw-client.js';
import { EVERYTHING, type Stand } from '../mcp/stand.js';
import { type OwnDaemon, ownDaemon } from './own-daemon.js';

/** Records every call that reaches it. */
const SERVER = `
const note = (text) => require('node:fs').appendFileSync(process.argv[1], text + '\\n');
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') return say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {}, prompts: {}, resources: {} }, serverInfo: { name: 'x', version: '1' } });
  if (method === 'tools/list') return say(id, { tools: ['note', 'asked'].map((name) => ({ name, inputSchema: { type: 'object' } })) });
  if (method === 'resources/list') return say(id, { resources: [] });
  if (method === 'prompts/list') return say(id, { prompts: [] });
  if (method === 'tools/call') { note(params.arguments.mark); return say(id, { content: [] }); }
  if (method === 'resources/read') { note(params.uri); return say(id, { contents: [] }); }
  if (method === 'prompts/get') { note(params.name); return say(id, { messages: [] }); }
  if (id !== undefined) say(id, {});
});`;
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const ACCEPT = { accept: 'application/json, text/event-stream' };
/** Takes a while to be read, and is below every limit. */
const PAD = `[${Array(100_000).fill('{"a":1.5e1}').join(',')},"${'y'.repeat(2_400_000)}"]`;
/** Padding for bodies that accept no other keys. */
const BLANK = ' '.repeat(3_900_000);
const COPIES = 4;
const SLOW_MS = 120_000;

let own: OwnDaemon;
let directory: TemporaryDirectory;
const there = (): Stand => ({ url: own.daemon.url }) as Stand;
const runtime = () => own.daemon.configured.runtime;
const seen = (): string[] => {
  try {
    return readFileSync(directory.file('seen'), 'utf8').split('\n');
  } catch {
    return [];
  }
};

beforeAll(async () => {
  directory = await temporaryDirectory();
  const server = { command: process.execPath, args: ['-e', SERVER, directory.file('seen')] };
  own = await ownDaemon({
    servers: { up: server },
    rules: [{ action: 'ask', tool: 'asked' }, { action: 'allow' }],
    daemon: {
      views: { all: {} },
      bridge: { commands: [[server.command, ...server.args]] },
    },
  });
  await runtime().connectAll();
});
afterAll(async () => {
  await own.close();
  await directory.remove();
});

let count = 0;
async function makeToken(): Promise<{ readonly name: string; readonly token: string }> {
  count += 1;
  const name = `agent${count}`;
  const made = await own.post('/api/tokens', {
    name,
    can: ['mcp_integration'],
    access: ['call', 'read', 'admin'],
  });
  return { name, token: String(made.body.token) };
}
async function revoke(name: string): Promise<void> {
  expect((await own.fetch(`/api/tokens/${name}`, { method: 'DELETE' })).status).toBe(200);
}

/** A large message of which the end has not been sent. */
interface Held {
  finish(): void;
  /** The complete response. */
  readonly over: Promise<string>;
}

async function hold(socket: Socket, text: string, isAll: (heard: string) => boolean): Promise<Held> {
  let heard = '';
  const over = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(heard));
    socket.on('data', (part) => {
      heard += String(part);
      if (isAll(heard)) resolve(heard);
    });
  });
  socket.on('error', () => {});
  // Of several lines, the first is the large one: it is cut before its newline.
  const cut = text.indexOf('\n', text.length / 2);
  const at = cut === -1 ? text.length - 1 : cut;
  socket.write(text.slice(0, at));
  await waitUntil(() => socket.writableLength === 0 || socket.destroyed);
  return { finish: () => void socket.write(text.slice(at)), over };
}

const dial = (): Socket => connect(Number(new URL(own.daemon.url).port), '127.0.0.1');

interface Request {
  readonly path: string;
  readonly body: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

function holdRequest(token: string, { path, body, method = 'POST', headers = {} }: Request): Promise<Held> {
  const lines = Object.entries({
    host: new URL(own.daemon.url).host,
    authorization: `Bearer ${token}`,
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...headers,
  }).map(([key, value]) => `${key}: ${value}`);
  return hold(dial(), `${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`, () => false);
}

const line = (id: number, method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`;
const callParams = (mark: string, more = ''): string =>
  `{"name":"up_note","arguments":{"mark":"${mark}"}${more}}`;
/** A long line without effect, followed by short calls. */
const longThenShort = (mark: string): string =>
  line(2, 'ping', `{"x":${PAD}}`) + [3, 4, 5].map((id) => line(id, 'tools/call', callParams(mark))).join('');

async function holdTunnel(token: string, text: string, headers: readonly string[] = []): Promise<Held> {
  const socket = dial();
  const { host } = new URL(own.daemon.url);
  const lines = [
    'CONNECT mcp-stdio:0 HTTP/1.1',
    `host: ${host}`,
    `authorization: Bearer ${token}`,
    ...headers,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${line(1, 'initialize', JSON.stringify(HELLO))}`);
  return hold(socket, text, (heard) => heard.includes('"id":5,') || heard.includes('"id":9,'));
}

interface Way {
  readonly name: string;
  readonly hold: (agent: { name: string; token: string }, mark: string) => Promise<Held>;
  /** By default: the server has recorded the mark. */
  readonly hasEffect?: (mark: string, answers: readonly string[]) => boolean | Promise<boolean>;
}

const mcp = (
  method: string,
  params: string,
  headers: Record<string, string> = {},
  path = '/mcp',
): Request => ({
  path,
  body: line(1, method, params),
  headers: { ...ACCEPT, ...headers },
});
const modernCall = (mark: string, path: string): Request =>
  mcp(
    'tools/call',
    callParams(mark, `,"_meta":${JSON.stringify({ ...META, x: '@' }).replace('"@"', PAD)}`),
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'up_note' },
    path,
  );
const bridgeCall = (mark: string, where: object): string =>
  JSON.stringify({ ...where, tool_name: 'note', arguments: { mark, pad: '@' } }).replace('"@"', PAD);
const padded = (body: object): string => JSON.stringify(body).replace(/\}$/, `${BLANK}}`);

async function pendingApproval(mark: string): Promise<string> {
  const find = () =>
    runtime()
      .approvals.pending()
      .find((one) => JSON.stringify(one).includes(mark))?.id;
  if (find() === undefined) {
    const { token } = await makeToken();
    void own
      .post('/mcp/call', { server: 'up', tool_name: 'asked', arguments: { mark } }, token)
      .catch(() => {});
  }
  await waitUntil(() => find() !== undefined);
  return find() ?? '';
}

const WAYS: readonly Way[] = [
  {
    name: 'bridge',
    hold: ({ token }, mark) =>
      holdRequest(token, { path: '/mcp/call', body: bridgeCall(mark, { server: 'up' }) }),
  },
  {
    name: 'batch',
    hold: ({ token }, mark) => {
      const call = JSON.stringify({ server: 'up', tool_name: 'note', arguments: { mark } });
      const calls = [bridgeCall(mark, { server: 'up' }), ...Array(40).fill(call)];
      return holdRequest(token, { path: '/mcp/calls', body: `{"calls":[${calls.join(',')}]}` });
    },
  },
  {
    name: 'inline endpoint',
    hold: ({ token }, mark) => {
      const endpoint = { command: process.execPath, args: ['-e', SERVER, directory.file('seen')] };
      return holdRequest(token, { path: '/mcp/call', body: bridgeCall(mark, { endpoint }) });
    },
  },
  {
    name: 'resource',
    hold: ({ token }, mark) =>
      holdRequest(token, { path: '/resources/read', body: padded({ server: 'up', uri: mark }) }),
  },
  {
    name: 'prompt',
    hold: ({ token }, mark) =>
      holdRequest(token, { path: '/prompts/get', body: padded({ server: 'up', name: mark }) }),
  },
  { name: 'MCP modern', hold: ({ token }, mark) => holdRequest(token, modernCall(mark, '/mcp')) },
  { name: 'view', hold: ({ token }, mark) => holdRequest(token, modernCall(mark, '/mcp/all')) },
  {
    name: 'MCP legacy',
    hold: async ({ token }, mark) => {
      const headers = { 'mcp-session-id': await initialize(there(), { token }) };
      return holdRequest(token, mcp('tools/call', callParams(mark, `,"x":${PAD}`), headers));
    },
  },
  {
    name: 'new session',
    hold: ({ token }) =>
      holdRequest(token, mcp('initialize', JSON.stringify({ ...HELLO, x: '@' }).replace('"@"', PAD))),
    hasEffect: (_mark, answers) => answers.some((answer) => /^mcp-session-id:/im.test(answer)),
  },
  { name: 'tunnel', hold: ({ token }, mark) => holdTunnel(token, longThenShort(mark)) },
  {
    name: 'tunnel, one long call',
    hold: ({ token }, mark) => holdTunnel(token, line(9, 'tools/call', callParams(mark, `,"x":${PAD}`))),
  },
  {
    name: "tunnel of the owner for the token's name",
    hold: ({ name }, mark) =>
      holdTunnel(own.daemon.token ?? '', longThenShort(mark), [`turnbuckle-caller: ${name}`]),
  },
  {
    name: 'new token',
    hold: ({ token }, mark) => {
      const body = padded({ name: `${mark}.${Math.random()}`, can: ['mcp_integration'], access: ['call'] });
      return holdRequest(token, { path: '/api/tokens', body });
    },
    hasEffect: async (mark) => (await (await own.fetch('/api/tokens')).text()).includes(mark),
  },
  {
    name: 'new server',
    hold: ({ token }, mark) => {
      const config = { command: process.execPath, args: ['-e', ''], start: 'lazy' };
      return holdRequest(token, { path: '/api/servers', body: padded({ name: mark, config }) });
    },
    hasEffect: (mark) => runtime().serverNames().includes(mark),
  },
  {
    name: 'approval',
    hold: async ({ token }, mark) => {
      const path = `/api/approvals/${await pendingApproval(mark)}`;
      return holdRequest(token, { path, body: padded({ answer: 'once' }) });
    },
  },
  {
    name: 'pin',
    hold: ({ token }) => holdRequest(token, { path: '/api/pins/up/note', body: padded({}) }),
    hasEffect: async () => {
      const has = runtime()
        .pins.list()
        .some(({ tool }) => tool === 'note');
      if (has) await runtime().pins.unpin('up', 'note');
      return has;
    },
  },
];

/** Everything sent before has been handled once the same message, sent now, has been. */
async function waitForEarlierMessages(): Promise<void> {
  const held = await holdTunnel(own.daemon.token ?? '', longThenShort('neighbour'));
  held.finish();
  await held.over;
}

describe.each(WAYS)('$name', (way) => {
  const effectOf = async (mark: string, answers: readonly string[]): Promise<boolean> =>
    (await way.hasEffect?.(mark, answers)) ?? seen().includes(mark);

  it('has its effect while the token is valid', { timeout: SLOW_MS }, async () => {
    const mark = `good${WAYS.indexOf(way)}`;
    const held = await way.hold(await makeToken(), mark);
    held.finish();
    const answers = [await held.over];
    await waitUntil(() => effectOf(mark, answers), 20_000);
  });

  it('has none where it was revoked meanwhile', { timeout: SLOW_MS }, async () => {
    const mark = `late${WAYS.indexOf(way)}`;
    const agent = await makeToken();
    const all = await Promise.all(Array.from({ length: COPIES }, () => way.hold(agent, mark)));
    // Everything but the end has been read by now.
    for (let n = 0; n < 300; n += 1) await turn();
    for (const { finish } of all) finish();
    await turn();
    await revoke(agent.name);
    const answers = await Promise.all(all.map(({ over }) => over));
    await waitForEarlierMessages();
    expect(await effectOf(mark, answers)).toBe(false);
  });
});

it('a message over stdin without a daemon has no effect once its caller has ended', {
  timeout: SLOW_MS,
}, async () => {
  const endpoint = new McpEndpoint({ runtime: runtime(), version: '0', isSingleClient: true });
  const [input, output, ended] = [new PassThrough(), new PassThrough().resume(), new Cancellation()];
  const serving = endpoint.serveStdio({ input, output, ended, caller: EVERYTHING, maxBytes: 64_000_000 });
  input.write(line(1, 'initialize', JSON.stringify(HELLO)) + line(2, 'tools/call', callParams('stdio-good')));
  await waitUntil(() => seen().includes('stdio-good'));
  input.write(longThenShort('stdio-late'));
  // The end of the input does not discard what was read before.
  input.end();
  for (let n = 0; n < 3; n += 1) await turn();
  ended.cancel();
  await serving;
  await waitForEarlierMessages();
  expect(seen()).not.toContain('stdio-late');
  await endpoint.close();
});

it('every route that reads a body reports the revoked token', { timeout: SLOW_MS }, async () => {
  const { paths } = (await (await own.fetch('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { readonly requestBody?: unknown }>>;
  };
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { requestBody }]) => requestBody !== undefined)
      .map(([method]) => ({
        method: method.toUpperCase(),
        path: path
          .replaceAll('{view}', 'all')
          .replaceAll('{tool}', 'note')
          .replaceAll(/\{[^}]*\}/g, 'up'),
      })),
  );
  expect(all.length).toBeGreaterThan(15);
  const answers: string[] = [];
  for (let from = 0; from < all.length; from += COPIES) {
    const agent = await makeToken();
    const some = all.slice(from, from + COPIES);
    const held = await Promise.all(
      some.map((one) => holdRequest(agent.token, { ...one, headers: ACCEPT, body: `{${BLANK}}` })),
    );
    for (let n = 0; n < 300; n += 1) await turn();
    for (const { finish } of held) finish();
    await turn();
    await revoke(agent.name);
    for (const [index, { over }] of held.entries())
      answers.push(`${some[index]?.method} ${some[index]?.path} ${/^HTTP\/1.1 (\d+)/.exec(await over)?.[1]}`);
  }
  // Or the connection is closed. The exceptions: a call that is not in the log, and a route that accepts only small bodies.
  expect(answers.filter((one) => !/ (401|undefined)$/.test(one)).sort()).toEqual([
    'POST /api/calls/up/replay 404',
    'POST /api/rules/test 413',
  ]);
});

describe('queued changes of a revoked token', () => {
  it('are not made: servers', { timeout: SLOW_MS }, async () => {
    const config = { command: process.execPath, start: 'lazy' };
    const { file } = (await own.post('/api/servers', { name: 'first', config })).body;
    const written = (): number => (readFileSync(String(file), 'utf8').match(/queued/g) ?? []).length;
    const agent = await makeToken();
    const all = Array.from({ length: 40 }, (_, n) =>
      own.post('/api/servers', { name: `queued${n}`, config }, agent.token),
    );
    await waitUntil(() => written() > 0, 20_000);
    await revoke(agent.name);
    // One change may be in progress.
    const most = written() + 1;
    const answers = await Promise.allSettled(all);
    expect(written()).toBeLessThanOrEqual(most);
    expect(JSON.stringify(answers)).toContain('TOKEN_REQUIRED');
  });

  it('are not made: pins', async () => {
    const gone = (): never => {
      throw new Error('gone');
    };
    await expect(runtime().pins.pin('up', 'note', gone)).rejects.toThrow('gone');
    expect(runtime().pins.list()).toEqual([]);
    await runtime().pins.pin('up', 'note');
    await expect(runtime().pins.unpin('up', 'note', gone)).rejects.toThrow('gone');
    expect(runtime().pins.list()).toHaveLength(1);
    await runtime().pins.unpin('up', 'note');
  });
});
