/**
 * Two callers with different views send random requests at the same time, over every transport. Nothing that one of them
 * may not see reaches it: no name of a server, a tool or a resource, and no part of a result.
 */
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { createRandom, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { openUpstream, type Upstream, UpstreamError } from '../threats/upstream.js';
import { CASES, SEED } from './settings.js';

type Body = Record<string, unknown>;

const STEPS = Math.min(CASES / 40, 5_000);
/** Part of everything that belongs to one side: of names, texts and results. */
const MARKS = { left: 'qleftq', right: 'qrightq' } as const;
type Side = keyof typeof MARKS;
const SIDES: readonly Side[] = ['left', 'right'];
const other = (side: Side): Side => (side === 'left' ? 'right' : 'left');

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': TASKS,
};
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } };

let upstreams: Upstream[];
let own: OwnDaemon;
const tokens = new Map<Side, string>();

function openSide(mark: string): Promise<Upstream> {
  const tool = (name: string) => ({ name, description: `of ${mark}`, inputSchema: { type: 'object' } });
  const uri = `note://${mark}/one`;
  const known = (there: boolean, result: object): object => {
    if (!there) throw new UpstreamError(-32602, `not at ${mark}`);
    return result;
  };
  let tasks = 0;
  const task = (taskId: unknown) => ({ taskId, status: 'working', statusMessage: mark, ttl: 60_000 });
  return openUpstream({
    tools: [tool('look'), tool(`own${mark}`), tool('begin')],
    answers: {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
        serverInfo: { name: mark, version: '1' },
        instructions: `ask ${mark}`,
      }),
      'tools/call': ({ name }) => {
        if (name !== 'begin') return { content: [{ type: 'text', text: `result of ${mark}` }] };
        tasks += 1;
        return { task: task(`${mark}-${tasks}`) };
      },
      'tasks/get': ({ taskId }) => task(taskId),
      'tasks/cancel': ({ taskId }) => task(taskId),
      'resources/list': () => ({ resources: [{ uri, name: mark }] }),
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: `note://${mark}/of/{one}`, name: mark }],
      }),
      'resources/read': (params) => known(params.uri === uri, { contents: [{ uri, text: mark }] }),
      'resources/subscribe': (params) => known(params.uri === uri, {}),
      'resources/unsubscribe': () => ({}),
      'prompts/list': () => ({ prompts: [{ name: 'ask', description: mark }] }),
      'prompts/get': ({ name }) =>
        known(name === 'ask', { messages: [{ role: 'user', content: { type: 'text', text: mark } }] }),
      'completion/complete': () => ({ completion: { values: [mark] } }),
    },
  });
}

beforeAll(async () => {
  upstreams = [await openSide(MARKS.left), await openSide(MARKS.right)];
  const servers = Object.fromEntries(
    SIDES.map((side, index) => [`s${MARKS[side]}`, { url: upstreams[index]?.url }]),
  );
  own = await ownDaemon({
    servers,
    // The left side is restricted by its token, the right one by rules; views restrict both.
    rules: [{ action: 'deny', server: `s${MARKS.left}`, caller: 'right' }, { action: 'allow' }],
    daemon: {
      views: Object.fromEntries(
        SIDES.flatMap((side) => [
          [`${side}Plain`, { servers: [`s${MARKS[side]}`], names: 'plain' }],
          [side, { servers: [`s${MARKS[side]}`] }],
        ]),
      ),
    },
  });
  await own.daemon.configured.runtime.connectAll();
  const can = { left: [`mcp:s${MARKS.left}`], right: ['mcp_integration'] };
  for (const side of SIDES) {
    const { body } = await own.post('/api/tokens', { name: side, can: can[side], access: ['call'] });
    tokens.set(side, String(body.token));
  }
});
afterAll(async () => {
  await own.close();
  for (const upstream of upstreams) await upstream.close();
});

