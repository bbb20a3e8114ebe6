/** Limits how often the progress of a step is stored. The latest report is stored in the end, unless the step ends before. */

/** Between two reports of one request. */
const REPORT_MS = 500;

export class ProgressReports<T> {
  readonly #store: (report: T) => void;
  #latest: T | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: (report: T) => void) {
    this.#store = store;
  }

  add(report: T): void {
    if (this.#timer !== undefined) {
      this.#latest = report;
      return;
    }
    this.#store(report);
    this.#timer = setTimeout(() => this.#next(), REPORT_MS).unref();
  }

  /** The step has ended: what it reported last is no longer true. */
  clear(): void {
    this.#latest = undefined;
  }

  #next(): void {
    const latest = this.#latest;
    this.#timer = undefined;
    this.#latest = undefined;
    if (latest !== undefined) this.add(latest);
  }
}
