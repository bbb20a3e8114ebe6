/**
 * How long a call may take: one clock from the caller's first word to the answer, whatever happens in between. The
 * total holds for all of it, the longest silence for each wait on the way. A person's approval has a clock of its own.
 */
import { type CancelSignal, offAbort, onAbort } from '../cancel-signal.js';
import { TurnbuckleError } from '../errors.js';

export interface ClockLimits {
  /** The longest silence. */
  readonly timeoutMs?: number | undefined;
  /** The longest duration in all. */
  readonly maxTotalMs?: number | undefined;
}

/** What is waited for, in words. */
export interface Waiting {
  readonly what: string;
  readonly server?: string | undefined;
  /** It is under way, and may have happened. */
  readonly begun?: boolean | undefined;
  readonly signal?: CancelSignal | undefined;
}

/** The longest that a timer can wait: a longer one rings at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One function for all clocks: a call makes as few objects as it can. */
const monotonic = (): number => performance.now();

export class CallClock {
  readonly #limits: ClockLimits;
  readonly #now: () => number;
  readonly #startedAt: number;
  #totalMs: number;
  /** What somebody took to approve it. */
  #apartMs = 0;

  constructor(limits: ClockLimits, now: () => number = monotonic) {
    this.#limits = limits;
    this.#now = now;
    this.#startedAt = now();
    this.#totalMs = limits.maxTotalMs ?? Number.POSITIVE_INFINITY;
  }

  /** What the server is given, where the caller did not say. */
  atMost(totalMs: number): void {
    if (this.#limits.maxTotalMs === undefined) this.#totalMs = totalMs;
  }

  /** This was a person's time. */
  leaveOut(ms: number): void {
    this.#apartMs += ms;
  }

  /** Of the whole. */
  get leftMs(): number {
    return this.#totalMs - (this.#now() - this.#startedAt - this.#apartMs);
  }

  /** The same for a timer. */
  get timerMs(): number {
    return Math.ceil(Math.min(Math.max(this.leftMs, 1), LONGEST_TIMER_MS));
  }

  /** How long the next wait may take, if there is nothing but silence. */
  get patienceMs(): number {
    return Math.min(this.#limits.timeoutMs ?? Number.POSITIVE_INFINITY, this.leftMs);
  }

  /** The work, or CALL_TIMEOUT when it takes too long, or CALL_CANCELLED. The work itself goes on for others. */
  until<T>(work: Promise<T>, { signal, ...waiting }: Waiting): Promise<T> {
    const ms = this.patienceMs;
    if (ms === Number.POSITIVE_INFINITY && signal === undefined) return work;
    return new Promise((resolve, reject) => {
      const timer =
        ms === Number.POSITIVE_INFINITY
          ? undefined
          : setTimeout(() => end(this.#tooLong(ms, waiting)), Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
      const end = (error: TurnbuckleError): void => {
        reject(error);
        forget();
      };
      const cancel = (): void => end(cancelled());
      const forget = (): void => {
        clearTimeout(timer);
        offAbort(signal, cancel);
      };
      onAbort(signal, cancel);
      work.then(resolve, reject).finally(forget);
      if (signal?.aborted === true) cancel();
      else if (ms <= 0) end(this.#tooLong(ms, waiting));
    });
  }

  #tooLong(waitedMs: number, { what, server, begun }: Omit<Waiting, 'signal'>): TurnbuckleError {
    const { timeoutMs = Number.POSITIVE_INFINITY } = this.#limits;
    const limit = waitedMs >= timeoutMs ? `${timeoutMs} ms` : `${this.#totalMs} ms in all`;
    const end = begun === true ? 'It may have happened' : 'Nothing was sent';
    return new TurnbuckleError('CALL_TIMEOUT', `The call had ${limit} and waited for ${what}. ${end}.`, {
      server,
      hint: 'Raise timeoutMs or maxTotalMs of the call, or callTimeoutMs or maxCallMs of its server.',
      data: { sent: begun === true },
    });
  }
}

const cancelled = (): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled by the caller.');
