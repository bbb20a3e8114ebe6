/**
 * What a caller may see and call, in three layers: all MCP (`mcp_integration`), a server (`mcp_github`), a
 * tool (`mcp_github_create_issue`). A word that could mean two things grants nothing; `mcp:server` and
 * `mcp:server/tool` are exact. Pure, and no dearer with many tools: it only looks at the splits of a name.
 */

export interface Caller {
  readonly id: string;
  readonly capabilities: readonly string[];
  /** What belongs together of what it does, such as a session. */
  readonly run?: string | undefined;
}

/** Does this server exist, and has it this tool? Needed to tell whether a word has two meanings. */
export interface KnownTools {
  hasServer(server: string): boolean;
  hasTool(server: string, tool: string): boolean;
}

export type Grant =
  | { readonly granted: true; readonly by: string }
  | {
      readonly granted: false;
      readonly ambiguous: ReadonlyArray<{ readonly word: string; readonly meanings: readonly string[] }>;
    };

/** Whether the caller's words grant the tool, by which one, and which words were too vague to count. */
export function findGrant(
  caller: Caller,
  { server, tool }: { server: string; tool: string },
  known: KnownTools,
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

/** Everything that a word like `mcp_a_b_c` can stand for, in the exact spelling. */
export function meaningsOf(word: string, known: KnownTools): string[] {
  const rest = word.slice('mcp_'.length);
  const meanings = known.hasServer(rest) ? [`mcp:${rest}`] : [];
  for (let at = rest.indexOf('_'); at !== -1; at = rest.indexOf('_', at + 1)) {
    const server = rest.slice(0, at);
    const tool = rest.slice(at + 1);
    if (known.hasServer(server) && known.hasTool(server, tool)) meanings.push(`mcp:${server}/${tool}`);
  }
  return meanings;
}
