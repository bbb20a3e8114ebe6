/**
 * A concurrency limit with a bounded queue, shared fairly: each agent has its share of the slots and of the queue,
 * which shrinks with the number of agents and is never everything; some slots are reserved for the host. Waiting
 * calls are served round-robin by agent, the host first.
 */
import { type CancelSignal, offAbort, onAbort } from '../async/cancel-signal.js';

export interface LimiterOptions {
  readonly maxInFlight: number;
  readonly maxQueued: number;
}

/** The id of the agent; undefined: the host itself. */
export type LimiterKey = string | undefined;

/** This share of the slots is reserved for the host. */
const HOST_SHARE_DIVISOR = 8;

const MAX_IDLE_AGENTS = 256;

/** The slots and queued calls of one caller. */
interface Account {
  inFlight: number;
  readonly queue: Waiter[];
  /** The last ticket issued when one of its calls got a response. */
  answeredAt: number;
}

interface Waiter {
  readonly admit: () => void;
  readonly reject: (reason: unknown) => void;
}

export class Limiter {
  readonly #options: LimiterOptions;
  readonly #host: Account = { inFlight: 0, queue: [], answeredAt: 0 };
  /** The caller served last is at the end. Idle callers stay for a while: most come back at once. */
  readonly #agents = new Map<string, Account>();
  /** Those with calls in flight or in the queue. */
  #activeAgents = 0;
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

  /** Takes a slot if one is free for this caller. The fast path: no promise. Release it with `leave`. */
  tryEnter(who?: LimiterKey): boolean {
    if (this.#inFlight >= this.#options.maxInFlight) return false;
    const account = this.#accountOf(who);
    // A waiting caller below its limit has been admitted before.
    if (who !== undefined && !this.#hasSlotFor(account)) return false;
    this.#noteArrival(account);
    account.inFlight += 1;
    this.#inFlight += 1;
    this.#tickets += 1;
    return true;
  }

  /** Increases with each slot that is taken: `refuseWaiting` compares calls by it. */
  get ticket(): number {
    return this.#tickets;
  }

  /**
   * A call with that ticket never got a response. If no call of the same agent got one since it started, its waiting
   * calls are rejected and this returns true: calls that wait for each other would wait forever.
   */
  rejectQueued(who: LimiterKey, ticket: number, reason: unknown): boolean {
    const account = this.#accountOf(who);
    if (account.answeredAt >= ticket) return false;
    for (const { reject } of [...account.queue]) reject(reason);
    return true;
  }

  /** Whether all calls in flight are of this caller. */
  isAlone(who: LimiterKey): boolean {
    return this.#accountOf(who).inFlight === this.#inFlight;
  }

  /** Waits for a slot; undefined if its share of the queue is full; rejects with the signal's reason when aborted. */
  enter(who?: LimiterKey, signal?: CancelSignal): Promise<void> | undefined {
    const account = this.#accountOf(who);
    if (!this.#hasQueueRoomFor(who, account)) return undefined;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        admit: () => {
          offAbort(signal, giveUp);
          resolve();
        },
        reject: (reason) => {
          offAbort(signal, giveUp);
          account.queue.splice(account.queue.indexOf(waiter), 1);
          this.#queued -= 1;
          this.#noteDeparture(account);
          // One caller less to share with: the others may take more now.
          this.#serve();
          reject(reason);
        },
      };
      const giveUp = (): void => waiter.reject(signal?.reason);
      if (signal?.aborted) return reject(signal.reason);
      onAbort(signal, giveUp);
      this.#noteArrival(account);
      account.queue.push(waiter);
      this.#queued += 1;
    });
  }

  leave(who?: LimiterKey, isAnswered = false): void {
    const account = this.#accountOf(who);
    if (isAnswered) account.answeredAt = this.#tickets;
    account.inFlight -= 1;
    this.#inFlight -= 1;
    this.#noteDeparture(account);
    if (this.#queued > 0) this.#serve();
  }

  #accountOf(who: LimiterKey): Account {
    if (who === undefined) return this.#host;
    const known = this.#agents.get(who);
    if (known !== undefined) return known;
    if (this.#agents.size - this.#activeAgents >= MAX_IDLE_AGENTS) this.#forgetIdle();
    const account: Account = { inFlight: 0, queue: [], answeredAt: 0 };
    this.#agents.set(who, account);
    return account;
  }

  /** Called before a call of it is counted. */
  #noteArrival(account: Account): void {
    if (account !== this.#host && isIdle(account)) this.#activeAgents += 1;
  }

  /** Called after a call of it is no longer counted. */
  #noteDeparture(account: Account): void {
    if (account !== this.#host && isIdle(account)) this.#activeAgents -= 1;
  }

  #forgetIdle(): void {
    for (const [who, account] of this.#agents) if (isIdle(account)) this.#agents.delete(who);
  }

  #hasSlotFor(account: Account): boolean {
    const places = withoutHostShare(this.#options.maxInFlight);
    return this.#inFlight - this.#host.inFlight < places && account.inFlight < this.#shareOf(places, account);
  }

  #hasQueueRoomFor(who: LimiterKey, account: Account): boolean {
    const { maxQueued } = this.#options;
    if (this.#queued >= maxQueued) return false;
    if (who === undefined) return true;
    const room = withoutHostShare(maxQueued);
    return (
      this.#queued - this.#host.queue.length < room && account.queue.length < this.#shareOf(room, account)
    );
  }

  /** The share of this agent. There is always room for one more agent. */
  #shareOf(all: number, account: Account): number {
    const agents = this.#activeAgents + (isIdle(account) ? 1 : 0);
    return Math.max(1, Math.ceil(all / (agents + 1)));
  }

  #serve(): void {
    while (this.#inFlight < this.#options.maxInFlight) {
      const next = this.#next();
      if (next === undefined) return;
      next.inFlight += 1;
      this.#inFlight += 1;
      this.#queued -= 1;
      this.#tickets += 1;
      next.queue.shift()?.admit();
    }
  }

  #next(): Account | undefined {
    if (this.#host.queue.length > 0) return this.#host;
    for (const [who, account] of this.#agents) {
      if (account.queue.length === 0 || !this.#hasSlotFor(account)) continue;
      this.#agents.delete(who);
      this.#agents.set(who, account);
      return account;
    }
    return undefined;
  }
}

const isIdle = ({ inFlight, queue }: Account): boolean => inFlight === 0 && queue.length === 0;

const withoutHostShare = (all: number): number => all - Math.floor(all / HOST_SHARE_DIVISOR);
