/**
 * The part of a list that each caller can see. Computed once, in slices. The same array is returned until something
 * changes that it depends on, so that data derived from it can be cached by identity.
 */
import { inSlices, type Steps } from '../json/slices.js';
import { type Caller, callerKey } from '../policy/capabilities.js';

/** A key that changes with everything the list depends on. */
export interface ListStamp {
  readonly key: string;
  /** False: parts are missing and are read again at the next request. */
  readonly isComplete: boolean;
}

export interface ListCacheOptions<Item> {
  stamp(): ListStamp;
  /** All current entries, in order. */
  entries(): readonly Item[];
  isVisible(caller: Caller, item: Item): boolean;
}

/** Maximum number of cached callers, */
const MAX_CALLERS = 200;
/** and of entries for all callers together. */
const MAX_ENTRIES = 500_000;

interface CacheGeneration<Item> {
  readonly key: string;
  /** The unfiltered list. */
  all: readonly Item[] | undefined;
  readonly lists: Map<string, Promise<readonly Item[]>>;
  entries: number;
}

export class ListCache<Item> {
  readonly #options: ListCacheOptions<Item>;
  #generation: CacheGeneration<Item> | undefined;
  /** Ids for the limits of views, which are compared by identity. */
  readonly #limitsIds = new WeakMap<object, number>();
  #lastLimitsId = 0;

  constructor(options: ListCacheOptions<Item>) {
    this.#options = options;
  }

  /** The entries that the caller can see, all without a caller; `refresh` first reads the servers that need it. */
  async get(caller: Caller | undefined, refresh?: () => Promise<unknown>): Promise<readonly Item[]> {
    if (refresh !== undefined && !this.#options.stamp().isComplete) await refresh();
    const edition = this.#currentGeneration();
    if (caller === undefined) return this.#all(edition);
    const key = `${this.#limitsIdOf(caller)} ${callerKey(caller)}`;
    const known = edition.lists.get(key);
    if (known !== undefined) return known;
    if (edition.lists.size >= MAX_CALLERS || edition.entries > MAX_ENTRIES) {
      edition.lists.clear();
      edition.entries = 0;
    }
    const list = inSlices(this.#visible(this.#all(edition), caller));
    edition.lists.set(key, list);
    try {
      const items = await list;
      if (items !== edition.all) edition.entries += items.length;
      // It may or may not include a change that happened meanwhile: return it, but do not cache it.
      if (this.#options.stamp().key !== edition.key) edition.lists.delete(key);
      return items;
    } catch (thrown) {
      edition.lists.delete(key);
      throw thrown;
    }
  }

  #currentGeneration(): CacheGeneration<Item> {
    const { key } = this.#options.stamp();
    if (this.#generation?.key !== key)
      this.#generation = { key, all: undefined, lists: new Map(), entries: 0 };
    return this.#generation;
  }

  #all(edition: CacheGeneration<Item>): readonly Item[] {
    edition.all ??= this.#options.entries();
    return edition.all;
  }

  /** All callers that can see everything share the same array. */
  *#visible(all: readonly Item[], caller: Caller): Steps<readonly Item[]> {
    const items: Item[] = [];
    for (const item of all) {
      if (this.#options.isVisible(caller, item)) items.push(item);
      yield;
    }
    return items.length === all.length ? all : items;
  }

  #limitsIdOf({ limits }: Caller): number {
    if (limits === undefined) return 0;
    const known = this.#limitsIds.get(limits);
    if (known !== undefined) return known;
    this.#lastLimitsId += 1;
    this.#limitsIds.set(limits, this.#lastLimitsId);
    return this.#lastLimitsId;
  }
}