/** A client of one side: what it sends, and every byte that it receives. */
class Client {
  readonly side: Side;
  received = '';
  /** Words of the other side that it received without having sent them, with the request. */
  readonly leaks: string[] = [];
  readonly sessions: Array<{ readonly id: string; readonly path: string }> = [];
  readonly tasks: string[] = [];
  readonly #random: () => number;
  #tunnel: Socket | undefined;
  #answered = 0;
  /** The last line sent. */
  #said = '';
  #id = 0;

  constructor(side: Side, random: () => number) {
    this.side = side;
    this.#random = random;
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }

  async step(): Promise<void> {
    const way = this.pick(['legacy', 'modern', 'tunnel', 'bridge'] as const);
    const path = this.pick(['/mcp', `/mcp/${this.side}`, `/mcp/${this.side}Plain`]) ?? '/mcp';
    if (way === 'bridge') return this.#bridge();
    const [method, params] = this.#request();
    if (way === 'modern') return this.#modern(path, method, params);
    if (way === 'tunnel') return this.#line(method, params);
    return this.#legacy(path, method, params);
  }

  /** A request about something that it may or may not see, by any kind of name. */
  #request(): [string, Body] {
    const mark = MARKS[this.pick([this.side, other(this.side)]) ?? 'left'];
    const name = this.pick([
      `s${mark}_look`,
      `s${mark}_own${mark}`,
      `s${mark}_begin`,
      'look',
      `own${mark}`,
      'begin',
    ]);
    const uri = this.pick([`note://${mark}/one`, `note://${mark}/of/x`, `note://${mark}/none`]);
    const prompt = this.pick([`s${mark}_ask`, 'ask']);
    const taskId = this.pick([...this.tasks, 'made-up']);
    const requests: ReadonlyArray<[string, Body]> = [
      ['tools/list', {}],
      ['tools/call', { name, arguments: {}, task: { ttl: 60_000 } }],
      ['tools/call', { name, arguments: {} }],
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['resources/read', { uri }],
      ['resources/subscribe', { uri }],
      ['resources/unsubscribe', { uri }],
      ['prompts/list', {}],
      ['prompts/get', { name: prompt }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: prompt }, argument: { name: 'a', value: '' } },
      ],
      ['completion/complete', { ref: { type: 'ref/resource', uri }, argument: { name: 'one', value: '' } }],
      ['tasks/get', { taskId }],
      ['tasks/cancel', { taskId }],
      ['tasks/list', {}],
      [`own/${mark}`, {}],
      ['server/discover', {}],
      ['ping', {}],
    ];
    const isCall = this.#random() < 0.3;
    return this.pick(isCall ? requests.slice(1, 3) : requests) ?? ['ping', {}];
  }

  async #modern(path: string, method: string, params: Body): Promise<void> {
    const name = params.name ?? params.uri ?? params.taskId;
    await this.#post(path, this.#message(method, { ...params, _meta: META }), {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    });
  }

  async #legacy(path: string, method: string, params: Body): Promise<void> {
    const session = this.pick(this.sessions);
    if (session === undefined || this.#random() < 0.1) {
      const id = await this.#post(path, this.#message('initialize', HELLO));
      if (id !== null) this.sessions.push({ id, path });
      return;
    }
    const headers = { 'mcp-session-id': session.id };
    if (this.#random() < 0.05) {
      this.sessions.splice(this.sessions.indexOf(session), 1);
      await this.#fetch(session.path, { method: 'DELETE', headers });
      return;
    }
    const message = this.#message(method, params);
    const answered = this.#post(session.path, message, headers);
    if (this.#random() < 0.1) {
      const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: message.id } };
      await this.#post(session.path, cancel, headers);
    }
    await answered;
  }

  async #bridge(): Promise<void> {
    const mark = MARKS[this.pick([this.side, other(this.side)]) ?? 'left'];
    const server = `s${mark}`;
    const bodies: ReadonlyArray<[string, Body]> = [
      ['/mcp/call', { server, tool_name: 'look' }],
      ['/mcp/call', { tool_name: `${server}_own${mark}` }],
      ['/mcp/calls', { calls: [{ server, tool_name: 'look' }, { tool_name: `${server}_none` }] }],
      ['/resources/read', { server, uri: `note://${mark}/one` }],
      ['/prompts/get', { server, name: 'ask' }],
    ];
    const [path, body] = this.pick(bodies) ?? ['/mcp/call', {}];
    if (this.#random() < 0.7) await this.#post(path, body);
    else await this.#fetch(this.pick(['/tools', '/servers', '/resources', '/prompts']) ?? '/tools', {});
  }

  /** All lines go over one connection, like those of a client on stdin and stdout. */
  async #line(method: string, params: Body): Promise<void> {
    const socket = this.#tunnel ?? this.#openTunnel();
    this.#tunnel = socket;
    const message = this.#message(method, params);
    this.#said = JSON.stringify(message);
    socket.write(`${JSON.stringify(message)}\n`);
    await waitUntil(() => this.#answered === message.id || socket.destroyed, 20_000);
  }

  #openTunnel(): Socket {
    const { host, port } = new URL(own.daemon.url);
    const socket = connect(Number(port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    // Notices may come in between: only a message with its id is the response.
    createInterface({ input: socket }).on('line', (line) => {
      this.#take(`${line}\n`, this.#said);
      const id = line.startsWith('{') ? (JSON.parse(line) as { id?: unknown }).id : undefined;
      if (typeof id === 'number') this.#answered = id;
    });
    const head = [
      `host: ${host}`,
      `authorization: Bearer ${tokens.get(this.side)}`,
      `turnbuckle-view: ${this.side}`,
    ];
    socket.write(['CONNECT mcp-stdio:0 HTTP/1.1', ...head, '', ''].join('\r\n'));
    return socket;
  }

  #message(method: string, params: Body): Body & { readonly id: number } {
    this.#id += 1;
    return { jsonrpc: '2.0', id: this.#id, method, params };
  }

  async #post(path: string, body: Body, headers: Record<string, string> = {}): Promise<string | null> {
    const response = await this.#fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    });
    return response.headers.get('mcp-session-id');
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const response = await own.fetch(path, { ...init, token: tokens.get(this.side) });
    const text = await response.text();
    this.#take(`${JSON.stringify([...response.headers])}${text}\n`, `${init.body ?? ''}`);
    const task = /"taskId":"([\w-]+)"/.exec(text)?.[1];
    if (task !== undefined) this.tasks.push(task);
    return response;
  }

  #take(text: string, said: string): void {
    this.received += text;
    const own = new Set(said.match(WORD));
    const mark = MARKS[other(this.side)];
    for (const word of text.match(WORD) ?? [])
      if (word.includes(mark) && !own.has(word)) this.leaks.push(`${word} in ${text} to ${said}`);
  }
}

const WORD = /[\w:/.{}-]*q(?:left|right)q[\w:/.{}-]*/g;

it(`nothing of the other side arrives in ${STEPS} steps (seed ${SEED})`, async () => {
  const random = createRandom(SEED);
  const clients = SIDES.flatMap((side) => [new Client(side, random), new Client(side, random)]);
  for (let step = 0; step < STEPS; step += 1) {
    // Clients also try tasks of the other side.
    const [from, to] = [clients[step % 4], clients[(step + 2) % 4]];
    const stolen = from?.pick(from.tasks);
    if (stolen !== undefined && to !== undefined && step % 7 === 0) to.tasks.push(stolen);
    await Promise.all(clients.map((client) => client.step()));
    for (const client of clients) expect(client.leaks, `step ${step}, ${client.side}`).toEqual([]);
  }
  // The test is not vacuous: each client received its own results.
  for (const client of clients) {
    expect(client.received).toContain(`result of ${MARKS[client.side]}`);
    expect(client.received).toContain('TOOL_UNKNOWN');
  }
}, 900_000);
