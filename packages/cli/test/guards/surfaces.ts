/** All entry points, each for an agent and, where the host can use it, for the host. */
import { type Caller, createRuntime, type Runtime, type RuntimeOptions, TurnbuckleError } from 'turnbuckle';
import { modern, type RawAnswer, send } from '../../../gateway/test/mcp/raw-client.js';
import type { Stand } from '../../../gateway/test/mcp/stand.js';
import { turnbuckle } from '../commands/turnbuckle.js';
import { post } from '../daemon/running-daemon.js';
import {
  type Body,
  codeOf,
  NO_TOKEN,
  named,
  notATool,
  readingTool,
  readingToolRequest,
  requestOf,
} from './requests.js';
import type { Stage } from './stage.js';
import { type StdioClients, stdioSurface } from './stdio-surface.js';
import {
  type Cell,
  ENERGY,
  type Guard,
  type Kind,
  OTHER_SERVER,
  type Row,
  RULES,
  SPENT,
  type Surface,
  type Who,
} from './table.js';

const WHO = ['agent', 'host'] as const;
const ERAS = ['modern', 'legacy'] as const;
const EVERYTHING = ['mcp_integration'];
const ONLY_TOOLS = 'it is for tools alone';

// --- the library -----------------------------------------------------------------------------------------

export interface Library {
  readonly runtime: Runtime;
  readonly rows: (item: string) => readonly Row[];
}

export async function openLibrary(stage: Stage, options: RuntimeOptions): Promise<Library> {
  const servers = { up: { url: stage.upstream.url } };
  const runtime = await createRuntime({
    servers,
    rules: [...RULES],
    energy: ENERGY,
    pins: 'all',
    resourceTools: true,
    ...options,
  });
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
    if (guard === 'capability missing') return { id: 'poor', capabilities: [OTHER_SERVER] };
    return { id: guard === 'budget used up' ? SPENT : 'agent', capabilities: EVERYTHING };
  };
  const isByTool = name.startsWith('resource tool');
  const call = (runtime: Runtime, cell: Cell): Promise<unknown> => {
    const { kind, item, guard } = cell;
    const caller = callerFor(guard);
    if (isByTool) {
      const [tool, args] = readingTool(cell);
      return runtime.call({ tool, arguments: args, caller });
    }
    if (kind === 'tool') return runtime.callTool('up', item, {}, { caller });
    if (kind === 'resource') return runtime.readResource('up', item, { caller });
    return runtime.getPrompt('up', item, {}, { caller });
  };
  return {
    name: `${name} as ${who}`,
    who,
    approver: name.includes('alone') ? 'missing' : 'available',
    caller: named(who),
    attempt: (cell) =>
      call(library().runtime, cell).then(
        () => 'OK',
        (error: unknown) => (error instanceof TurnbuckleError ? error.code : String(error)),
      ),
    notApplicable: (guard, kind) =>
      guard === 'token revoked' ? NO_TOKEN : isByTool ? notATool(guard, kind) : undefined,
    rows: (item) => library().rows(item),
  };
}

// --- the command -----------------------------------------------------------------------------------------

const COMMANDS: Readonly<Record<Kind, string>> = { tool: 'call', resource: 'read', prompt: 'prompt' };

async function runCommand(stage: Stage, cell: Cell, more: CommandOptions): Promise<string> {
  const [tool, args] = readingTool(cell);
  const named = more.isByTool
    ? ['call', 'native', tool, ...Object.entries(args).map((pair) => pair.join('='))]
    : [COMMANDS[cell.kind], 'up', cell.item];
  const words = [...named, '--json', ...(more.words ?? [])];
  const { code, stdout, stderr } = await turnbuckle(words, { home: stage.home, env: more.env ?? {} });
  if (code === 0) return 'OK';
  return stdout === '' ? `${code} ${stderr}` : codeOf(JSON.parse(stdout));
}

