import { type Family, type Labels, labelText, type Sample } from './exposition.js';

const MAX_SERIES = 2_000;

/** Counts by labels; beyond a limit of different labels, counts under `other`. */
export class Counter implements Family {
  readonly type = 'counter';
  readonly name: string;
  readonly help: string;
  readonly #counts = new Map<string, number>();

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  add(labels: Labels = {}, count = 1): void {
    const key = this.#keyOf(labels);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  *samples(): Generator<Sample> {
    for (const [labels, value] of this.#counts) yield { labels, value };
  }

  #keyOf(labels: Labels): string {
    const key = labelText(labels);
    if (this.#counts.has(key) || this.#counts.size < MAX_SERIES) return key;
    return labelText(Object.fromEntries(Object.keys(labels).map((name) => [name, 'other'])));
  }
}
