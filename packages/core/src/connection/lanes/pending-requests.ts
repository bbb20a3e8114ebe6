/**
 * What is on its way, by a number that it is given. In the place of a Map, whose tables V8 links to the ones that
 * replace them: with one of them dead in the old generation, everything that has passed through the Map since
 * outlives every minor collection. Here a place is emptied and used again.
 */

const PLACES = 65_536;

export class Slots<Item> {
  readonly #first: number;
  readonly #turns: number;
  readonly #items: Array<Item | undefined> = [];
  readonly #numbers: number[] = [];
  readonly #free: number[] = [];
  #turn = 0;
  #size = 0;

  /** Numbers are between these two, and one is not given again for a long time. */
  constructor(first: number, last: number) {
    this.#first = first;
    this.#turns = Math.floor((last - first) / PLACES);
  }

  get size(): number {
    return this.#size;
  }

  /** Finds a place: its number is for the item that `put` puts there. */
  reserve(): number {
    const place = this.#free.pop() ?? this.#items.length;
    this.#turn = (this.#turn + 1) % this.#turns;
    const number = this.#first + this.#turn * PLACES + place;
    this.#numbers[place] = number;
    this.#items[place] = undefined;
    return number;
  }

  put(number: number, item: Item): void {
    this.#items[(number - this.#first) % PLACES] = item;
    this.#size += 1;
  }

  /** Gives back a place that nothing was put into. */
  release(number: number): void {
    this.#free.push((number - this.#first) % PLACES);
  }

  get(number: number): Item | undefined {
    const place = (number - this.#first) % PLACES;
    return this.#numbers[place] === number ? this.#items[place] : undefined;
  }

  delete(number: number): boolean {
    const place = (number - this.#first) % PLACES;
    if (this.#numbers[place] !== number || this.#items[place] === undefined) return false;
    this.#items[place] = undefined;
    this.#free.push(place);
    this.#size -= 1;
    return true;
  }

  values(): Item[] {
    return this.#items.filter((item) => item !== undefined);
  }
}
