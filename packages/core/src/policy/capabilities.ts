/**
 * What a caller may see and call, in three layers: all MCP (`mcp_integration`), a server (`mcp_github`), a
 * tool (`mcp_github_create_issue`). A word that could mean two things grants nothing; `mcp:server` and
 * `mcp:server/tool` are exact. Pure, and no dearer with many tools: it only looks at the splits of a name.
 */
import type { PlacedRule } from '../config/rule-schema.js';

export interface Caller {
  /** What rules, questions and the log call it. */
  readonly id: string;
  /**
   * Whose what is kept for it is, where a name can be given again: a new token of an old name is somebody else.
   * Absent: the id.
   */
  readonly identity?: string | undefined;
  readonly capabilities: readonly string[];
  /** What belongs together of what it does, such as a session. */
  readonly run?: string | undefined;
  /** The most that can be done on the way it came, whatever else it may do. */
  readonly limits?: CallerLimits | undefined;
  /** The host itself, within its limits: not an agent that is asked about. */
  readonly isHost?: true | undefined;
}

/** They only ever take away: what is outside of them is as if it were not there. */
export interface CallerLimits {
  readonly servers?: ReadonlySet<string> | undefined;
  /** Tools by their names at their servers; resources and prompts are not bounded by this. */
  readonly tools?: ReadonlySet<string> | undefined;
  /** The words that count for the host itself, which otherwise needs none. */
  readonly capabilities?: readonly string[] | undefined;
  /** They ask and deny beside the ordinary rules; an `allow` only keeps a later one of them from doing so. */
  readonly rules?: readonly PlacedRule[] | undefined;
}

/** The agent that calls; undefined for the host itself. */
export const agentOf = (caller: Caller | undefined): Caller | undefined =>
  caller?.isHost === true ? undefined : caller;

/** Whether it is within the limits of the way that the caller came. */
export function isWithin(
  limits: CallerLimits | undefined,
  { server, tool, kind }: { server: string; tool: string; kind: string },
): boolean {
  if (limits === undefined) return true;
  if (limits.servers?.has(server) === false) return false;
  return kind !== 'tool' || limits.tools?.has(tool) !== false;
}

/** The key of everything that is kept for a caller; its id is only its name. */
export const identityOf = ({ identity, id }: Caller): string => identity ?? id;

const keys = new WeakMap<Caller, string>();

/** What of a caller decides what it may know, on one way in. No two callers have the same, whatever their names are. */
export function callerKey(caller: Caller): string {
  const known = keys.get(caller);
  if (known !== undefined) return known;
  const key = JSON.stringify([caller.id, caller.isHost === true, caller.capabilities]);
  keys.set(caller, key);
  return key;
}

/** Is there such a server, up or not? What a word means must not depend on who happens to be up. */
export interface KnownServers {
  hasServer(server: string): boolean;
}

export type Grant =
  | { readonly granted: true; readonly by: string }
  | {
      readonly granted: false;
      readonly ambiguous: ReadonlyArray<{ readonly word: string; readonly meanings: readonly string[] }>;
    };

/** Whether the caller's words grant the tool, by which one, and which words were too vague to count. */
export function findGrant(
  caller: Pick<Caller, 'capabilities'>,
  { server, tool }: { server: string; tool: string },
  known: KnownServers,
): Grant {
  const held = new Set(caller.capabilities);
  const exact = ['mcp_integration', `mcp:${server}/${tool}`, `mcp:${server}`].find((word) => held.has(word));
  if (exact !== undefined) return { granted: true, by: exact };
  const ambiguous: Array<{ word: string; meanings: readonly string[] }> = [];
  for (const word of [`mcp_${server}`, `mcp_${server}_${tool}`]) {
    if (!held.has(word)) continue;
    const meanings = meaningsOf(word, known);
    if (meanings.length === 1) return { granted: true, by: word };
    ambiguous.push({ word, meanings });
  }
  return { granted: false, ambiguous };
}

/**
 * Everything that a word like `mcp_a_b_c` can stand for, in the exact spelling: any tool of that name, whether its
 * server has one now or not.
 */
export function meaningsOf(word: string, known: KnownServers): string[] {
  const rest = word.slice('mcp_'.length);
  const meanings = known.hasServer(rest) ? [`mcp:${rest}`] : [];
  for (let at = rest.indexOf('_'); at !== -1; at = rest.indexOf('_', at + 1)) {
    const server = rest.slice(0, at);
    const tool = rest.slice(at + 1);
    if (known.hasServer(server) && tool !== '') meanings.push(`mcp:${server}/${tool}`);
  }
  return meanings;
}
