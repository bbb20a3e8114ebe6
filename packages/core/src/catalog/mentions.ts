/**
 * Does a server's text speak about another server? By the full name of a tool (`mcp__files__read`), by a
 * tool's own name where it is no everyday word (`read_file`), or by the name of a server where it is meant as
 * one ("the files MCP server"). A server named after an everyday word is not found in everyday sentences.
 */

export interface MentionableTool {
  readonly name: string;
  readonly server: string;
  readonly tool: string;
}

/** Made of several words: no everyday word is. */
const COMPOUND = /^(?:[A-Za-z0-9]+(?:[_-]+[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+)$/;
const WORD = /[\w-]{3,}/g;
const AS_SERVER = [
  /\bmcp(?:\s+server)?\s+["'`“]?([\w.-]+)/g,
  /(?<![\w.-])([\w.-]+)["'`”]?\s+mcp\b/g,
  /["'`“]([\w.-]+)["'`”]\s+(?:mcp|server|tools?)\b/g,
  /\b(?:server|tools?\s+(?:of|from|by))\s+["'`“]([\w.-]+)["'`”]/g,
  /(?<![\w.:-])([\w.-]+):[\w-]+/g,
];
const SHORTEST_TOOL = 6;

/** Who is meant by which word, in small letters. Made anew when servers or tools come or go. */
export class MentionIndex {
  readonly #owners = new Map<string, Set<string>>();
  readonly #servers: ReadonlyMap<string, string>;

  constructor(servers: Iterable<string>, tools: Iterable<MentionableTool>) {
    this.#servers = new Map([...servers].map((server) => [server.toLowerCase(), server]));
    for (const { name, server, tool } of tools) {
      this.#add(name, server);
      if (tool.length >= SHORTEST_TOOL && isCompound(tool)) this.#add(tool, server);
    }
    for (const [word, server] of this.#servers) if (isCompound(server)) this.#add(word, server);
  }

  /** True when the text of this server names another one. */
  mentionsOther(text: string, server: string): boolean {
    const lower = text.toLowerCase();
    if (lower.match(WORD)?.some((word) => this.#meansOther(word, server)) === true) return true;
    // Whether a name is meant as a server's is only looked at where a name stands at all.
    const near = [...this.#servers].some(([name, named]) => named !== server && lower.includes(name));
    return near && AS_SERVER.some((pattern) => this.#names(lower, pattern, server));
  }

  #names(text: string, pattern: RegExp, server: string): boolean {
    for (const [, word = ''] of text.matchAll(pattern)) {
      const named = this.#servers.get(word);
      if (named !== undefined && named !== server) return true;
    }
    return false;
  }

  #meansOther(word: string, server: string): boolean {
    const owners = this.#owners.get(word);
    // A name that is also one of its own is its own.
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
