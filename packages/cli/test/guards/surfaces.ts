/** All entry points, each for an agent and, where the host can use it, for the host. */
import { type Caller, createRuntime, type Runtime, type RuntimeOptions, TurnbuckleError } from 'turnbuckle';
import { modern, type RawAnswer, send } from '../../../gateway/test/mcp/raw-client.js';
import type { Stand } from '../../../gateway/test/mcp/stand.js';
import { turnbuckle } from '../commands/turnbuckle.js';
import { type StdioClient, startClient } from '../daemon/conversation.js';
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

/** The error code of a response, in the place where the protocol of the entry point has it. */
export function codeOf(answer: unknown): string {
  const { code, error, result, success } = Object(answer) as Body;
  const meta = Object(Object(result)._meta)['turnbuckle/error'];
  const found = [code, Object(Object(error).data).code, Object(error).code, Object(meta).code];
  const first = found.find((one) => one !== undefined);
  return first === undefined && (result !== undefined || success === true) ? 'OK' : String(first);
}

const named = (who: Who) => (guard: Guard) =>
  who === 'host' ? undefined : guard === 'capability missing' ? 'poor' : 'agent';

/** The MCP request for a cell. */
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
    approver: name === 'library' ? 'available' : 'missing',
    caller: named(who),
    attempt: (cell) =>
      call(library().runtime, cell).then(
        () => 'OK',
        (error: unknown) => (error instanceof TurnbuckleError ? error.code : String(error)),
      ),
    notApplicable: (guard) => (guard === 'token revoked' ? NO_TOKEN : undefined),
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
    ...(guard === 'capability missing' ? ['--capability', OTHER_SERVER] : []),
  ];
  return {
    name: `command as ${who}`,
    who,
    approver: 'missing',
    caller: named(who),
    attempt: (cell) =>
      runCommand(stage(), cell, { words: ['--no-daemon', ...(who === 'agent' ? as(cell.guard) : [])] }),
    notApplicable: (guard, kind) => {
      if (guard === 'token revoked') return NO_TOKEN;
      return who === 'agent' && kind !== 'tool' ? 'read and prompt have no --as' : undefined;
    },
    unlogged: () => 'a command with its own connections keeps no log (docs/log.md)',
  };
}

function commandThroughDaemon(stage: () => Stage, who: Who): Surface {
  return {
    name: `command by daemon as ${who}`,
    who,
    approver: 'available',
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
    approver: 'available',
    caller: named(who),
    attempt: async (cell) => codeOf(await ask(cell)),
    notApplicable: (_, kind) => (way !== 'bridge' && kind !== 'tool' ? ONLY_TOOLS : undefined),
  };
}

// --- the gateway -----------------------------------------------------------------------------------------

/** The URL, path and token that a client uses. */
interface Access {
  readonly era: (typeof ERAS)[number];
  readonly url: string;
  readonly path: string;
  readonly token: string;
}

