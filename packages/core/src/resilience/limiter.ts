/**
 * A concurrency limit with a bounded queue, shared fairly: each agent has its share of the places and of the queue,
 * which is smaller the more there are, and never all; some places are kept for the host. Those who wait are served in
 * turns, an agent after the other, and the host first.
 */
import { type CancelSignal, offAbort, onAbort } from '../cancel-signal.js';

export interface LimiterOptions {
  readonly maxInFlight: number;
  readonly maxQueued: number;
}

/** Whose it is: the id of an agent; undefined: the host itself. */
export type Who = string | undefined;

/** This part of the places is kept for the host. */
const KEPT = 8;

/** What one of them has and waits for. */
interface Account {
  inFlight: number;
  readonly queue: Waiter[];
  /** The last ticket that was given out when one of its calls was answered. */
  answeredAt: number;
}

interface Waiter {
  readonly turn: () => void;
  readonly refuse: (reason: unknown) => void;
}

export class Limiter {
  readonly #options: LimiterOptions;
  readonly #host: Account = { inFlight: 0, queue: [], answeredAt: 0 };
  /** Those with something in flight or in the queue; who was served last stands last. */
  readonly #agents = new Map<string, Account>();
  #inFlight = 0;
  #queued = 0;
  #tickets = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#queued;
  }

  /** Takes a place if there is one for it. The fast path: no promise. Release it with `leave`. */
  tryEnter(who?: Who): boolean {
    if (this.#inFlight >= this.#options.maxInFlight) return false;
    const account = this.#accountOf(who);
    // Whoever waits and is not at its limit has been let in before.
    if (who !== undefined && !this.#hasPlaceFor(account)) {
      this.#forget(who, account);
      return false;
    }
    account.inFlight += 1;
    this.#inFlight += 1;
    this.#tickets += 1;
    return true;
  }

  /** Counts up with each place that is taken: what `refuseWaiting` is to know of a call. */
  get ticket(): number {
    return this.#tickets;
  }

  /**
   * A call with that ticket was never answered. If none of the same agent was since it came in, those that wait are
   * refused, and it is true: what waits behind calls that wait for it would go on like that for ever.
   */
  refuseWaiting(who: Who, ticket: number, reason: unknown): boolean {
    const account = this.#accountOf(who);
    if (account.answeredAt >= ticket) return false;
    for (const { refuse } of [...account.queue]) refuse(reason);
    return true;
  }

  /** Waits for a place; undefined when its part of the queue is full; rejects with the signal's reason when aborted. */
  enter(who?: Who, signal?: CancelSignal): Promise<void> | undefined {
    const account = this.#accountOf(who);
    if (!this.#hasRoomFor(who, account)) {
      this.#forget(who, account);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        turn: () => {
          offAbort(signal, giveUp);
          resolve();
        },
        refuse: (reason) => {
          offAbort(signal, giveUp);
          account.queue.splice(account.queue.indexOf(waiter), 1);
          this.#queued -= 1;
          this.#forget(who, account);
          // One less to share with: others may have more now.
          this.#serve();
          reject(reason);
        },
      };
      const giveUp = (): void => waiter.refuse(signal?.reason);
      if (signal?.aborted) {
        this.#forget(who, account);
        return reject(signal.reason);
      }
      onAbort(signal, giveUp);
      account.queue.push(waiter);
      this.#queued += 1;
    });
  }

  leave(who?: Who, isAnswered = false): void {
    const account = this.#accountOf(who);
    if (isAnswered) account.answeredAt = this.#tickets;
    account.inFlight -= 1;
    this.#inFlight -= 1;
    this.#forget(who, account);
    if (this.#queued > 0) this.#serve();
  }

  #accountOf(who: Who): Account {
    if (who === undefined) return this.#host;
    const known = this.#agents.get(who);
    if (known !== undefined) return known;
    const account: Account = { inFlight: 0, queue: [], answeredAt: 0 };
    this.#agents.set(who, account);
    return account;
  }

  #forget(who: Who, { inFlight, queue }: Account): void {
    if (who !== undefined && inFlight === 0 && queue.length === 0) this.#agents.delete(who);
  }

  #hasPlaceFor({ inFlight }: Account): boolean {
    const places = withoutKept(this.#options.maxInFlight);
    return this.#inFlight - this.#host.inFlight < places && inFlight < this.#shareOf(places);
  }

  #hasRoomFor(who: Who, { queue }: Account): boolean {
    const { maxQueued } = this.#options;
    if (this.#queued >= maxQueued) return false;
    if (who === undefined) return true;
    const room = withoutKept(maxQueued);
    return this.#queued - this.#host.queue.length < room && queue.length < this.#shareOf(room);
  }

  /** There is always something left for one more. */
  #shareOf(all: number): number {
    return Math.max(1, Math.ceil(all / (this.#agents.size + 1)));
  }

  #serve(): void {
    while (this.#inFlight < this.#options.maxInFlight) {
      const next = this.#next();
      if (next === undefined) return;
      next.inFlight += 1;
      this.#inFlight += 1;
      this.#queued -= 1;
      this.#tickets += 1;
      next.queue.shift()?.turn();
    }
  }

  #next(): Account | undefined {
    if (this.#host.queue.length > 0) return this.#host;
    for (const [who, account] of this.#agents) {
      if (account.queue.length === 0 || !this.#hasPlaceFor(account)) continue;
      this.#agents.delete(who);
      this.#agents.set(who, account);
      return account;
    }
    return undefined;
  }
}

const withoutKept = (all: number): number => all - Math.floor(all / KEPT);
