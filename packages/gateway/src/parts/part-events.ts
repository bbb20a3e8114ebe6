/** The events of all parts: what is published goes to every listener, isolated from each other. */
export type PartListener = (name: string, data: object) => void;

export class PartEventFeed {
  readonly #names = new Set<string>();
  readonly #listeners = new Set<PartListener>();

  /** Adds the names of a part. */
  declare(names: readonly string[]): void {
    for (const name of names) this.#names.add(name);
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  publish(name: string, data: object): void {
    if (!this.#names.has(name)) throw new Error(`No part declares the event "${name}".`);
    for (const listener of this.#listeners) listener(name, data);
  }

  listen(listener: PartListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
