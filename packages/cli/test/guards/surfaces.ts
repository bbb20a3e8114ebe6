/** The ways in that there are, each for an agent and, where it can come there, for the host. */
import { type Caller, createRuntime, type Runtime, type RuntimeOptions, TurnbuckleError } from 'turnbuckle';
import { modern, type RawAnswer, send } from '../../../gateway/test/mcp/raw-client.js';
import type { Stand } from '../../../gateway/test/mcp/stand.js';
import { turnbuckle } from '../commands/turnbuckle.js';
import { type Conversation, openConversation } from '../daemon/conversation.js';
import { post } from '../daemon/running-daemon.js';
import type { Stage } from './stage.js';
import {
  type Cell,
  type Guard,
  type Kind,
  OTHER_SERVER,
  type Row,
  RULES,
  type Surface,
  type Who,
} from './table.js';

type Body = Record<string, unknown>;
type Ask = (method: string, params: Body, cell: Cell) => Promise<unknown>;

const WHO = ['agent', 'host'] as const;
const ERAS = ['modern', 'legacy'] as const;
const EVERYTHING = ['mcp_integration'];
const NO_TOKEN = 'it has no token';
const ONLY_TOOLS = 'it is for tools alone';

/** Wherever the protocol of the way puts it. */
export function codeOf(answer: unknown): string {
  const { code, error, result, success } = Object(answer) as Body;
  const meta = Object(Object(result)._meta)['turnbuckle/error'];
  const found = [code, Object(Object(error).data).code, Object(error).code, Object(meta).code];
  const told = found.find((one) => one !== undefined);
  return told === undefined && (result !== undefined || success === true) ? 'OK' : String(told);
}

const named = (who: Who) => (guard: Guard) =>
  who === 'host' ? undefined : guard === 'capability missing' ? 'poor' : 'agent';

/** The request of the protocol. */
function requestOf({ kind, item }: Cell): [method: string, params: Body] {
  if (kind === 'tool') return ['tools/call', { name: `up_${item}`, arguments: {} }];
  return kind === 'resource' ? ['resources/read', { uri: item }] : ['prompts/get', { name: `up_${item}` }];
}

// --- the library -----------------------------------------------------------------------------------------

export interface Library {
  readonly runtime: Runtime;
  readonly rows: (item: string) => readonly Row[];
}

export async function openLibrary(stage: Stage, options: RuntimeOptions): Promise<Library> {
  const servers = { up: { url: stage.upstream.url } };
  const runtime = await createRuntime({ servers, rules: [...RULES], pins: 'all', ...options });
  const settled: Array<Row & { readonly tool: string }> = [];
  runtime.on('call.settled', ({ tool, kind, callerId, outcome, error }) =>
    settled.push({ tool, kind, caller: callerId, outcome, code: error?.code }),
  );
  await runtime.connectAll();
  return { runtime, rows: (item) => settled.filter(({ tool }) => tool === item) };
}

function librarySurface(name: string, who: Who, library: () => Library): Surface {
  const callerFor = (guard: Guard | undefined): Caller | undefined => {
    if (who === 'host') return undefined;
    return guard === 'capability missing'
      ? { id: 'poor', capabilities: [OTHER_SERVER] }
      : { id: 'agent', capabilities: EVERYTHING };
  };
  const call = (runtime: Runtime, { kind, item, guard }: Cell): Promise<unknown> => {
    const caller = callerFor(guard);
    if (kind === 'tool') return runtime.callTool('up', item, {}, { caller });
    if (kind === 'resource') return runtime.readResource('up', item, { caller });
    return runtime.getPrompt('up', item, {}, { caller });
  };
  return {
    name: `${name} as ${who}`,
    who,
    asks: name === 'library' ? 'somebody' : 'nobody',
    caller: named(who),
    attempt: (cell) =>
      call(library().runtime, cell).then(
        () => 'OK',
        (error: unknown) => (error instanceof TurnbuckleError ? error.code : String(error)),
      ),
    none: (guard) => (guard === 'token revoked' ? NO_TOKEN : undefined),
    rows: (item) => library().rows(item),
  };
}

// --- the command -----------------------------------------------------------------------------------------

const COMMANDS: Readonly<Record<Kind, string>> = { tool: 'call', resource: 'read', prompt: 'prompt' };

async function runCommand(stage: Stage, { kind, item }: Cell, more: CommandOptions): Promise<string> {
  const words = [COMMANDS[kind], 'up', item, '--json', ...(more.words ?? [])];
  const { code, stdout, stderr } = await turnbuckle(words, { home: stage.home, env: more.env ?? {} });
  if (code === 0) return 'OK';
  return stdout === '' ? `${code} ${stderr}` : codeOf(JSON.parse(stdout));
}

