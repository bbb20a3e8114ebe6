/** What is made of a list, such as its text: once, for all who ask meanwhile and later, as long as it is the same list. */
import { inSlices, type Steps } from 'turnbuckle';

interface Entry<Made> {
  readonly made: Promise<Made>;
  isMade: boolean;
}

export interface MadeLimits<Made> {
  readonly maxLists: number;
  /** Of all that is kept together. */
  readonly maxWeight: number;
  weigh(made: Made): number;
}

export class MadeOfList<List extends object, Made> {
  readonly #limits: MadeLimits<Made>;
  /** A list that nobody has any more takes what was made of it along: not every new one is told of. */
  #entries = new WeakMap<List, Entry<Made>>();
  /** Since it was empty, with those that are gone meanwhile. */
  #lists = 0;
  #weight = 0;

  constructor(limits: MadeLimits<Made>) {
    this.#limits = limits;
  }

  has(list: List): boolean {
    return this.#entries.get(list)?.isMade === true;
  }

  /** Made in slices. What changed meanwhile is in another list, so this one is kept only if it was not cleared. */
  async get(list: List, steps: () => Steps<Made>): Promise<Made> {
    const known = this.#entries.get(list);
    if (known !== undefined) return known.made;
    const entry = { made: inSlices(steps()), isMade: false };
    this.#entries.set(list, entry);
    try {
      const made = await entry.made;
      entry.isMade = true;
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
