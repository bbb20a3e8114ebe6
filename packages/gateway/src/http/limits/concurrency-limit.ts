/** Work of which only so much is done at once; the rest waits in the order in which it came. */
export class Turns {
  readonly #max: number;
  readonly #waiting: Array<() => void> = [];
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      // Whoever is next takes over the place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
