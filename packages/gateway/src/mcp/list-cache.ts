/** What the servers of a view offer, as a caller may see it: the lists as text, and whose each thing is. */
import {
  type Caller,
  type CatalogItem,
  type CatalogTool,
  type Runtime,
  type Steps,
  scanHeaderParameters,
  writeJson,
} from 'turnbuckle';
import { toShare } from '../http/answer-text.js';
import { fitsTemplate } from './fits-template.js';
import { MadeOfList } from './made-of-list.js';
import type { Params } from './protocol.js';
import { unknownPrompt, unknownResource } from './surface-errors.js';
import { MAX_KEPT, renamed, type Target, type View } from './view.js';

type Kind = 'resources' | 'templates' | 'prompts';
type Items = readonly CatalogItem[];
type Names = ReadonlyMap<string, CatalogItem>;

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
/** Of all texts of lists that are kept. */
const MAX_KEPT_CHARACTERS = 32 * 1_024 * 1_024;
/** Of all entries whose names are kept. */
const MAX_KEPT_NAMES = 200_000;

export class Offers {
  readonly #view: View;
  readonly #runtime: Runtime;
  readonly #counts: OfferCounts;
  /** Lists are the same arrays as long as nothing changes, so what is made of them is kept by them. */
  readonly #texts = new MadeOfList<readonly object[], string | Buffer>({
    maxLists: MAX_KEPT,
    maxWeight: MAX_KEPT_CHARACTERS,
    weigh: (text) => text.length,
  });
  readonly #named = new MadeOfList<Items, Names>({
    maxLists: MAX_KEPT,
    maxWeight: MAX_KEPT_NAMES,
    weigh: (names) => names.size,
  });
  readonly #inView = new MadeOfList<Items, Items>({
    maxLists: MAX_KEPT,
    maxWeight: MAX_KEPT_NAMES,
    weigh: (items) => items.length,
  });
  readonly #only = new MadeOfList<Items, readonly string[]>({
    maxLists: MAX_KEPT,
    maxWeight: MAX_KEPT,
    weigh: () => 1,
  });
  #started: Promise<void> | undefined;

  /** Counts into `counts`, which may be those of several. */
  constructor(view: View, runtime: Runtime, counts: OfferCounts) {
    this.#view = view;
    this.#counts = counts;
    this.#runtime = runtime;
  }

  /** Nothing that was made so far is asked for again. */
  invalidate(): void {
    this.#texts.clear();
    this.#named.clear();
    this.#inView.clear();
    this.#only.clear();
  }

  async tools(caller: Caller): Promise<string | Buffer> {
    // Asking is also what has servers read again whose lists have run out.
    const known = await this.#runtime.visibleTools(caller);
    if (this.#texts.has(known)) {
      this.#counts.hits += 1;
      return this.#toolText(known, caller);
    }
    this.#counts.misses += 1;
    await this.#whenStarted();
    return this.#toolText(await this.#runtime.visibleTools(caller), caller);
  }

  #toolText(tools: readonly CatalogTool[], caller: Caller): Promise<string | Buffer> {
    return this.#texts.get(tools, () => this.#toolSteps(tools, caller));
  }

  *#toolSteps(visible: readonly CatalogTool[], caller: Caller): Steps<string | Buffer> {
    const tools: Array<{ readonly name: string; readonly tool: CatalogTool }> = [];
    for (const tool of visible) {
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

  async resources(caller: Caller): Promise<string | Buffer> {
    return this.#listText('resources', await this.#items('resources', caller));
  }

  async templates(caller: Caller): Promise<string | Buffer> {
    return this.#listText('templates', await this.#items('templates', caller));
  }

  async prompts(caller: Caller): Promise<string | Buffer> {
    return this.#listText('prompts', await this.#items('prompts', caller));
  }

  /**
   * Whose it is, also if the caller may not know it: what is refused is refused where all calls are, and recorded there.
   * What the caller may know comes first, as in its list.
   */
  async findPrompt(name: string, caller: Caller): Promise<Target> {
    const found =
      (await this.#names('prompts', await this.#items('prompts', caller))).get(name) ??
      (await this.#names('prompts', await this.#items('prompts'))).get(name);
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
    const listed = (await this.#names('resources', await this.#items('resources', caller))).get(uri);
    if (listed !== undefined) return { server: listed.server, uri: listed.key, isListed: true };
    const templates = await this.#items('templates', caller);
    const template = templates.find(({ key }) => fitsTemplate(key, uri));
    if (template !== undefined) return { server: template.server, uri, isListed: true };
    // Of all in the view, not of those that the caller knows: what is hidden must not go to another server instead.
    const all = await this.#items('resources');
    const [only] = await this.#only.get(all, () => this.#onlySteps());
    if (only !== undefined) return { server: only, uri, isListed: false };
    const hidden = (await this.#names('resources', all)).get(uri);
    if (hidden !== undefined) return { server: hidden.server, uri: hidden.key, isListed: false };
    const hiding = (await this.#items('templates')).find(({ key }) => fitsTemplate(key, uri));
    if (hiding !== undefined) return { server: hiding.server, uri, isListed: false };
    throw unknownResource(uri);
  }

  /** The one server of the view that has resources at all. One that comes or goes makes another list. */
  *#onlySteps(): Steps<readonly string[]> {
    const able = this.#runtime
      .status()
      .filter(
        ({ name, capabilities }) => this.#view.hasServer(name) && capabilities?.resources !== undefined,
      );
    return able.length === 1 ? able.map(({ name }) => name) : [];
  }

  /** The definitions, as their servers wrote them, of what the caller may know; without one, of all in the view. */
  async #items(kind: Kind, caller?: Caller): Promise<Items> {
    await this.#whenStarted();
    const items = await this.#runtime.visibleItems(kind, caller);
    return this.#view.options.servers === undefined
      ? items
      : this.#inView.get(items, () => this.#inViewSteps(items));
  }

  *#inViewSteps(items: Items): Steps<Items> {
    const found: CatalogItem[] = [];
    for (const item of items) {
      if (this.#view.hasServer(item.server)) found.push(item);
      yield;
    }
    return found;
  }

  #listText(kind: Kind, items: Items): Promise<string | Buffer> {
    return this.#texts.get(items, () => this.#listSteps(kind, items));
  }

  *#listSteps(kind: Kind, items: Items): Steps<string | Buffer> {
    if (kind === 'templates') return yield* listSteps(items.map(({ definition }) => definition));
    const key = kind === 'prompts' ? 'name' : 'uri';
    const named: Params[] = [];
    for (const [name, { definition }] of yield* this.#nameSteps(kind, items)) {
      named.push(renamed(definition, key, name));
      yield;
    }
    return yield* listSteps(named);
  }

  #names(kind: 'prompts' | 'resources', items: Items): Promise<Names> {
    return this.#named.get(items, () => this.#nameSteps(kind, items));
  }

  /** Several items with the same name: those after the first carry their server's name. */
  *#nameSteps(kind: 'prompts' | 'resources', items: Items): Steps<Names> {
    const isPlain = kind === 'resources' || this.#view.options.names === 'plain';
    const names = new Map<string, CatalogItem>();
    for (const item of items) {
      const name = isPlain ? item.key : `${item.server}_${item.key}`;
      names.set(names.has(name) ? apart(kind, item) : name, item);
      yield;
    }
    return names;
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

const apart = (kind: 'prompts' | 'resources', { server, key }: CatalogItem): string =>
  kind === 'resources'
    ? `turnbuckle://${encodeURIComponent(server)}/${encodeURIComponent(key)}`
    : `${server}__${key}`;

/** A definition that cannot be written, such as a ring in one of the host's own, does not take the others with it. */
function* listSteps(items: readonly Params[]): Steps<string | Buffer> {
  const texts: string[] = [];
  for (const item of items) {
    const text = textOf(item);
    if (text !== undefined) texts.push(text);
    yield;
  }
  const text = `[${texts.join(',')}]`;
  yield;
  return toShare(text);
}

function textOf(item: Params): string | undefined {
  try {
    return writeJson(item);
  } catch {
    return undefined;
  }
}