interface CommandOptions {
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function ownCommand(stage: () => Stage, who: Who): Surface {
  const as = (guard: Guard | undefined): string[] => [
    ...['--as', 'agent'],
    ...(guard === 'capability missing' ? ['--can', OTHER_SERVER] : []),
  ];
  return {
    name: `command as ${who}`,
    who,
    asks: 'nobody',
    caller: named(who),
    attempt: (cell) =>
      runCommand(stage(), cell, { words: ['--no-daemon', ...(who === 'agent' ? as(cell.guard) : [])] }),
    none: (guard, kind) => {
      if (guard === 'token revoked') return NO_TOKEN;
      return who === 'agent' && kind !== 'tool' ? 'read and prompt have no --as' : undefined;
    },
    unlogged: () => 'a command with connections of its own keeps no log (docs/log.md)',
  };
}

function commandThroughDaemon(stage: () => Stage, who: Who): Surface {
  return {
    name: `command by daemon as ${who}`,
    who,
    asks: 'somebody',
    caller: named(who),
    attempt: async (cell) => {
      const isFound = who === 'host' && cell.guard !== 'token revoked';
      const { urlFor, token } = stage();
      const env = { MCP_BRIDGE_URL: await urlFor(cell.guard), TURNBUCKLE_TOKEN: token(who, cell.guard) };
      return runCommand(stage(), cell, isFound ? {} : { env });
    },
  };
}

// --- the bridge ------------------------------------------------------------------------------------------

function bridgeSurface(stage: () => Stage, way: 'bridge' | 'batch' | 'inline', who: Who): Surface {
  const ask = async ({ kind, item, guard }: Cell): Promise<unknown> => {
    const { urlFor, token, upstream } = stage();
    const at = { url: await urlFor(guard), token: token(who, guard) };
    if (kind === 'resource') return (await post(at, '/resources/read', { server: 'up', uri: item })).body;
    if (kind === 'prompt') return (await post(at, '/prompts/get', { server: 'up', name: item })).body;
    const where = way === 'inline' ? { endpoint: { url: upstream.url } } : { server: 'up' };
    const call = { ...where, tool_name: item, arguments: {} };
    if (way !== 'batch') return (await post(at, '/mcp/call', call)).body;
    const { body } = await post(at, '/mcp/calls', { calls: [call] });
    return Object(body).results?.[0] ?? body;
  };
  return {
    name: `${way} as ${who}`,
    who,
    asks: 'somebody',
    caller: named(who),
    attempt: async (cell) => codeOf(await ask(cell)),
    none: (_, kind) => (way !== 'bridge' && kind !== 'tool' ? ONLY_TOOLS : undefined),
  };
}

// --- the gateway -----------------------------------------------------------------------------------------

/** Where a client comes in, and with what. */
interface Door {
  readonly era: (typeof ERAS)[number];
  readonly url: string;
  readonly path: string;
  readonly token: string;
}

async function askGateway(
  stage: Stage,
  { era, path, token, url }: Door,
  [method, params]: readonly [string, Body],
): Promise<RawAnswer> {
  const stand = { url } as Stand;
  if (era === 'modern') {
    const headers = typeof params.taskId === 'string' ? { 'mcp-name': params.taskId } : {};
    return modern(stand, { method, params }, { path, token, headers, meta: KNOWS_TASKS });
  }
  const headers = { 'mcp-session-id': await stage.session(path, token) };
  return send(stand, { jsonrpc: '2.0', id: 1, method, params }, { path, token, headers });
}

interface GatewayOptions {
  readonly name: string;
  readonly era: (typeof ERAS)[number];
  readonly token: Who;
  readonly who: Who;
  readonly pathOf: (guard: Guard | undefined) => string;
  readonly request?: (cell: Cell) => [string, Body];
  readonly none?: Surface['none'];
}

function gatewaySurface(stage: () => Stage, options: GatewayOptions): Surface {
  const { name, era, token: holder, who, pathOf, request = requestOf, none } = options;
  return {
    name: `${name} ${era} as ${holder}`,
    who,
    asks: 'somebody',
    caller: (guard) => (pathOf(guard) === '/mcp/narrow' ? named(holder)('deny') : named(holder)(guard)),
    attempt: async (cell) => {
      const path = pathOf(cell.guard);
      // There it is the view that lacks it.
      const guard = path === '/mcp/narrow' ? undefined : cell.guard;
      const token = stage().token(holder, guard);
      const url = await stage().urlFor(guard);
      return codeOf((await askGateway(stage(), { era, url, path, token }, request(cell))).body);
    },
    ...(none && { none }),
  };
}

const KNOWS_TASKS = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

const narrowed = (path: string) => (guard: Guard | undefined) =>
  guard === 'capability missing' ? '/mcp/narrow' : path;

function gatewaySurfaces(stage: () => Stage, tasks: ReadonlyMap<string, string>): Surface[] {
  return ERAS.flatMap((era) =>
    WHO.flatMap((token) => [
      gatewaySurface(stage, { name: 'gateway', era, token, who: token, pathOf: () => '/mcp' }),
      gatewaySurface(stage, { name: 'view', era, token, who: token, pathOf: () => '/mcp/one' }),
      // What a view says holds for the host as for everybody.
      gatewaySurface(stage, {
        name: 'strict view',
        era,
        token,
        who: 'agent',
        pathOf: narrowed('/mcp/strict'),
      }),
      gatewaySurface(stage, {
        ...{ name: 'method', era, token, who: token },
        pathOf: () => '/mcp/one',
        request: ({ item }) => [item, {}],
        none: (guard, kind) => {
          if (kind !== 'tool') return 'a method that nobody knows is decided as a tool';
          return guard === 'pin changed' ? 'it has no definition' : undefined;
        },
      }),
      gatewaySurface(stage, {
        ...{ name: 'task', era, token, who: token },
        pathOf: narrowed('/mcp'),
        request: ({ item }) => ['tasks/cancel', { taskId: tasks.get(item) }],
        none: (_, kind) => (kind !== 'tool' ? 'tasks come of tools' : undefined),
      }),
    ]),
  );
}

/** Has a tool make a task while it still may. */
export async function beginTask(stage: Stage, surface: string, cell: Cell): Promise<string> {
  const era = surface.includes('legacy') ? 'legacy' : 'modern';
  const holder = surface.endsWith('host') ? 'host' : 'agent';
  const token = stage.token(holder, cell.guard === 'token revoked' ? cell.guard : undefined);
  const params = { name: `up_${cell.item}`, arguments: {}, task: { ttl: 60_000 } };
  const { body } = await askGateway(stage, { era, url: stage.url, path: '/mcp', token }, [
    'tools/call',
    params,
  ]);
  return String(Object(body.result?.task).taskId);
}

// --- stdin and stdout ------------------------------------------------------------------------------------

const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'table', version: '1' },
};

