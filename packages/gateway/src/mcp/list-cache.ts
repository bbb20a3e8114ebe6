/** The lists of a view as a caller may see them: their text, and which server each item belongs to. */
import type { Caller, CatalogTool, Runtime } from 'turnbuckle';
import {
  type CatalogItem,
  isRecord,
  type Steps,
  scanHeaderParameters,
  toPromptName,
  writeJson,
} from 'turnbuckle/host';
import { toShareableText } from '../http/response-text.js';
import type { ListCacheCounts } from '../metrics/list-metrics.js';
import { DerivedCache } from './derived-cache.js';
import { unknownPrompt, unknownResource } from './dispatcher-errors.js';
import { matchesTemplate } from './matches-template.js';
import type { Params } from './protocol/protocol.js';
import { MAX_CACHED_CALLERS, type Target, type View, withName } from './view.js';

type Kind = 'resources' | 'templates' | 'prompts';
type Items = readonly CatalogItem[];
type Names = ReadonlyMap<string, CatalogItem>;

/** Which server a resource belongs to. */
interface ResourceOwner {
  readonly server: string;
  readonly uri: string;
  /** Whether the caller may know it. */
  readonly isListed: boolean;
}

/** How long a list waits for servers that are still connecting. */
const STARTUP_WAIT_MS = 5_000;
/** The limit for the text of all cached lists. */
const MAX_CACHED_CHARACTERS = 32 * 1_024 * 1_024;
/** In `_meta` of a tool: the energy that a call probably costs. */
const ENERGY_META = 'turnbuckle/estimatedEnergyCost';
/** The limit for all entries whose names are cached. */
const MAX_CACHED_NAMES = 200_000;

