/**
 * Many deadlines, one timer. Nearly every call ends before its deadline: a timer of its own for each costs more than the
 * decision about the call.
 */
import { timerDelay } from './timer-delay.js';

export interface PendingDeadline {
  /** In milliseconds of `performance.now()`. */
  dueAt: number;
  /** Its place in the list; kept by the list. */
  place: number;
  /** Called once it is due, when it is no longer in the list. */
  onDue(): void;
}

export class Deadlines {
  readonly #pending: PendingDeadline[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerDueAt = Number.POSITIVE_INFINITY;

  add(deadline: PendingDeadline): void {
    deadline.place = this.#pending.push(deadline) - 1;
    if (deadline.dueAt < this.#timerDueAt) this.#startTimer(deadline.dueAt);
    // The process may not end while something waits.
    else if (this.#pending.length === 1) this.#timer?.ref();
  }

  delete(deadline: PendingDeadline): void {
    const { place } = deadline;
    if (this.#pending[place] !== deadline) return;
    const last = this.#pending.pop();
    if (last !== undefined && last !== deadline) {
      this.#pending[place] = last;
      last.place = place;
    }
    // The timer stays for the next deadline.
    if (this.#pending.length === 0) this.#timer?.unref();
  }

  #startTimer(dueAt: number): void {
    clearTimeout(this.#timer);
    this.#timerDueAt = dueAt;
    this.#timer = setTimeout(this.#onTimer, timerDelay(Math.ceil(dueAt - performance.now())));
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    this.#timerDueAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    try {
      for (const deadline of this.#pending.filter(({ dueAt }) => dueAt <= now)) {
        // One that is due may end another.
        if (this.#pending[deadline.place] !== deadline) continue;
        this.delete(deadline);
        deadline.onDue();
      }
    } finally {
      const next = this.#pending.reduce(
        (least, { dueAt }) => Math.min(least, dueAt),
        Number.POSITIVE_INFINITY,
      );
      if (next < this.#timerDueAt) this.#startTimer(next);
    }
  };
}
