/**
 * Sends one large response per turn of the event loop, and none to a client that has left too much unread: it waits
 * until the client has read some. What waits is one text that many clients get, not a copy for each.
 */

export interface LargeResponse {
  /** Counts how much each client leaves unread. */
  readonly identityUsage: object;
  readonly bytes: number;
  /** The text held while it waits; many entries may hold the same. */
  readonly shared: Buffer;
  readonly isOpen: () => boolean;
}

export interface LargeResponseQueueOptions {
  readonly maxUnsentBytes: number;
  /** Called when it no longer waits. */
  readonly maxWaitMs: number;
  /** How much it has left unread so far. */
  readonly unsentBytesOf: (share: object) => number;
}

interface QueuedLargeResponse extends LargeResponse {
  readonly deadline: number;
  readonly resolve: (mayWrite: boolean) => void;
}

/** How often to check whether clients have read something. */
const POLL_INTERVAL_MS = 20;

export class LargeResponseQueue {
  readonly #options: LargeResponseQueueOptions;
  #waiting: QueuedLargeResponse[] = [];
  #isTurnTaken = false;
  #isPollScheduled = false;

  constructor(options: LargeResponseQueueOptions) {
    this.#options = options;
  }

  /** True: write it now. False: do not write it at all. */
  waitForTurn(answer: LargeResponse): boolean | Promise<boolean> {
    const isNext = this.#waiting.length === 0 && !this.#isTurnTaken;
    if (isNext && this.#fits(answer)) {
      this.#takeTurn();
      return true;
    }
    if (!this.#canQueue(answer)) return false;
    const deadline = performance.now() + this.#options.maxWaitMs;
    return new Promise((resolve) => {
      this.#waiting.push({ ...answer, deadline, resolve });
      this.#schedulePoll(this.#isTurnTaken ? 0 : POLL_INTERVAL_MS);
    });
  }

  /** A response larger than the limit is written when nothing else is unread. */
  #fits(
    { identityUsage, bytes }: LargeResponse,
    unsent = this.#options.unsentBytesOf(identityUsage),
  ): boolean {
    return unsent === 0 || unsent + bytes <= this.#options.maxUnsentBytes;
  }

  /** Lists change, so several versions of one may be waiting. */
  #canQueue({ identityUsage, shared }: LargeResponse): boolean {
    const held = new Set(
      this.#waiting.filter((one) => one.identityUsage === identityUsage).map((one) => one.shared),
    );
    if (held.size === 0 || held.has(shared)) return true;
    let bytes = shared.length;
    for (const one of held) bytes += one.length;
    return bytes <= this.#options.maxUnsentBytes;
  }

  #takeTurn(): void {
    this.#isTurnTaken = true;
    setImmediate(() => {
      this.#isTurnTaken = false;
    });
  }

  #schedulePoll(afterMs: number): void {
    if (this.#isPollScheduled) return;
    this.#isPollScheduled = true;
    const look = (): void => {
      this.#isPollScheduled = false;
      this.#admitNext();
    };
    if (afterMs === 0) setImmediate(look);
    else setTimeout(look, afterMs).unref();
  }

  #admitNext(): void {
    const now = performance.now();
    const unsent = new Map<object, number>();
    const left: QueuedLargeResponse[] = [];
    let isDone = false;
    for (const one of this.#waiting) {
      if (!one.isOpen() || now > one.deadline) {
        one.resolve(false);
        continue;
      }
      const unread = unsent.get(one.identityUsage) ?? this.#options.unsentBytesOf(one.identityUsage);
      unsent.set(one.identityUsage, unread);
      if (isDone || !this.#fits(one, unread)) {
        left.push(one);
        continue;
      }
      isDone = true;
      this.#takeTurn();
      one.resolve(true);
    }
    this.#waiting = left;
    if (left.length > 0) this.#schedulePoll(isDone ? 0 : POLL_INTERVAL_MS);
  }
}