async function askGateway(
  stage: Stage,
  { era, path, token, url }: Access,
  [method, params]: readonly [string, Body],
): Promise<RawAnswer> {
  const stand = { url } as Stand;
  if (era === 'modern') {
    const headers = typeof params.taskId === 'string' ? { 'mcp-name': params.taskId } : {};
    return modern(stand, { method, params }, { path, token, headers, meta: TASKS_CAPABILITY });
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
  readonly notApplicable?: Surface['notApplicable'];
}

function gatewaySurface(stage: () => Stage, options: GatewayOptions): Surface {
  const { name, era, token: holder, who, pathOf, request = requestOf, notApplicable } = options;
  return {
    name: `${name} ${era} as ${holder}`,
    who,
    approver: 'available',
    caller: (guard) => (pathOf(guard) === '/mcp/narrow' ? named(holder)('deny') : named(holder)(guard)),
    attempt: async (cell) => {
      const path = pathOf(cell.guard);
      // Here the view lacks the capability, not the token.
      const guard = path === '/mcp/narrow' ? undefined : cell.guard;
      const token = stage().token(holder, guard);
      const url = await stage().urlFor(guard);
      return codeOf((await askGateway(stage(), { era, url, path, token }, request(cell))).body);
    },
    ...(notApplicable && { notApplicable }),
  };
}

const TASKS_CAPABILITY = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

const narrowed = (path: string) => (guard: Guard | undefined) =>
  guard === 'capability missing' ? '/mcp/narrow' : path;

function gatewaySurfaces(stage: () => Stage, tasks: ReadonlyMap<string, string>): Surface[] {
  return ERAS.flatMap((era) =>
    WHO.flatMap((token) => [
      gatewaySurface(stage, { name: 'gateway', era, token, who: token, pathOf: () => '/mcp' }),
      gatewaySurface(stage, { name: 'view', era, token, who: token, pathOf: () => '/mcp/one' }),
      // The rules of a view apply to the host as to everybody else.
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
        notApplicable: (guard, kind) => {
          if (kind !== 'tool') return 'an unknown method is decided as a tool';
          return guard === 'pin changed' ? 'it has no definition' : undefined;
        },
      }),
      gatewaySurface(stage, {
        ...{ name: 'task', era, token, who: token },
        pathOf: narrowed('/mcp'),
        request: ({ item }) => ['tasks/cancel', { taskId: tasks.get(item) }],
        notApplicable: (_, kind) => (kind !== 'tool' ? 'only tools start tasks' : undefined),
      }),
    ]),
  );
}

/** Starts a task with a tool while the call is still allowed. */
export async function startTask(stage: Stage, surface: string, cell: Cell): Promise<string> {
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

export interface StdioClients {
  ask: Ask;
  close(): Promise<void>;
}

/** Clients of `serve --stdio`, one for each kind of caller. */
export function openStdioClients(stage: () => Stage, words: readonly string[]): StdioClients {
  const clients = new Map<boolean, Promise<StdioClient>>();
  const begin = async (isPoor: boolean): Promise<StdioClient> => {
    const more = isPoor ? ['--capability', OTHER_SERVER] : [];
    const client = startClient(['serve', '--stdio', ...words, ...more], { home: stage().home });
    client.send(0, 'initialize', HELLO);
    await client.response(0);
    return client;
  };
  let id = 0;
  return {
    ask: async (method, params, { guard }) => {
      const isPoor = guard === 'capability missing';
      const begun = clients.get(isPoor) ?? begin(isPoor);
      clients.set(isPoor, begun);
      const client = await begun;
      id += 1;
      const own = id;
      client.send(own, method, params);
      return client.response(own);
    },
    close: async () => {
      for (const client of clients.values()) await (await client).close();
    },
  };
}

function stdioSurface(stage: () => Stage, way: 'daemon' | 'own', clients: StdioClients): Surface {
  /** Without a valid token, the client does not start. */
  const startWithoutToken = async (): Promise<string> => {
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
    approver: way === 'daemon' ? 'available' : 'missing',
    caller: () => 'stdio:table',
    attempt: async (cell) =>
      cell.guard === 'token revoked'
        ? startWithoutToken()
        : codeOf(await clients.ask(...requestOf(cell), cell)),
    notApplicable: (guard, kind) => {
      if (guard !== 'token revoked') return undefined;
      if (way === 'own') return NO_TOKEN;
      return kind === 'tool' ? undefined : 'without a token the client does not start, whatever the kind';
    },
  };
}

export interface SurfaceParts {
  readonly stage: () => Stage;
  readonly libraries: { readonly asking: () => Library; readonly alone: () => Library };
  readonly tasks: ReadonlyMap<string, string>;
  readonly clients: { readonly daemon: StdioClients; readonly own: StdioClients };
}

export function createSurfaces({ stage, libraries, tasks, clients }: SurfaceParts): readonly Surface[] {
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
    stdioSurface(stage, 'daemon', clients.daemon),
    stdioSurface(stage, 'own', clients.own),
  ];
}
