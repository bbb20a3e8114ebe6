/**
 * Whether a caller may know of a server because of one of its tools. Checked for every message of every server and
 * every client that could receive it, so it is cached until the rules or the catalog change.
 */
import type { Caller, Runtime } from 'turnbuckle';
import { callerKey } from 'turnbuckle/host';

type Decider = Pick<Runtime, 'mayKnow' | 'toolsForAgent' | 'catalog' | 'rules'>;

/** The servers that each caller knows of; one cache per view, since a view limits its callers. */
type KnownServers = WeakMap<object, Map<string, Map<string, boolean>>>;

interface KnownServersCache {
  /** What the cache was computed from. The runtime replaces these objects whenever something changes. */
  readonly rules: Decider['rules'];
  readonly tools: ReturnType<Decider['catalog']['list']>;
  readonly known: KnownServers;
}

const NO_LIMITS = {};
const MAX_CACHED_CALLERS = 1_000;
const caches = new WeakMap<object, KnownServersCache>();

export function knowsServer(runtime: Decider, server: string, caller: Caller): boolean {
  const known = knownServersOf(runtime);
  const limits = caller.limits ?? NO_LIMITS;
  const byCaller = known.get(limits) ?? new Map<string, Map<string, boolean>>();
  known.set(limits, byCaller);
  const key = callerKey(caller);
  const servers = byCaller.get(key) ?? new Map<string, boolean>();
  if (!byCaller.has(key) && byCaller.size >= MAX_CACHED_CALLERS) byCaller.clear();
  byCaller.set(key, servers);
  const isKnown = servers.get(server) ?? canSeeAnyTool(runtime, server, caller);
  servers.set(server, isKnown);
  return isKnown;
}

/** Stops at the first visible tool, so that the flags of the others need not be computed. */
function canSeeAnyTool(runtime: Decider, server: string, caller: Caller): boolean {
  const tools = runtime.catalog.listByServer(server);
  if (tools.some(({ native }) => native))
    return runtime.toolsForAgent(caller).some((tool) => tool.server === server);
  return tools.some(({ tool }) => runtime.mayKnow({ server, tool, caller }));
}

function knownServersOf(runtime: Decider): KnownServers {
  const memory = caches.get(runtime);
  const { rules } = runtime;
  const tools = runtime.catalog.list();
  if (memory?.rules === rules && memory.tools === tools) return memory.known;
  const known: KnownServers = new WeakMap();
  caches.set(runtime, { rules, tools, known });
  return known;
}
