/**
 * When a list is read again that its server says has changed: a moment later, once for all reasons that come together, and
 * never beside another reading of it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RelistPace } from './relist-pace.js';

export interface RelistingOptions {
  readonly now: () => number;
  /** The reading under way, if there is one. */
  readonly running: () => Promise<unknown> | undefined;
}

/** Reasons that come this close together are one. */
const COALESCE_MS = 100;
/**
 * A server that says again and again that its list is another one is read at once so often, and then ever more slowly:
 * one that leads back to this program through something that cannot tell would never end that.
 */
const QUICK_READINGS = 20;
const FORGET_MS = 5_000;
const SLOWEST_MS = 30_000;

export class Relisting {
  readonly #options: RelistingOptions;
  readonly #pace: RelistPace;
  #timer: NodeJS.Timeout | undefined;
  /** How many readings there were because of a change; one is forgotten after a while. */
  #changes = 0;
  #changedAt: number;
  #isStopped = false;

  constructor(options: RelistingOptions) {
    this.#options = options;
    this.#pace = new RelistPace({ now: options.now, minMs: COALESCE_MS });
    this.#changedAt = options.now();
  }

  /** It has changed: reads it in a while, unless that is on its way already. What `read` ends with is its own matter. */
  noteChange(read: () => Promise<void>): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    const delayMs = Math.max(this.#pace.delayMs, this.#delayMs());
    this.#timer = setTimeout(() => void this.#run(read), delayMs).unref();
  }

  /** A reading that a change called for is over: a dear one, or one that nobody noticed. */
  noteReading(isDear: boolean): void {
    this.#pace.note(isDear);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #run(read: () => Promise<void>): Promise<void> {
    // A reading under way may have begun before the change: wait for it, then read again.
    await this.#options.running()?.catch(() => {});
    // The connection that it may have been the first one of is open a moment later.
    await nextTurn();
    // What changes from here on is read once more.
    this.#timer = undefined;
    if (!this.#isStopped) await read();
  }

  #delayMs(): number {
    const now = this.#options.now();
    const count = Math.max(0, this.#changes - (now - this.#changedAt) / FORGET_MS);
    this.#changes = count + 1;
    this.#changedAt = now;
    return Math.min(COALESCE_MS * 2 ** Math.max(0, count - QUICK_READINGS), SLOWEST_MS);
  }
}
