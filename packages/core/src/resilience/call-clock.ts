/**
 * Limits the duration of a call: one clock from the caller's request to the response, whatever happens in between.
 * The total covers all of it, the timeout each wait. The time a person takes for an approval does not count.
 */
import { type CancelSignal, offAbort, onAbort } from '../async/cancel-signal.js';
import { MAX_TIMER_MS } from '../async/timer-delay.js';
import { TurnbuckleError } from '../errors.js';

export interface ClockLimits {
  /** Timeout for each wait. */
  readonly timeoutMs?: number | undefined;
  /** Maximum duration in total. */
  readonly maxTotalMs?: number | undefined;
}

/** What is being waited for, as shown in the message. */
export interface WaitDescription {
  readonly what: string;
  readonly server?: string | undefined;
  /** The request was sent and may have been executed. */
  readonly begun?: boolean | undefined;
  readonly signal?: CancelSignal | undefined;
}

/** One function for all clocks: a call allocates as few objects as possible. */
const monotonic = (): number => performance.now();

export class CallClock {
  readonly #limits: ClockLimits;
  readonly #now: () => number;
  readonly #startedAt: number;
  #totalMs: number;
  /** Time spent on approvals. */
  #excludedMs = 0;

  constructor(limits: ClockLimits, now: () => number = monotonic) {
    this.#limits = limits;
    this.#now = now;
    this.#startedAt = now();
    this.#totalMs = limits.maxTotalMs ?? Number.POSITIVE_INFINITY;
  }

  /** The server's limits, for those that the caller did not set. */
  setDefaultTotal(totalMs: number): void {
    if (this.#limits.maxTotalMs === undefined) this.#totalMs = totalMs;
  }

  /** Excludes the time that a person took. */
  exclude(ms: number): void {
    this.#excludedMs += ms;
  }

  /** Remaining time in total. */
  get leftMs(): number {
    return this.#totalMs - (this.#now() - this.#startedAt - this.#excludedMs);
  }

  /** The same, limited to what a timer can wait. */
  get timerMs(): number {
    return Math.ceil(Math.min(Math.max(this.leftMs, 1), MAX_TIMER_MS));
  }

  /** How long the next wait may take without any response. */
  get nextTimeoutMs(): number {
    return Math.min(this.#limits.timeoutMs ?? Number.POSITIVE_INFINITY, this.leftMs);
  }

  /** Awaits the work, or rejects with CALL_TIMEOUT or CALL_CANCELLED. The work itself continues for others. */
  until<T>(work: Promise<T>, { signal, ...waiting }: WaitDescription): Promise<T> {
    const ms = this.nextTimeoutMs;
    if (ms === Number.POSITIVE_INFINITY && signal === undefined) return work;
    return new Promise((resolve, reject) => {
      const timer =
        ms === Number.POSITIVE_INFINITY
          ? undefined
          : setTimeout(() => end(this.#timeoutError(ms, waiting)), Math.min(Math.max(ms, 0), MAX_TIMER_MS));
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
      if (ms <= 0) end(this.#timeoutError(ms, waiting));
    });
  }

  #timeoutError(waitedMs: number, { what, server, begun }: Omit<WaitDescription, 'signal'>): TurnbuckleError {
    const { timeoutMs = Number.POSITIVE_INFINITY } = this.#limits;
    const limit = waitedMs >= timeoutMs ? `${timeoutMs} ms` : `${this.#totalMs} ms in total`;
    const end = begun === true ? 'The call may have been executed' : 'Nothing was sent';
    return new TurnbuckleError(
      'CALL_TIMEOUT',
      `The call timed out after ${limit} while waiting for ${what}. ${end}.`,
      {
        server,
        hint: 'Increase timeoutMs or maxTotalMs for the call, or callTimeoutMs or maxCallMs for its server.',
        data: { sent: begun === true },
      },
    );
  }
}

const cancelled = (): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled by the caller.');
