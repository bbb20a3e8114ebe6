/**
 * What a caller may see and call, in three layers: all MCP (`mcp_integration`), a server (`mcp_github`), a tool
 * (`mcp_github_create_issue`). An ambiguous capability grants nothing; `mcp:server` and `mcp:server/tool` are
 * exact. Pure; the cost does not grow with the number of tools, because only the splits of a name are tried.
 */
import type { PlacedRule } from '../config/schema/rule-schema.js';

export interface Caller {
  /** The name that rules, approvals and the log use. */
  readonly id: string;
  /**
   * Identifies the owner of stored state where a name can be reused: a new token with an old name is a different
   * caller. Absent: the id.
   */
  readonly identity?: string | undefined;
  readonly capabilities: readonly string[];
  /** Groups the calls that belong together, such as those of one session. */
  readonly run?: string | undefined;
  /** The most that this route allows, whatever else the caller may do. */
  readonly limits?: CallerLimits | undefined;
  /** The host itself, within its limits: not an agent whose calls need approval. */
  readonly isHost?: true | undefined;
}

/** Limits only restrict: an item outside them appears not to exist. */
export interface CallerLimits {
  readonly servers?: ReadonlySet<string> | undefined;
  /** Tools by their names at their servers. Does not limit resources and prompts. */
  readonly tools?: ReadonlySet<string> | undefined;
  /** Whether the tools for resources and prompts are in it, whatever `servers` and `tools` have. */
  readonly resourceTools?: boolean | undefined;
  /** Each list of capabilities has to grant an item too, even to the host itself, which otherwise needs none. */
  readonly capabilities?: ReadonlyArray<readonly string[]> | undefined;
  /** They ask and deny in addition to the ordinary rules; an `allow` only stops later rules of this list. */
  readonly rules?: readonly PlacedRule[] | undefined;
}

/** The calling agent; undefined for the host itself. */
export const agentOf = (caller: Caller | undefined): Caller | undefined =>
  caller?.isHost === true ? undefined : caller;

/**
 * Whether the item is within the limits of the caller's view. For one of the tools for resources and prompts,
 * `resourceTool` says where they are: they show only what is in the view, so its `servers` do not exclude them.
 */
export function isWithinLimits(
  limits: CallerLimits | undefined,
  { server, tool, kind }: { server: string; tool: string; kind: string },
  resourceTool?: 'views' | 'everywhere',
): boolean {
  if (resourceTool !== undefined && kind === 'tool')
    return limits?.resourceTools ?? (resourceTool === 'everywhere' && limits?.tools?.has(tool) !== false);
  if (limits === undefined) return true;
  if (limits.servers?.has(server) === false) return false;
  return kind !== 'tool' || limits.tools?.has(tool) !== false;
}

/** The key of everything stored for a caller; its id is only a name. */
export const identityOf = ({ identity, id }: Caller): string => identity ?? id;

const keys = new WeakMap<Caller, string>();

/** Everything about a caller that decides what it may know in one view. Unique for each caller, whatever its name. */
export function callerKey(caller: Caller): string {
  const known = keys.get(caller);
  if (known !== undefined) return known;
  const { id, isHost, capabilities, limits } = caller;
  const key = JSON.stringify([id, isHost === true, capabilities, limits?.capabilities]);
  keys.set(caller, key);
  return key;
}

/**
 * Whether such a server is configured, connected or not. The meaning of a capability must not depend on which
 * servers are connected.
 */
export interface KnownServers {
  hasServer(server: string): boolean;
}

export type Grant =
  | { readonly granted: true; readonly by: string }
  | {
      readonly granted: false;
      readonly ambiguous: ReadonlyArray<{ readonly word: string; readonly meanings: readonly string[] }>;
    };

const EVERYTHING = 'mcp_integration';
const GRANTED_EVERYTHING: Grant = { granted: true, by: EVERYTHING };

/** Whether the caller's capabilities grant the tool, which one does, and which were too ambiguous to count. */
export function findGrant(
  { capabilities: held }: Pick<Caller, 'capabilities'>,
  { server, tool }: { server: string; tool: string },
  known: KnownServers,
): Grant {
  if (held.includes(EVERYTHING)) return GRANTED_EVERYTHING;
  const exact = [`mcp:${server}/${tool}`, `mcp:${server}`].find((word) => held.includes(word));
  if (exact !== undefined) return { granted: true, by: exact };
  const ambiguous: Array<{ word: string; meanings: readonly string[] }> = [];
  for (const word of [`mcp_${server}`, `mcp_${server}_${tool}`]) {
    if (!held.includes(word)) continue;
    const meanings = possibleMeanings(word, known);
    if (meanings.length === 1) return { granted: true, by: word };
    ambiguous.push({ word, meanings });
  }
  return { granted: false, ambiguous };
}

/**
 * Everything that a capability like `mcp_a_b_c` can mean, in the exact form: any tool of that name, whether its
 * server has one now or not.
 */
export function possibleMeanings(word: string, known: KnownServers): string[] {
  const rest = word.slice('mcp_'.length);
  const meanings = known.hasServer(rest) ? [`mcp:${rest}`] : [];
  for (let at = rest.indexOf('_'); at !== -1; at = rest.indexOf('_', at + 1)) {
    const server = rest.slice(0, at);
    const tool = rest.slice(at + 1);
    if (known.hasServer(server) && tool !== '') meanings.push(`mcp:${server}/${tool}`);
  }
  return meanings;
}
