/** While a worker works on a request: renews its claim, and notices that the request is cancelled, paused or lost. */
import type { RequestQueue } from '../queue/queue.js';
import type { Claim } from '../queue/request-row.js';

/** Why a step is interrupted: its request has to be undone, work is halted, or another worker has the request. */
export type Interruption = 'undo' | 'halt' | 'lost';

export interface ClaimWatchOptions {
  readonly queue: RequestQueue;
  readonly claim: Claim;
  readonly leaseMs: number;
  readonly now: () => number;
  /** The worker has to end. */
  readonly end: AbortSignal;
}

/** A cancel of another process is noticed within this time, one of this daemon at once. */
const CHECK_MS = 200;
/** The claim is renewed this often before it would expire. */
const RENEWALS = 3;

export class ClaimWatch {
  readonly #options: ClaimWatchOptions;
  readonly #step = new AbortController();
  readonly #undo = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #onEnd = (): void => this.#interrupt('halt', { alsoUndo: true });
  #leaseUntil: number;
  #interruption: Interruption | undefined;

  constructor(options: ClaimWatchOptions) {
    this.#options = options;
    this.#leaseUntil = options.now() + options.leaseMs;
    this.#timer = setInterval(() => this.look(), CHECK_MS);
    options.end.addEventListener('abort', this.#onEnd);
    if (options.end.aborted) this.#onEnd();
  }

  /** Aborted when a step must not go on. */
  get stepSignal(): AbortSignal {
    return this.#step.signal;
  }

  /** Aborted when not even an undo may go on. */
  get undoSignal(): AbortSignal {
    return this.#undo.signal;
  }

  get interruption(): Interruption | undefined {
    return this.#interruption;
  }

  /** Looks at the database now. */
  look(): void {
    const { queue, claim, now } = this.#options;
    try {
      this.#renewIfDue();
      const { isOwned, ending, isHalted } = queue.check(claim);
      if (!isOwned) this.#interrupt('lost', { alsoUndo: true });
      else if (ending !== undefined) this.#interrupt('undo');
      else if (isHalted) this.#interrupt('halt');
    } catch {
      // The database is busy. The claim ends if that goes on: another worker may have it then.
      if (now() >= this.#leaseUntil) this.#interrupt('lost', { alsoUndo: true });
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#options.end.removeEventListener('abort', this.#onEnd);
  }

  #renewIfDue(): void {
    const { queue, claim, leaseMs, now } = this.#options;
    if (now() < this.#leaseUntil - leaseMs * (1 - 1 / RENEWALS)) return;
    const leaseUntil = now() + leaseMs;
    if (queue.renew(claim, leaseUntil)) this.#leaseUntil = leaseUntil;
  }

  #interrupt(interruption: Interruption, { alsoUndo = false } = {}): void {
    // A lost claim outweighs what was known before.
    if (this.#interruption === undefined || interruption === 'lost') this.#interruption = interruption;
    this.#step.abort(new Error('The steward interrupted this step.'));
    if (alsoUndo) this.#undo.abort(new Error('The steward interrupted the undo.'));
  }
}
