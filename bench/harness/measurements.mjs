import { median, quantile } from './statistics.mjs';

/** Every value of a run, by figure, subject and round, and the failures. */
export class Measurements {
  /** @type {Map<string, Map<string, Map<number, number>>>} */
  #values = new Map();
  /** @type {{ figure: string, subject: string, reason: string }[]} */
  failures = [];

  /** @param {{ figure: string, subject: string, round: number, value: number }} entry */
  record({ figure, subject, round, value }) {
    const bySubject = this.#values.get(figure) ?? new Map();
    const byRound = bySubject.get(subject) ?? new Map();
    this.#values.set(figure, bySubject.set(subject, byRound.set(round, value)));
  }

  /** @param {{ figure: string, subject: string, error: unknown }} failure */
  fail({ figure, subject, error }) {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.reasonOf(figure, subject) === undefined) this.failures.push({ figure, subject, reason });
  }

  /** @param {string} figure @param {string} subject */
  reasonOf(figure, subject) {
    return this.failures.find((entry) => entry.figure === figure && entry.subject === subject)?.reason;
  }

  /** @param {string} figure @param {string} subject */
  valuesOf(figure, subject) {
    return [...(this.#values.get(figure)?.get(subject)?.values() ?? [])];
  }

  /**
   * The median of the ratios of each round, so that a slow moment of the machine affects both sides.
   * @param {string} figure
   * @param {string} subject
   * @param {string} reference
   */
  ratioOf(figure, subject, reference) {
    const others = this.#values.get(figure)?.get(reference) ?? new Map();
    const ratios = [];
    for (const [round, value] of this.#values.get(figure)?.get(subject) ?? []) {
      const other = others.get(round);
      if (other !== undefined) ratios.push(value / other);
    }
    return summarise(ratios);
  }
}

/** @param {readonly number[]} samples */
export const summarise = (samples) => ({
  median: median(samples),
  low: quantile(samples, 0.25),
  high: quantile(samples, 0.75),
  greatest: samples.length > 0 ? Math.max(...samples) : Number.NaN,
  rounds: samples.length,
});
