/** Values derived from a list, such as its text: computed once for as long as the list is the same array. */
import { inSlices, type Steps } from 'turnbuckle/host';

interface Entry<Made> {
  readonly value: Promise<Made>;
  isReady: boolean;
}

export interface DerivedCacheLimits<Made> {
  readonly maxLists: number;
  /** The limit for all cached values together. */
  readonly maxWeight: number;
  weigh(made: Made): number;
}

export class DerivedCache<List extends object, Made> {
  readonly #limits: DerivedCacheLimits<Made>;
  /** Weak: when a list is garbage-collected, its derived values go too. Not every new list is announced. */
  #entries = new WeakMap<List, Entry<Made>>();
  /** The total since the last clear, including values that are gone meanwhile. */
  #lists = 0;
  #weight = 0;

  constructor(limits: DerivedCacheLimits<Made>) {
    this.#limits = limits;
  }

  has(list: List): boolean {
    return this.#entries.get(list)?.isReady === true;
  }

  /** Computed in slices. The value is kept only if the cache was not cleared meanwhile. */
  async get(list: List, steps: () => Steps<Made>): Promise<Made> {
    const known = this.#entries.get(list);
    if (known !== undefined) return known.value;
    const entry = { value: inSlices(steps()), isReady: false };
    this.#entries.set(list, entry);
    try {
      const made = await entry.value;
      entry.isReady = true;
      if (this.#entries.get(list) === entry) this.#count(list, entry, this.#limits.weigh(made));
      return made;
    } catch (thrown) {
      if (this.#entries.get(list) === entry) this.#entries.delete(list);
      throw thrown;
    }
  }

  clear(): void {
    this.#entries = new WeakMap();
    this.#lists = 0;
    this.#weight = 0;
  }

  #count(list: List, entry: Entry<Made>, weight: number): void {
    const { maxLists, maxWeight } = this.#limits;
    if (this.#lists >= maxLists || this.#weight + weight > maxWeight) {
      this.clear();
      this.#entries.set(list, entry);
    }
    this.#lists += 1;
    this.#weight += weight;
  }
}
