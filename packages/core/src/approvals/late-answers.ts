/** Answers to calls that had stopped waiting: each is for one repetition of the same call. */
import type { ApprovalAnswer } from './approval-request.js';

export interface LateAnswer {
  readonly answer: Extract<ApprovalAnswer, 'once' | 'deny'>;
  /** Who gave it. */
  readonly by: string;
}

const MAX_KEPT = 10_000;
const KEPT_MS = 600_000;

export class LateAnswers {
  readonly #monotonicNow: () => number;
  readonly #kept = new Map<string, LateAnswer & { readonly until: number }>();

  constructor(monotonicNow: () => number) {
    this.#monotonicNow = monotonicNow;
  }

  /** Keeps an answer for ten minutes. Of two answers to the same call, the last counts. */
  keep(key: string, { answer, by }: LateAnswer): void {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.delete(key);
    this.#kept.set(key, { answer, by, until: this.#monotonicNow() + KEPT_MS });
  }

  /** The answer, which is then used up. */
  take(key: string): LateAnswer | undefined {
    const found = this.#kept.get(key);
    this.#kept.delete(key);
    return found !== undefined && found.until > this.#monotonicNow() ? found : undefined;
  }

  clear(): void {
    this.#kept.clear();
  }
}
