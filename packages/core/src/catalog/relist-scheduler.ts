/**
 * Schedules the reading of changed lists: after a short delay, once for notifications that arrive together, and never
 * in parallel with another reading of the same list.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RelistBackoff } from './relist-backoff.js';

export interface RelistSchedulerOptions {
  /** From a monotonic clock. */
  readonly now: () => number;
  /** The reading in progress, if any. */
  readonly running: () => Promise<unknown> | undefined;
}

/** Notifications this close together are merged. */
const COALESCE_MS = 100;
/**
 * The number of immediate readings before a server that keeps sending notifications is slowed down: a server that
 * routes back to this program would otherwise cause an endless loop.
 */
const MAX_QUICK_READS = 20;
const CHANGE_DECAY_MS = 5_000;
const MAX_DELAY_MS = 30_000;

export class RelistScheduler {
  readonly #options: RelistSchedulerOptions;
  readonly #backoff: RelistBackoff;
  #timer: NodeJS.Timeout | undefined;
  /** Recent readings caused by notifications; each is forgotten after a while. */
  #changes = 0;
  #changedAt: number;
  #isStopped = false;

  constructor(options: RelistSchedulerOptions) {
    this.#options = options;
    this.#backoff = new RelistBackoff({ now: options.now, minMs: COALESCE_MS });
    this.#changedAt = options.now();
  }

  /** Schedules a reading, unless one is already scheduled. Errors of `read` are its own concern. */
  schedule(read: () => Promise<void>): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    const delayMs = Math.max(this.#backoff.delayMs, this.#delayMs());
    this.#timer = setTimeout(() => void this.#run(read), delayMs).unref();
  }

  /** A reading caused by a notification ended: an expensive or a cheap one. */
  recordRead(isExpensive: boolean): void {
    this.#backoff.recordRead(isExpensive);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #run(read: () => Promise<void>): Promise<void> {
    // A reading in progress may have started before the change: wait for it, then read again.
    await this.#options.running()?.catch(() => {});
    // It may be the first reading of a connection that opens a moment later.
    await nextTurn();
    // Later changes are read once more.
    this.#timer = undefined;
    if (!this.#isStopped) await read();
  }

  #delayMs(): number {
    const now = this.#options.now();
    const count = Math.max(0, this.#changes - (now - this.#changedAt) / CHANGE_DECAY_MS);
    this.#changes = count + 1;
    this.#changedAt = now;
    return Math.min(COALESCE_MS * 2 ** Math.max(0, count - MAX_QUICK_READS), MAX_DELAY_MS);
  }
}
