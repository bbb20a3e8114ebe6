/**
 * Whether a caller may know of a server because of one of its tools. It is asked for every message of every server and
 * every client that could hear it, so it is decided once and remembered until the rules or the catalog change.
 */
import { type Caller, callerKey, type Runtime } from 'turnbuckle';

type Decider = Pick<Runtime, 'mayKnow' | 'toolsForAgent' | 'catalog' | 'rules'>;

/** The servers that callers know of, by caller; for each way in, which bounds its callers. */
type Known = Map<object | undefined, Map<string, Map<string, boolean>>>;

interface Memory {
  /** What it was decided by. The runtime makes new ones whenever something changes. */
  readonly rules: Decider['rules'];
  readonly tools: ReturnType<Decider['catalog']['list']>;
  readonly known: Known;
}

const MAX_REMEMBERED = 1_000;
const memories = new WeakMap<object, Memory>();

export function knowsServer(runtime: Decider, server: string, caller: Caller): boolean {
  const known = knownTo(runtime);
  const byCaller = known.get(caller.limits) ?? new Map<string, Map<string, boolean>>();
  known.set(caller.limits, byCaller);
  const key = callerKey(caller);
  const servers = byCaller.get(key) ?? new Map<string, boolean>();
  if (!byCaller.has(key) && byCaller.size >= MAX_REMEMBERED) byCaller.clear();
  byCaller.set(key, servers);
  const isKnown = servers.get(server) ?? findsTool(runtime, server, caller);
  servers.set(server, isKnown);
  return isKnown;
}

/** The first tool that the caller may know ends it: what is flagged about all the others need not be found out. */
function findsTool(runtime: Decider, server: string, caller: Caller): boolean {
  const tools = runtime.catalog.listByServer(server);
  if (tools.some(({ native }) => native))
    return runtime.toolsForAgent(caller).some((tool) => tool.server === server);
  return tools.some(({ tool }) => runtime.mayKnow({ server, tool, caller }));
}

function knownTo(runtime: Decider): Known {
  const memory = memories.get(runtime);
  const { rules } = runtime;
  const tools = runtime.catalog.list();
  if (memory?.rules === rules && memory.tools === tools) return memory.known;
  const known: Known = new Map();
  memories.set(runtime, { rules, tools, known });
  return known;
}
