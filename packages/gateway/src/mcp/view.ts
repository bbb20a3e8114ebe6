/**
 * What one address offers: all servers or some of them, under names of its own. Knows which tool, resource
 * and prompt stands behind a name that a client uses, with one look whatever their number.
 */
import { type Caller, type CatalogTool, keepSpelling, type Rule, type Runtime } from 'turnbuckle';
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

export class View {
  readonly name: string;
  readonly options: ViewOptions;
  /** The most that anybody can do here, the owner too; undefined: whatever they may do anywhere. */
  readonly limits: Caller['limits'];
  readonly #runtime: Runtime;
  #tools: ReadonlyMap<string, CatalogTool> | undefined;
  #exposed: ReadonlyMap<CatalogTool, string> = new Map();

  constructor(name: string, options: ViewOptions, runtime: Runtime) {
    this.name = name;
    this.options = options;
    this.limits = limitsOf(options);
    this.#runtime = runtime;
  }

  /** Something in the catalog is different: names are looked up anew. */
  invalidate(): void {
    this.#tools = undefined;
  }

  hasServer(server: string): boolean {
    return this.options.servers?.includes(server) ?? true;
  }

  findTool(name: string): CatalogTool | undefined {
    return this.#index().get(name);
  }

  /** The name of a tool here; undefined when it is not in this view. */
  nameOf(tool: CatalogTool): string | undefined {
    this.#index();
    return this.#exposed.get(tool);
  }

  /** Several items of servers with the same name: those after the first carry their server's name. */
  nameAll<Item extends { readonly server: string }>(
    items: readonly Item[],
    keyOf: (item: Item) => string,
    rename: (item: Item) => string,
  ): Map<string, Item> {
    const named = new Map<string, Item>();
    for (const item of items) {
      if (!this.hasServer(item.server)) continue;
      const key = keyOf(item);
      named.set(named.has(key) ? rename(item) : key, item);
    }
    return named;
  }

  #index(): ReadonlyMap<string, CatalogTool> {
    if (this.#tools !== undefined) return this.#tools;
    const { tools: only, names = 'prefixed' } = this.options;
    const members = this.#runtime.catalog
      .list()
      .filter(({ server, tool }) => this.hasServer(server) && (only?.includes(tool) ?? true));
    const found = new Map<string, CatalogTool>();
    for (const tool of members) {
      const plain = names === 'plain' && !found.has(tool.tool);
      found.set(plain ? tool.tool : tool.name, tool);
    }
    this.#tools = found;
    this.#exposed = new Map([...found].map(([name, tool]) => [tool, name]));
    return found;
  }
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
