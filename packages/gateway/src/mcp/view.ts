/**
 * What one address offers: all servers or some of them, under names of its own. Knows which tool, resource
 * and prompt stands behind a name that a client uses, with one look whatever their number.
 */
import { type Caller, type CatalogTool, callerKey, keepSpelling, type Rule, type Runtime } from 'turnbuckle';
import type { Params } from './protocol.js';

export interface ViewOptions {
  /** The servers in it; absent: all. */
  readonly servers?: readonly string[] | undefined;
  /** Their tools in it, by the names at their servers; absent: all. */
  readonly tools?: readonly string[] | undefined;
  /** How they are called here: with their server's name before it, or as their server calls them where that is unique. */
  readonly names?: 'prefixed' | 'plain' | undefined;
  /** Its callers have no more than these capabilities, whatever their token says. */
  readonly capabilities?: readonly string[] | undefined;
  /** Rules beside the ordinary ones: the stricter of the two decisions holds here. */
  readonly rules?: readonly Rule[] | undefined;
}

export interface Target {
  readonly server: string;
  /** Its name, or URI, at its server. */
  readonly item: string;
}

/** So many callers' lists or names are kept; they are the same until something changes. */
export const MAX_KEPT = 200;

export class View {
  readonly name: string;
  readonly options: ViewOptions;
  /** The most that anybody can do here, the owner too; undefined: whatever they may do anywhere. */
  readonly limits: Caller['limits'];
  readonly #runtime: Runtime;
  #names: Names | undefined;
  #madeOf: { readonly listed: readonly CatalogTool[]; readonly rules: Runtime['rules'] } | undefined;
  /** Where tools of several servers would have the same name, what a tool is called depends on what the caller may know. */
  #hasTwins = false;
  readonly #namesFor = new Map<string, Names>();

  constructor(name: string, options: ViewOptions, runtime: Runtime) {
    this.name = name;
    this.options = options;
    this.limits = limitsOf(options);
    this.#runtime = runtime;
  }

  /** Something in the catalog is different: names are looked up anew. */
  invalidate(): void {
    this.#names = undefined;
    this.#namesFor.clear();
  }

  hasServer(server: string): boolean {
    return this.options.servers?.includes(server) ?? true;
  }

  /**
   * The tool that a name stands for, also if the caller may not know it: what is refused is refused where all calls are,
   * and recorded there. What the caller may know comes first, as in its list, and has no other name.
   */
  findTool(name: string, caller: Caller): CatalogTool | undefined {
    const { tools, exposed } = this.#namesOf(caller);
    const found = tools.get(name);
    if (found !== undefined || !this.#hasTwins) return found;
    const hidden = this.#all().tools.get(name);
    return hidden === undefined || exposed.has(hidden) ? undefined : hidden;
  }

  /** What a caller calls a tool here; undefined when it is not in this view. */
  nameOf(tool: CatalogTool, caller: Caller): string | undefined {
    return this.#namesOf(caller).exposed.get(tool);
  }

  #all(): Names {
    const { catalog, rules } = this.#runtime;
    const listed = catalog.list();
    // Both are others whenever something in them is; not every reading of a list is told of.
    if (this.#names !== undefined && this.#madeOf?.listed === listed && this.#madeOf.rules === rules)
      return this.#names;
    this.#madeOf = { listed, rules };
    this.#namesFor.clear();
    const tools = listed.filter(({ server, tool }) => this.#has(server, tool));
    const isPlain = this.options.names === 'plain';
    this.#hasTwins = isPlain && new Set(tools.map(({ tool }) => tool)).size < tools.length;
    this.#names = nameTools(tools, isPlain);
    return this.#names;
  }

  #namesOf(caller: Caller): Names {
    const all = this.#all();
    if (!this.#hasTwins) return all;
    const key = callerKey(caller);
    const known = this.#namesFor.get(key);
    if (known !== undefined) return known;
    const seen = this.#runtime.toolsForAgent(caller).filter(({ server, tool }) => this.#has(server, tool));
    const names = nameTools(seen, true);
    if (this.#namesFor.size >= MAX_KEPT) this.#namesFor.clear();
    this.#namesFor.set(key, names);
    return names;
  }

  #has(server: string, tool: string): boolean {
    return this.hasServer(server) && (this.options.tools?.includes(tool) ?? true);
  }
}

interface Names {
  readonly tools: ReadonlyMap<string, CatalogTool>;
  readonly exposed: ReadonlyMap<CatalogTool, string>;
}

function nameTools(tools: readonly CatalogTool[], isPlain: boolean): Names {
  const found = new Map<string, CatalogTool>();
  for (const tool of tools) found.set(isPlain && !found.has(tool.tool) ? tool.tool : tool.name, tool);
  return { tools: found, exposed: new Map([...found].map(([name, tool]) => [tool, name])) };
}

function limitsOf({ servers, tools, capabilities, rules }: ViewOptions): Caller['limits'] {
  if ([servers, tools, capabilities, rules].every((bound) => bound === undefined)) return undefined;
  return {
    servers: servers && new Set(servers),
    tools: tools && new Set(tools),
    capabilities,
    rules: rules?.map((rule, position) => ({ rule, from: 'view', position })),
  };
}

/** An entry of a list, with another name. */
export const renamed = (definition: Params, key: string, name: string): Params =>
  keepSpelling(definition, { ...definition, [key]: name });
