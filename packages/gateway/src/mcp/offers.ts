/** What the servers of a view offer, as a caller may see it: the lists as text, and whose each thing is. */
import {
  type Caller,
  type CatalogTool,
  inSlices,
  type Runtime,
  type Steps,
  scanHeaderParameters,
  writeJson,
} from 'turnbuckle';
import { callerKey } from '../knows-server.js';
import { fitsTemplate } from './fits-template.js';
import type { Params } from './protocol.js';
import { unknownPrompt, unknownResource } from './surface-errors.js';
import { MAX_KEPT, renamed, type Target, type View } from './view.js';

type Kind = 'resources' | 'templates' | 'prompts';

interface Item {
  readonly server: string;
  readonly key: string;
  readonly definition: Params;
}

/** Whose a resource is. */
interface Owner {
  readonly server: string;
  readonly uri: string;
  /** Among what the caller may know. */
  readonly isListed: boolean;
}

/** How often a list of tools was at hand, and how often it had to be made. */
export interface OfferCounts {
  hits: number;
  misses: number;
}

/** How long a list waits for servers that are just coming up. */
const START_MS = 5_000;
/** Of all lists of tools that are kept. */
const MAX_KEPT_CHARACTERS = 32 * 1_024 * 1_024;

export class Offers {
  readonly #view: View;
  readonly #runtime: Runtime;
  readonly #counts: OfferCounts;
  readonly #kept = new Map<string, string>();
  /** Lists that are being written, for all who ask meanwhile. */
  readonly #writing = new Map<string, Promise<string>>();
  #keptCharacters = 0;
  #started: Promise<void> | undefined;

  /** Counts into `counts`, which may be those of several. */
  constructor(view: View, runtime: Runtime, counts: OfferCounts) {
    this.#view = view;
    this.#counts = counts;
    this.#runtime = runtime;
  }

  invalidate(): void {
    this.#kept.clear();
    this.#writing.clear();
    this.#keptCharacters = 0;
  }

  async tools(caller: Caller): Promise<string> {
    const key = callerKey(caller);
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#counts.hits += 1;
      // Asking is what has servers read again whose lists have run out; what is new then empties this.
      this.#runtime.tools();
      return kept;
    }
    this.#counts.misses += 1;
    await this.#whenStarted();
    const writing = this.#writing.get(key) ?? inSlices(this.#toolSteps(caller));
    this.#writing.set(key, writing);
    try {
      const text = await writing;
      // What changed meanwhile is not in it: then it is not kept.
      if (this.#writing.get(key) === writing) this.#keep(key, text);
      return text;
    } finally {
      if (this.#writing.get(key) === writing) this.#writing.delete(key);
    }
  }

  #keep(key: string, text: string): void {
    this.#keptCharacters += text.length;
    if (this.#kept.size >= MAX_KEPT || this.#keptCharacters > MAX_KEPT_CHARACTERS) {
      this.#kept.clear();
      this.#keptCharacters = text.length;
    }
    this.#kept.set(key, text);
  }

