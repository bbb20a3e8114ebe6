/**
 * Whether a text of a server mentions another server: by the full name of a tool (`mcp__files__read`), by a tool's
 * original name unless it is an everyday word (`read_file`), or by the name of a server in context ("the files MCP
 * server"). A server named after an everyday word is not found in ordinary sentences.
 */

export interface MentionableTool {
  readonly name: string;
  readonly server: string;
  readonly tool: string;
}

/** Several words: never an everyday word. */
const COMPOUND = /^(?:[A-Za-z0-9]+(?:[_-]+[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+)$/;
const WORD = /[\w-]{3,}/g;
const SERVER_MENTION_PATTERNS = [
  /\bmcp(?:\s+server)?\s+["'`“]?([\w.-]+)/g,
  /(?<![\w.-])([\w.-]+)["'`”]?\s+mcp\b/g,
  /["'`“]([\w.-]+)["'`”]\s+(?:mcp|server|tools?)\b/g,
  /\b(?:server|tools?\s+(?:of|from|by))\s+["'`“]([\w.-]+)["'`”]/g,
  /(?<![\w.:-])([\w.-]+):[\w-]+/g,
];
const MIN_TOOL_NAME_LENGTH = 6;

/** Which names refer to which servers, in lower case. Rebuilt when servers or tools change. */
export class MentionIndex {
  readonly #owners = new Map<string, Set<string>>();
  readonly #servers: ReadonlyMap<string, string>;

  constructor(servers: Iterable<string>, tools: Iterable<MentionableTool>) {
    this.#servers = new Map([...servers].map((server) => [server.toLowerCase(), server]));
    for (const { name, server, tool } of tools) {
      this.#add(name, server);
      if (tool.length >= MIN_TOOL_NAME_LENGTH && isCompound(tool)) this.#add(tool, server);
    }
    for (const [word, server] of this.#servers) if (isCompound(server)) this.#add(word, server);
  }

  /** True if the text of this server names another one. */
  mentionsOther(text: string, server: string): boolean {
    const lower = text.toLowerCase();
    if (lower.match(WORD)?.some((word) => this.#belongsToOther(word, server)) === true) return true;
    // The context is only checked where a name occurs at all.
    const near = [...this.#servers].some(([name, named]) => named !== server && lower.includes(name));
    return near && SERVER_MENTION_PATTERNS.some((pattern) => this.#namesOtherServer(lower, pattern, server));
  }

  #namesOtherServer(text: string, pattern: RegExp, server: string): boolean {
    for (const [, word = ''] of text.matchAll(pattern)) {
      const named = this.#servers.get(word);
      if (named !== undefined && named !== server) return true;
    }
    return false;
  }

  #belongsToOther(word: string, server: string): boolean {
    const owners = this.#owners.get(word);
    // A name that is also its own counts as its own.
    if (owners !== undefined) return !owners.has(server);
    if (!word.startsWith('mcp_')) return false;
    const rest = word.replace(/^mcp_+/, '');
    for (const [name, named] of this.#servers)
      if (named !== server && rest.startsWith(`${name}_`)) return true;
    return false;
  }

  #add(word: string, server: string): void {
    const key = word.toLowerCase();
    const owners = this.#owners.get(key);
    if (owners === undefined) this.#owners.set(key, new Set([server]));
    else owners.add(server);
  }
}

const isCompound = (name: string): boolean => COMPOUND.test(name);
