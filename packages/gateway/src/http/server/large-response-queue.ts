/**
 * Large answers, one in each turn of the event loop, and none to who has left too much of the others unread: it waits
 * until some of that is taken. What waits is one list that many are sent, not one for each.
 */

export interface LargeAnswer {
  /** Who leaves how much unread is counted by it. */
  readonly share: object;
  readonly bytes: number;
  /** What is held while it waits; many may hold the same. */
  readonly shared: Buffer;
  readonly isOpen: () => boolean;
}

export interface LargeAnswersOptions {
  readonly maxUnsentBytes: number;
  /** Nobody waits longer. */
  readonly maxWaitMs: number;
  /** What it has left unread so far. */
  readonly unsentOf: (share: object) => number;
}

interface Waiting extends LargeAnswer {
  readonly until: number;
  readonly resolve: (mayWrite: boolean) => void;
}

/** How often is looked whether something has been read meanwhile. */
const LOOK_MS = 20;

export class LargeAnswers {
  readonly #options: LargeAnswersOptions;
  #waiting: Waiting[] = [];
  #isTaken = false;
  #isLooking = false;

  constructor(options: LargeAnswersOptions) {
    this.#options = options;
  }

  /** True: write it now. False: it is not to be written at all. */
  take(answer: LargeAnswer): boolean | Promise<boolean> {
    const isNext = this.#waiting.length === 0 && !this.#isTaken;
    if (isNext && this.#fits(answer)) {
      this.#takeTurn();
      return true;
    }
    if (!this.#mayWait(answer)) return false;
    const until = performance.now() + this.#options.maxWaitMs;
    return new Promise((resolve) => {
      this.#waiting.push({ ...answer, until, resolve });
      this.#look(this.#isTaken ? 0 : LOOK_MS);
    });
  }

  /** One that is larger than all that may be unread is written when nothing else is. */
  #fits({ share, bytes }: LargeAnswer, unsent = this.#options.unsentOf(share)): boolean {
    return unsent === 0 || unsent + bytes <= this.#options.maxUnsentBytes;
  }

  /** Lists change: what waits for one may be many of them. */
  #mayWait({ share, shared }: LargeAnswer): boolean {
    const held = new Set(this.#waiting.filter((one) => one.share === share).map((one) => one.shared));
    if (held.size === 0 || held.has(shared)) return true;
    let bytes = shared.length;
    for (const one of held) bytes += one.length;
    return bytes <= this.#options.maxUnsentBytes;
  }

  #takeTurn(): void {
    this.#isTaken = true;
    setImmediate(() => {
      this.#isTaken = false;
    });
  }

  #look(afterMs: number): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const look = (): void => {
      this.#isLooking = false;
      this.#next();
    };
    if (afterMs === 0) setImmediate(look);
    else setTimeout(look, afterMs).unref();
  }

  #next(): void {
    const now = performance.now();
    const unsent = new Map<object, number>();
    const left: Waiting[] = [];
    let isDone = false;
    for (const one of this.#waiting) {
      if (!one.isOpen() || now > one.until) {
        one.resolve(false);
        continue;
      }
      const unread = unsent.get(one.share) ?? this.#options.unsentOf(one.share);
      unsent.set(one.share, unread);
      if (isDone || !this.#fits(one, unread)) {
        left.push(one);
        continue;
      }
      isDone = true;
      this.#takeTurn();
      one.resolve(true);
    }
    this.#waiting = left;
    if (left.length > 0) this.#look(isDone ? 0 : LOOK_MS);
  }
}
