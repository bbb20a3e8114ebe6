/**
 * What one address offers: all servers or some of them, under names of its own. Finds the tool, resource or prompt
 * behind a name that a client uses, in constant time.
 */
import type { Caller, CatalogTool, Rule, Runtime } from 'turnbuckle';
import { callerKey, copyRawNumbers, isWithinLimits, runToEnd, type Steps } from 'turnbuckle/host';
import type { Params } from './protocol/protocol.js';

export interface ViewOptions {
  /** The servers in it; absent: all. */
  readonly servers?: readonly string[] | undefined;
  /** The tools in it, by their names at the server; absent: all. */
  readonly tools?: readonly string[] | undefined;
  /** How tools are named: with their server's name as prefix, or by their plain name where that is unique. */
  readonly names?: 'prefixed' | 'plain' | undefined;
  /** Whether resources and prompts are offered as tools; absent: as in the rest of the daemon. */
  readonly resourceTools?: boolean | undefined;
  /** The maximum capabilities of its callers, regardless of their tokens. */
  readonly capabilities?: readonly string[] | undefined;
  /** Additional rules: the stricter of the two decisions applies. */
  readonly rules?: readonly Rule[] | undefined;
}

export interface Target {
  readonly server: string;
  /** Its name, or URI, at its server. */
  readonly item: string;
}

/** For how many callers lists and names are cached; they are the same until something changes. */
export const MAX_CACHED_CALLERS = 200;

export class View {
  readonly name: string;
  readonly options: ViewOptions;
  /** The limits for every caller, including the owner; undefined: no limits. */
  readonly limits: Caller['limits'];
  readonly #runtime: Runtime;
  #names: Names | undefined;
  #namesSource: { readonly listed: readonly CatalogTool[]; readonly rules: Runtime['rules'] } | undefined;
  /** If tools of several servers have the same name, a tool's name depends on what the caller may know. */
  #hasDuplicateNames = false;
  readonly #namesFor = new Map<string, Names>();

  constructor(name: string, options: ViewOptions, runtime: Runtime) {
    this.name = name;
    this.options = options;
    this.limits = limitsOf(options);
    this.#runtime = runtime;
  }

  /** The catalog has changed: names are looked up again. */
  invalidate(): void {
    this.#names = undefined;
    this.#namesFor.clear();
  }

  hasServer(server: string): boolean {
    return this.options.servers?.includes(server) ?? true;
  }

  /**
   * The tool behind a name, even if the caller may not know it: the call path rejects and records it. Tools that the
   * caller may know come first, as in its list, and have no other name.
   */
  findTool(name: string, caller: Caller): CatalogTool | undefined {
    const { tools, exposed } = this.#namesOf(caller);
    const found = tools.get(name);
    if (found !== undefined || !this.#hasDuplicateNames) return found;
    const hidden = this.#allNames().tools.get(name);
    return hidden === undefined || exposed.has(hidden) ? undefined : hidden;
  }

  /** The name of a tool for a caller; undefined if it is not in this view. */
  nameOf(tool: CatalogTool, caller: Caller): string | undefined {
    const name = this.#namesOf(caller).exposed.get(tool);
    if (name !== undefined || this.options.names === 'plain') return name;
    // A tool that only this caller has is not in the catalog.
    const isOwn = this.#runtime.catalog.get(tool.name) === undefined && this.#has(tool);
    return isOwn ? tool.name : undefined;
  }

  #allNames(): Names {
    const { catalog, rules } = this.#runtime;
    const listed = catalog.list();
    // Both change whenever their content changes; not every refresh of a list is announced.
    if (
      this.#names !== undefined &&
      this.#namesSource?.listed === listed &&
      this.#namesSource.rules === rules
    )
      return this.#names;
    this.#namesSource = { listed, rules };
    this.#namesFor.clear();
    const tools = listed.filter((tool) => this.#has(tool));
    const isPlain = this.options.names === 'plain';
    this.#names = this.#nameTools(tools);
    this.#hasDuplicateNames = isPlain && [...this.#names.exposed].some(([{ tool }, name]) => name !== tool);
    return this.#names;
  }

  #namesOf(caller: Caller): Names {
    const all = this.#allNames();
    if (!this.#hasDuplicateNames) return all;
    const key = callerKey(caller);
    const known = this.#namesFor.get(key);
    if (known !== undefined) return known;
    const seen = this.#runtime.toolsForAgent(caller).filter((tool) => this.#has(tool));
    const names = this.#nameTools(seen);
    if (this.#namesFor.size >= MAX_CACHED_CALLERS) this.#namesFor.clear();
    this.#namesFor.set(key, names);
    return names;
  }

  #nameTools(tools: readonly CatalogTool[]): Names {
    const isPlain = this.options.names === 'plain';
    const named = this.nameItems(tools, {
      preferred: ({ tool, name }) => (isPlain ? tool : name),
      full: ({ name }) => name,
    });
    const found = runToEnd(named);
    return { tools: found, exposed: new Map([...found].map(([name, tool]) => [tool, name])) };
  }

  /**
   * Names that each belong to one item. A name that several items prefer goes to the one whose server this view names first,
   * unless it is the full name of another item.
   */
  *nameItems<Item extends { readonly server: string }>(
    items: readonly Item[],
    { preferred, full }: ItemNames<Item>,
  ): Steps<ReadonlyMap<string, Item>> {
    const fullNames = new Set<string>();
    for (const item of items) {
      fullNames.add(full(item));
      yield;
    }
    const named = new Map<string, Item>();
    for (const item of inServerOrder(items, this.options.servers)) {
      const name = preferred(item);
      const isFree = !named.has(name) && (!fullNames.has(name) || full(item) === name);
      named.set(isFree ? name : full(item), item);
      yield;
    }
    return named;
  }

  #has({ server, tool, native }: CatalogTool): boolean {
    const resourceTool = native ? this.#runtime.catalog.nativeTool(tool)?.resourceTool : undefined;
    return isWithinLimits(this.limits, { server, tool, kind: 'tool' }, resourceTool);
  }
}

interface Names {
  readonly tools: ReadonlyMap<string, CatalogTool>;
  readonly exposed: ReadonlyMap<CatalogTool, string>;
}

interface ItemNames<Item> {
  readonly preferred: (item: Item) => string;
  /** No other item has it. */
  readonly full: (item: Item) => string;
}

/** In the order in which the view names the servers; for each server, and without such an order, as listed. */
function inServerOrder<Item extends { readonly server: string }>(
  items: readonly Item[],
  servers: readonly string[] | undefined,
): readonly Item[] {
  if (servers === undefined) return items;
  const places = new Map(servers.map((server, place) => [server, place]));
  const placeOf = ({ server }: Item): number => places.get(server) ?? servers.length;
  return [...items].sort((left, right) => placeOf(left) - placeOf(right));
}

function limitsOf({ servers, tools, resourceTools, capabilities, rules }: ViewOptions): Caller['limits'] {
  if ([servers, tools, resourceTools, capabilities, rules].every((bound) => bound === undefined))
    return undefined;
  return {
    servers: servers && new Set(servers),
    tools: tools && new Set(tools),
    resourceTools,
    capabilities: capabilities && [capabilities],
    rules: rules?.map((rule, position) => ({ rule, from: 'view', position })),
  };
}

/** A list entry with another name. */
export const withName = (definition: Params, key: string, name: string): Params =>
  copyRawNumbers(definition, { ...definition, [key]: name });