export class ListCache {
  readonly #view: View;
  readonly #runtime: Runtime;
  readonly #counts: ListCacheCounts;
  /** Lists are the same arrays as long as nothing changes, so derived values are cached by list. */
  readonly #texts = new DerivedCache<readonly object[], string | Buffer>({
    maxLists: MAX_CACHED_CALLERS,
    maxWeight: MAX_CACHED_CHARACTERS,
    weigh: (text) => text.length,
  });
  readonly #named = new DerivedCache<Items, Names>({
    maxLists: MAX_CACHED_CALLERS,
    maxWeight: MAX_CACHED_NAMES,
    weigh: (names) => names.size,
  });
  readonly #inView = new DerivedCache<Items, Items>({
    maxLists: MAX_CACHED_CALLERS,
    maxWeight: MAX_CACHED_NAMES,
    weigh: (items) => items.length,
  });
  readonly #onlyServer = new DerivedCache<Items, readonly string[]>({
    maxLists: MAX_CACHED_CALLERS,
    maxWeight: MAX_CACHED_CALLERS,
    weigh: () => 1,
  });
  #started: Promise<void> | undefined;

  /** Adds to `counts`, which several caches may share. */
  constructor(view: View, runtime: Runtime, counts: ListCacheCounts) {
    this.#view = view;
    this.#counts = counts;
    this.#runtime = runtime;
  }

  /** Drops everything that was derived so far. */
  invalidate(): void {
    this.#texts.clear();
    this.#named.clear();
    this.#inView.clear();
    this.#onlyServer.clear();
  }

  async tools(caller: Caller): Promise<string | Buffer> {
    // Reading the catalog also makes servers refresh lists that have expired.
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
      // A tool with an argument that cannot be sent in a header is unusable for clients over HTTP.
      if (!('fault' in scanHeaderParameters(tool.inputSchema)))
        fit.push(this.#withEstimate(withName(tool.definition, 'name', name), tool));
      yield;
    }
    return yield* listSteps(fit);
  }

  /** As the server wrote it, unless energy is configured: then an agent sees what a call probably costs. */
  #withEstimate(shown: Params, tool: CatalogTool): Params {
    const { energy } = this.#runtime;
    if (energy?.isConfigured !== true || tool.native) return shown;
    const meta = isRecord(shown._meta) ? shown._meta : {};
    return { ...shown, _meta: { ...meta, [ENERGY_META]: energy.estimate(tool) } };
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
   * The server it belongs to, even if the caller may not know it: the call path rejects and records it. Items that the
   * caller may know come first, as in its list.
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
      templates.find(({ key }) => key === uri) ?? templates.find(({ key }) => matchesTemplate(key, uri));
    if (found !== undefined) return { server: found.server, item: uri, isListed: true };
    const owner = await this.ownerOf(uri, caller);
    return { server: owner.server, item: owner.uri, isListed: owner.isListed };
  }

  /** By its place in a list, by a matching template, or the only server that could have it; like `findPrompt`. */
  async ownerOf(uri: string, caller: Caller): Promise<ResourceOwner> {
    const listed = (await this.#names('resources', await this.#items('resources', caller))).get(uri);
    if (listed !== undefined) return { server: listed.server, uri: listed.key, isListed: true };
    const templates = await this.#items('templates', caller);
    const template = templates.find(({ key }) => matchesTemplate(key, uri));
    if (template !== undefined) return { server: template.server, uri, isListed: true };
    // Of all servers in the view, not only those the caller knows: a hidden resource must not go to another server.
    const all = await this.#items('resources');
    const [only] = await this.#onlyServer.get(all, () => this.#onlyServerSteps());
    if (only !== undefined) return { server: only, uri, isListed: false };
    const hidden = (await this.#names('resources', all)).get(uri);
    if (hidden !== undefined) return { server: hidden.server, uri: hidden.key, isListed: false };
    const hiding = (await this.#items('templates')).find(({ key }) => matchesTemplate(key, uri));
    if (hiding !== undefined) return { server: hiding.server, uri, isListed: false };
    throw unknownResource(uri);
  }

  /** The only server of the view that has resources. When a server comes or goes, the list changes. */
  *#onlyServerSteps(): Steps<readonly string[]> {
    const able = this.#runtime
      .status()
      .filter(
        ({ name, capabilities }) => this.#view.hasServer(name) && capabilities?.resources !== undefined,
      );
    return able.length === 1 ? able.map(({ name }) => name) : [];
  }

  /** The definitions of the items that the caller may know; without a caller, of all items in the view. */
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
      named.push(withName(definition, key, name));
      yield;
    }
    return yield* listSteps(named);
  }

  #names(kind: 'prompts' | 'resources', items: Items): Promise<Names> {
    return this.#named.get(items, () => this.#nameSteps(kind, items));
  }

  *#nameSteps(kind: 'prompts' | 'resources', items: Items): Steps<Names> {
    const full = kind === 'resources' ? fullAddress : fullPromptName;
    const isPlain = kind === 'resources' || this.#view.options.names === 'plain';
    return yield* this.#view.nameItems(items, { preferred: isPlain ? ({ key }) => key : full, full });
  }

  /** Servers that start with the daemon are in the first list, if they connect in time. */
  #whenStarted(): Promise<void> {
    this.#started ??= Promise.race([
      this.#runtime.connectAll().then(() => {}),
      new Promise<void>((resolve) => setTimeout(resolve, STARTUP_WAIT_MS).unref()),
    ]);
    return this.#started;
  }
}

const fullAddress = ({ server, key }: CatalogItem): string =>
  `turnbuckle://${encodeURIComponent(server)}/${encodeURIComponent(key)}`;

const fullPromptName = ({ server, key }: CatalogItem): string => toPromptName({ server, prompt: key });

/** A definition that cannot be serialized, such as a cyclic one of the host, does not affect the others. */
function* listSteps(items: readonly Params[]): Steps<string | Buffer> {
  const texts: string[] = [];
  for (const item of items) {
    const text = textOf(item);
    if (text !== undefined) texts.push(text);
    yield;
  }
  const text = `[${texts.join(',')}]`;
  yield;
  return toShareableText(text);
}

function textOf(item: Params): string | undefined {
  try {
    return writeJson(item);
  } catch {
    return undefined;
  }
}
