/**
 * What each caller may know of a list. It is looked for once, in slices, and stays the same array until something
 * changes that it depends on: what was made of it elsewhere is good for as long as it is the same array.
 */
import { inSlices, type Steps } from './json/slices.js';
import { type Caller, callerKey } from './policy/capabilities.js';

/** What a list depends on, as a text that is another one when any of it changes. */
export interface ListStamp {
  readonly key: string;
  /** False: something is missing, and is asked for again whenever somebody wants the list. */
  readonly isComplete: boolean;
}

export interface KeptListsOptions<Item> {
  stamp(): ListStamp;
  /** All there are now, in their order. */
  entries(): readonly Item[];
  isFor(caller: Caller, item: Item): boolean;
}

/** Lists of so many callers are kept, */
const MAX_CALLERS = 200;
/** with so many entries, of all callers together. */
const MAX_ENTRIES = 500_000;

interface Edition<Item> {
  readonly key: string;
  /** With what no caller is asked about. */
  all: readonly Item[] | undefined;
  readonly lists: Map<string, Promise<readonly Item[]>>;
  entries: number;
}

export class KeptLists<Item> {
  readonly #options: KeptListsOptions<Item>;
  #edition: Edition<Item> | undefined;
  /** The limits of a way in are told apart by what they are, not by what they say. */
  readonly #limits = new WeakMap<object, number>();
  #lastLimits = 0;

  constructor(options: KeptListsOptions<Item>) {
    this.#options = options;
  }

  /** What the caller may know, without one everything; `refresh` has the servers read first that need it. */
  async of(caller: Caller | undefined, refresh?: () => Promise<unknown>): Promise<readonly Item[]> {
    if (refresh !== undefined && !this.#options.stamp().isComplete) await refresh();
    const edition = this.#renewed();
    if (caller === undefined) return this.#all(edition);
    const key = `${this.#limitsOf(caller)} ${callerKey(caller)}`;
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
      // What changed meanwhile may be in it or not: it is nobody's but those who asked before.
      if (this.#options.stamp().key !== edition.key) edition.lists.delete(key);
      return items;
    } catch (thrown) {
      edition.lists.delete(key);
      throw thrown;
    }
  }

  #renewed(): Edition<Item> {
    const { key } = this.#options.stamp();
    if (this.#edition?.key !== key) this.#edition = { key, all: undefined, lists: new Map(), entries: 0 };
    return this.#edition;
  }

  #all(edition: Edition<Item>): readonly Item[] {
    edition.all ??= this.#options.entries();
    return edition.all;
  }

  /** Who may know everything has the same array as all others who may. */
  *#visible(all: readonly Item[], caller: Caller): Steps<readonly Item[]> {
    const items: Item[] = [];
    for (const item of all) {
      if (this.#options.isFor(caller, item)) items.push(item);
      yield;
    }
    return items.length === all.length ? all : items;
  }

  #limitsOf({ limits }: Caller): number {
    if (limits === undefined) return 0;
    const known = this.#limits.get(limits);
    if (known !== undefined) return known;
    this.#lastLimits += 1;
    this.#limits.set(limits, this.#lastLimits);
    return this.#lastLimits;
  }
}
