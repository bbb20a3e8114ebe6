/**
 * Requests in flight, by number. Replaces a Map, whose tables V8 links to their successors: once a dead one is in the
 * old generation, everything that passed through the Map since survives every minor GC. Here a slot is cleared and
 * reused.
 */

const SLOT_COUNT = 65_536;

export class PendingRequests<Item> {
  readonly #first: number;
  readonly #generations: number;
  readonly #items: Array<Item | undefined> = [];
  readonly #ids: number[] = [];
  readonly #free: number[] = [];
  #generation = 0;
  #size = 0;

  /** Numbers are within this range, and one is not reused for a long time. */
  constructor(first: number, last: number) {
    this.#first = first;
    this.#generations = Math.floor((last - first) / SLOT_COUNT);
  }

  get size(): number {
    return this.#size;
  }

  /** Reserves a slot: its number is for the item that `put` stores there. Undefined: all slots are taken. */
  reserve(): number | undefined {
    let place = this.#free.pop();
    if (place === undefined) {
      place = this.#items.length;
      // Its number would lead to the slot of another request, which would get its answer.
      if (place >= SLOT_COUNT) return undefined;
    }
    this.#generation = (this.#generation + 1) % this.#generations;
    const number = this.#first + this.#generation * SLOT_COUNT + place;
    this.#ids[place] = number;
    this.#items[place] = undefined;
    return number;
  }

  put(number: number, item: Item): void {
    this.#items[(number - this.#first) % SLOT_COUNT] = item;
    this.#size += 1;
  }

  /** Releases a slot that was not used. */
  release(number: number): void {
    this.#free.push((number - this.#first) % SLOT_COUNT);
  }

  get(number: number): Item | undefined {
    const place = (number - this.#first) % SLOT_COUNT;
    return this.#ids[place] === number ? this.#items[place] : undefined;
  }

  delete(number: number): boolean {
    const place = (number - this.#first) % SLOT_COUNT;
    if (this.#ids[place] !== number || this.#items[place] === undefined) return false;
    this.#items[place] = undefined;
    this.#free.push(place);
    this.#size -= 1;
    return true;
  }

  values(): Item[] {
    return this.#items.filter((item) => item !== undefined);
  }
}