interface CommandOptions {
  readonly isByTool?: boolean;
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function ownCommand(stage: () => Stage, who: Who): Surface {
  const as = (guard: Guard | undefined): string[] => [
    ...['--as', guard === 'budget used up' ? SPENT : 'agent'],
    ...(guard === 'capability missing' ? ['--capability', OTHER_SERVER] : []),
  ];
  return {
    name: `command as ${who}`,
    who,
    approver: 'missing',
    caller: (guard) => (who === 'host' ? undefined : guard === 'budget used up' ? SPENT : 'agent'),
    attempt: (cell) =>
      runCommand(stage(), cell, { words: ['--no-daemon', ...(who === 'agent' ? as(cell.guard) : [])] }),
    notApplicable: (guard, kind) => {
      if (guard === 'token revoked') return NO_TOKEN;
      return who === 'agent' && kind !== 'tool' ? 'read and prompt have no --as' : undefined;
    },
  };
}

/** Unlike `read` and `prompt`, `call` can be made for an agent. */
function ownToolCommand(stage: () => Stage, who: Who): Surface {
  const own = ownCommand(stage, who);
  const as = (guard: Guard | undefined): string[] =>
    who === 'host'
      ? []
      : [
          ...['--as', guard === 'budget used up' ? SPENT : 'agent'],
          ...(guard === 'capability missing' ? ['--capability', OTHER_SERVER] : []),
        ];
  return {
    ...own,
    name: `resource tool ${own.name}`,
    attempt: (cell) =>
      runCommand(stage(), cell, { isByTool: true, words: ['--no-daemon', ...as(cell.guard)] }),
    notApplicable: (guard, kind) => (guard === 'token revoked' ? NO_TOKEN : notATool(guard, kind)),
  };
}

function commandThroughDaemon(stage: () => Stage, who: Who, isByTool = false): Surface {
  return {
    ...(isByTool && { notApplicable: notATool }),
    name: `${isByTool ? 'resource tool ' : ''}command by daemon as ${who}`,
    who,
    approver: 'available',
    caller: named(who),
    attempt: async (cell) => {
      const isFound = who === 'host' && cell.guard !== 'token revoked';
      const { urlFor, token } = stage();
      const env = { MCP_BRIDGE_URL: await urlFor(cell.guard), TURNBUCKLE_TOKEN: token(who, cell.guard) };
      return runCommand(stage(), cell, isFound ? { isByTool } : { isByTool, env });
    },
  };
}

// --- the bridge ------------------------------------------------------------------------------------------

type BridgeWay = 'bridge' | 'batch' | 'inline' | 'bridge alone' | 'resource tool bridge';

function bridgeSurface(stage: () => Stage, way: BridgeWay, who: Who): Surface {
  const ask = async (cell: Cell): Promise<unknown> => {
    const { kind, item, guard } = cell;
    const { urlFor, aloneUrlFor, token, upstream } = stage();
    const url = await (way === 'bridge alone' ? aloneUrlFor : urlFor)(guard);
    const at = { url, token: token(who, guard) };
    if (way === 'resource tool bridge') {
      const [tool, args] = readingTool(cell);
      return (await post(at, '/mcp/call', { tool_name: tool, arguments: args })).body;
    }
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
    approver: way === 'bridge alone' ? 'missing' : 'available',
    caller: named(who),
    attempt: async (cell) => codeOf(await ask(cell)),
    notApplicable: (guard, kind) => {
      if (way === 'resource tool bridge') return notATool(guard, kind);
      return (way === 'batch' || way === 'inline') && kind !== 'tool' ? ONLY_TOOLS : undefined;
    },
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
      gatewaySurface(stage, {
        ...{ name: 'resource tool', era, token, who: token },
        pathOf: () => '/mcp',
        request: readingToolRequest,
        notApplicable: notATool,
      }),
      gatewaySurface(stage, {
        ...{ name: 'resource tool strict view', era, token, who: 'agent' },
        pathOf: narrowed('/mcp/strict'),
        request: readingToolRequest,
        notApplicable: notATool,
      }),
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
  const isOwnToken = cell.guard === 'token revoked' || cell.guard === 'budget used up';
  const token = stage.token(holder, isOwnToken ? cell.guard : undefined);
  const params = { name: `up_${cell.item}`, arguments: {}, task: { ttl: 60_000 } };
  const { body } = await askGateway(stage, { era, url: stage.url, path: '/mcp', token }, [
    'tools/call',
    params,
  ]);
  return String(Object(body.result?.task).taskId);
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
      bridgeSurface(stage, 'bridge alone', who),
      librarySurface('resource tool library', who, libraries.asking),
      librarySurface('resource tool library alone', who, libraries.alone),
      ownToolCommand(stage, who),
      commandThroughDaemon(stage, who, true),
      bridgeSurface(stage, 'resource tool bridge', who),
    ]),
    ...gatewaySurfaces(stage, tasks),
    ...[false, true].flatMap((isByTool) => [
      stdioSurface(stage, { way: 'daemon', clients: clients.daemon, isByTool }),
      stdioSurface(stage, { way: 'own', clients: clients.own, isByTool }),
    ]),
  ];
}
