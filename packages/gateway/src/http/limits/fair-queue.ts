/**
 * Runs tasks one at a time, except for the owner, whose tasks do not wait for those of others. Identities take turns,
 * regardless of how many tasks each has queued, and none may queue more than its share.
 */
import { TurnbuckleError } from 'turnbuckle';
import { identityOf } from 'turnbuckle/host';
import type { Identity } from '../../identity/identity.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { isWithinFairShare } from './fair-share.js';

export interface FairQueueOptions {
  /** What is queued, for the error message: "searches". */
  readonly what: string;
  /** The most tasks running and queued, of all identities together. */
  readonly max: number;
  /** How many tasks of the owner run concurrently. */
  readonly ownerConcurrency: number;
}

export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #ownerLimit: ConcurrencyLimit;
  /** Queued tasks by identity; an identity that had its turn moves to the end. */
  readonly #waiting = new Map<string, Array<() => void>>();
  /** How many tasks each identity has queued and running. */
  readonly #counts = new Map<string, number>();
  #total = 0;
  #isBusy = false;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#ownerLimit = new ConcurrencyLimit(options.ownerConcurrency);
  }

  /** OVERLOADED if this identity, or all together, have too many tasks queued. */
  async run<T>({ caller, isOwner = false }: Identity, work: () => Promise<T>): Promise<T> {
    if (isOwner) return this.#ownerLimit.run(work);
    const identity = identityOf(caller);
    const own = this.#counts.get(identity) ?? 0;
    if (!isWithinFairShare({ own, taken: this.#total, max: this.#options.max, isOwner }))
      throw this.#tooMany();
    this.#count(identity, 1);
    try {
      if (this.#isBusy) await new Promise<void>((resolve) => this.#enqueue(identity, resolve));
      this.#isBusy = true;
      return await work();
    } finally {
      this.#count(identity, -1);
      this.#startNext();
    }
  }

  #enqueue(identity: string, resolve: () => void): void {
    const line = this.#waiting.get(identity);
    if (line === undefined) this.#waiting.set(identity, [resolve]);
    else line.push(resolve);
  }

  /** Hands over to the next identity; it stays busy meanwhile. */
  #startNext(): void {
    const [first] = this.#waiting;
    this.#isBusy = first !== undefined;
    if (first === undefined) return;
    const [identity, line] = first;
    const next = line.shift();
    this.#waiting.delete(identity);
    if (line.length > 0) this.#waiting.set(identity, line);
    next?.();
  }

  #count(identity: string, more: 1 | -1): void {
    const count = (this.#counts.get(identity) ?? 0) + more;
    this.#total += more;
    if (count === 0) this.#counts.delete(identity);
    else this.#counts.set(identity, count);
  }

  #tooMany(): TurnbuckleError {
    return new TurnbuckleError(
      'OVERLOADED',
      `Too many ${this.#options.what} are queued, for this token or for the daemon.`,
      { hint: 'Wait for the pending responses, then try again.' },
    );
  }
}