export interface Talks {
  ask: Ask;
  close(): Promise<void>;
}

/** Clients of `serve --stdio`, one for each kind of caller. */
export function openTalks(stage: () => Stage, words: readonly string[]): Talks {
  const talks = new Map<boolean, Promise<Conversation>>();
  const begin = async (isPoor: boolean): Promise<Conversation> => {
    const more = isPoor ? ['--capability', OTHER_SERVER] : [];
    const talk = openConversation(['serve', '--stdio', ...words, ...more], { home: stage().home });
    talk.send(0, 'initialize', HELLO);
    await talk.answer(0);
    return talk;
  };
  let id = 0;
  return {
    ask: async (method, params, { guard }) => {
      const isPoor = guard === 'capability missing';
      const begun = talks.get(isPoor) ?? begin(isPoor);
      talks.set(isPoor, begun);
      const talk = await begun;
      id += 1;
      const own = id;
      talk.send(own, method, params);
      return talk.answer(own);
    },
    close: async () => {
      for (const talk of talks.values()) await (await talk).leave();
    },
  };
}

function stdioSurface(stage: () => Stage, way: 'daemon' | 'own', talks: Talks): Surface {
  /** It begins with a token, or not at all. */
  const beginWithout = async (): Promise<string> => {
    const { home, urlFor, token } = stage();
    const env = {
      MCP_BRIDGE_URL: await urlFor('token revoked'),
      TURNBUCKLE_TOKEN: token('host', 'token revoked'),
    };
    const { stderr } = await turnbuckle(['serve', '--stdio'], { home, env });
    return /error (\w+)/.exec(stderr)?.[1] ?? stderr;
  };
  return {
    name: `stdio ${way}`,
    who: 'agent',
    asks: way === 'daemon' ? 'somebody' : 'nobody',
    caller: () => 'stdio:table',
    attempt: async (cell) =>
      cell.guard === 'token revoked' ? beginWithout() : codeOf(await talks.ask(...requestOf(cell), cell)),
    none: (guard, kind) => {
      if (guard !== 'token revoked') return undefined;
      if (way === 'own') return NO_TOKEN;
      return kind === 'tool' ? undefined : 'without a token nothing of any kind can be said';
    },
  };
}

export interface SurfaceParts {
  readonly stage: () => Stage;
  readonly libraries: { readonly asking: () => Library; readonly alone: () => Library };
  readonly tasks: ReadonlyMap<string, string>;
  readonly talks: { readonly daemon: Talks; readonly own: Talks };
}

export function createSurfaces({ stage, libraries, tasks, talks }: SurfaceParts): readonly Surface[] {
  return [
    ...WHO.flatMap((who) => [
      librarySurface('library', who, libraries.asking),
      librarySurface('library alone', who, libraries.alone),
      ownCommand(stage, who),
      commandThroughDaemon(stage, who),
      bridgeSurface(stage, 'bridge', who),
      bridgeSurface(stage, 'batch', who),
      bridgeSurface(stage, 'inline', who),
    ]),
    ...gatewaySurfaces(stage, tasks),
    stdioSurface(stage, 'daemon', talks.daemon),
    stdioSurface(stage, 'own', talks.own),
  ];
}