  *#toolSteps(caller: Caller): Steps<string> {
    const tools: Array<{ readonly name: string; readonly tool: CatalogTool }> = [];
    for (const tool of this.#runtime.toolsForAgent(caller)) {
      const name = this.#view.nameOf(tool, caller);
      if (name !== undefined) tools.push({ name, tool });
    }
    tools.sort((left, right) => (left.name < right.name ? -1 : 1));
    const fit: Params[] = [];
    for (const { name, tool } of tools) {
      // Clients over HTTP would have to repeat an argument in a header that cannot be one: such a tool is out of order.
      if (!('fault' in scanHeaderParameters(tool.inputSchema)))
        fit.push(renamed(tool.definition, 'name', name));
      yield;
    }
    return yield* listSteps(fit);
  }

  async resources(caller: Caller): Promise<string> {
    const named = this.#named('uri', await this.#items('resources', caller));
    return listText(named);
  }

  async templates(caller: Caller): Promise<string> {
    const items = await this.#items('templates', caller);
    return listText(items.map(({ definition }) => definition));
  }

  async prompts(caller: Caller): Promise<string> {
    return listText(this.#named('name', await this.#items('prompts', caller)));
  }

  /**
   * Whose it is, also if the caller may not know it: what is refused is refused where all calls are, and recorded there.
   * What the caller may know comes first, as in its list.
   */
  async findPrompt(name: string, caller: Caller): Promise<Target> {
    const found =
      this.#names(await this.#items('prompts', caller)).get(name) ??
      this.#names(await this.#items('prompts')).get(name);
    if (found === undefined) throw unknownPrompt(name);
    return { server: found.server, item: found.key };
  }

  async findTemplate(uri: string, caller: Caller): Promise<Target & { readonly isListed: boolean }> {
    const templates = await this.#items('templates', caller);
    const found =
      templates.find(({ key }) => key === uri) ?? templates.find(({ key }) => fitsTemplate(key, uri));
    if (found !== undefined) return { server: found.server, item: uri, isListed: true };
    const owner = await this.ownerOf(uri, caller);
    return { server: owner.server, item: owner.uri, isListed: owner.isListed };
  }

  /** By its place in a list, by a template that it fits, or the only server that could have it; like `findPrompt`. */
  async ownerOf(uri: string, caller: Caller): Promise<Owner> {
    const listed = this.#names(await this.#items('resources', caller), 'uri').get(uri);
    if (listed !== undefined) return { server: listed.server, uri: listed.key, isListed: true };
    const templates = await this.#items('templates', caller);
    const template = templates.find(({ key }) => fitsTemplate(key, uri));
    if (template !== undefined) return { server: template.server, uri, isListed: true };
    // Of all in the view, not of those that the caller knows: what is hidden must not go to another server instead.
    const [only, ...others] = this.#runtime
      .status()
      .filter(
        ({ name, capabilities }) => this.#view.hasServer(name) && capabilities?.resources !== undefined,
      );
    if (only !== undefined && others.length === 0) return { server: only.name, uri, isListed: false };
    const hidden = this.#names(await this.#items('resources'), 'uri').get(uri);
    if (hidden !== undefined) return { server: hidden.server, uri: hidden.key, isListed: false };
    const hiding = (await this.#items('templates')).find(({ key }) => fitsTemplate(key, uri));
    if (hiding !== undefined) return { server: hiding.server, uri, isListed: false };
    throw unknownResource(uri);
  }

  /** The definitions, as their servers wrote them, of what the caller may know; without one, of all in the view. */
  async #items(kind: Kind, caller?: Caller): Promise<Item[]> {
    await this.#whenStarted();
    const { catalog } = this.#runtime;
    const listed: ReadonlyArray<{ readonly server: string }> = await this.#list(kind, caller);
    const visible = new Map<string, Set<string>>();
    for (const item of listed) {
      const keys = visible.get(item.server) ?? new Set();
      visible.set(item.server, keys.add(String(Reflect.get(item, KEYS[kind]))));
    }
    return [...visible].flatMap(([server, keys]) =>
      this.#view.hasServer(server) ? catalog.items(server, kind).filter(({ key }) => keys.has(key)) : [],
    );
  }

  #list(kind: Kind, caller: Caller | undefined): Promise<ReadonlyArray<{ readonly server: string }>> {
    if (kind === 'prompts') return this.#runtime.listPrompts(undefined, caller);
    if (kind === 'templates') return this.#runtime.listResourceTemplates(undefined, caller);
    return this.#runtime.listResources(undefined, caller);
  }

  #names(items: readonly Item[], key: 'name' | 'uri' = 'name'): Map<string, Item> {
    const isPlain = key === 'uri' || this.#view.options.names === 'plain';
    return this.#view.nameAll(
      items,
      (item) => (isPlain ? item.key : `${item.server}_${item.key}`),
      (item) =>
        key === 'uri'
          ? `turnbuckle://${encodeURIComponent(item.server)}/${encodeURIComponent(item.key)}`
          : `${item.server}__${item.key}`,
    );
  }

  #named(key: 'name' | 'uri', items: readonly Item[]): Params[] {
    return [...this.#names(items, key)].map(([name, { definition }]) => renamed(definition, key, name));
  }

  /** Servers that come up with us are in the first list already, if they do not take too long. */
  #whenStarted(): Promise<void> {
    this.#started ??= Promise.race([
      this.#runtime.connectAll().then(() => {}),
      new Promise<void>((resolve) => setTimeout(resolve, START_MS).unref()),
    ]);
    return this.#started;
  }
}

/** A definition that cannot be written, such as a ring in one of the host's own, does not take the others with it. */
const listText = (items: readonly Params[]): Promise<string> => inSlices(listSteps(items));

function* listSteps(items: readonly Params[]): Steps<string> {
  const texts: string[] = [];
  for (const item of items) {
    const text = textOf(item);
    if (text !== undefined) texts.push(text);
    yield;
  }
  return `[${texts.join(',')}]`;
}

function textOf(item: Params): string | undefined {
  try {
    return writeJson(item);
  } catch {
    return undefined;
  }
}

const KEYS: Readonly<Record<Kind, string>> = { resources: 'uri', templates: 'uriTemplate', prompts: 'name' };
