/** One request on its way: a clock that progress resets, the caller's signal, and exactly one settlement. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { offAbort, onAbort } from '../cancel-signal.js';
import { TurnbuckleError } from '../errors.js';
import { timerDelay } from '../resilience/timer-delay.js';
import type { LaneRequest, LaneResult, Progress } from './lane.js';
import { serverError } from './server-error.js';

export type Abandoned = 'timeout' | 'cancelled';

export interface FlightOptions {
  readonly id: number;
  readonly server: string;
  readonly request: LaneRequest;
  /** The server waits for an answer of ours: its silence is no fault of it. */
  readonly isAsking: () => boolean;
  /** The caller gave up or the clock ran out: tell the server, forget the id. */
  readonly onAbandon: (flight: Flight, why: Abandoned) => void;
}

export class Flight {
  readonly id: number;
  readonly promise: Promise<LaneResult>;
  readonly #options: FlightOptions;
  readonly #startedAt = Date.now();
  #lastActivity = this.#startedAt;
  #timer: NodeJS.Timeout | undefined;
  #settled = false;
  #resolve: (result: LaneResult) => void = nothing;
  #reject: (error: TurnbuckleError) => void = nothing;

  constructor(options: FlightOptions) {
    this.id = options.id;
    this.#options = options;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { signal, timeoutMs, maxTotalMs } = options.request;
    this.#arm(Math.min(timeoutMs, maxTotalMs));
    // Itself, not a function of its own: objects with such functions outlive many collections of the young.
    onAbort(signal, this);
  }

  get request(): LaneRequest {
    return this.#options.request;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Takes the answer of the server: a result, or its error. */
  answer(message: JSONRPCMessage): void {
    if ('error' in message) return this.fail(serverError(this.#options.server, message.error));
    const result = 'result' in message ? message.result : undefined;
    if (typeof result !== 'object' || result === null || Array.isArray(result)) {
      return this.fail(this.#error('PROTOCOL_VIOLATION', 'answered with neither a result nor an error'));
    }
    if (this.#finish()) this.#resolve(result as LaneResult);
  }

  fail(error: TurnbuckleError): void {
    if (this.#finish()) this.#reject(error);
  }

  /** A sign of life: the clock for silence starts anew. */
  touch(): void {
    this.#lastActivity = Date.now();
  }

  progress(params: Progress): void {
    if (this.#settled) return;
    this.touch();
    const { total, message } = params;
    this.#options.request.onProgress?.({
      progress: params.progress,
      // A server writes what it likes: only what has the right type is told.
      ...(Number.isFinite(total) && { total }),
      ...(typeof message === 'string' && { message }),
    });
  }

  #finish(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    offAbort(this.#options.request.signal, this);
    return true;
  }

  #arm(delayMs: number): void {
    this.#timer = setTimeout(expire, timerDelay(delayMs), this);
  }

  /** The timer rang: the time may be over, or progress may have moved it. */
  expire(): void {
    const { timeoutMs, maxTotalMs, method } = this.#options.request;
    if (this.#options.isAsking()) this.touch();
    const now = Date.now();
    const leftMs = Math.min(this.#lastActivity + timeoutMs, this.#startedAt + maxTotalMs) - now;
    if (leftMs > 0) return this.#arm(leftMs);
    const total = now - this.#startedAt >= maxTotalMs;
    const what = total
      ? `took longer than ${maxTotalMs} ms for ${method}`
      : `did not answer ${method} within ${timeoutMs} ms`;
    this.#abandon('timeout', this.#error('CALL_TIMEOUT', what));
  }

  /** The caller gave up. */
  handleEvent(): void {
    this.#abandon(
      'cancelled',
      this.#error('CALL_CANCELLED', `had ${this.#options.request.method} cancelled by the caller`),
    );
  }

  #abandon(why: Abandoned, error: TurnbuckleError): void {
    if (!this.#finish()) return;
    this.#options.onAbandon(this, why);
    this.#reject(error);
  }

  #error(code: 'CALL_TIMEOUT' | 'CALL_CANCELLED' | 'PROTOCOL_VIOLATION', what: string): TurnbuckleError {
    const { server } = this.#options;
    return new TurnbuckleError(code, `Server "${server}" ${what}.`, {
      server,
      ...(code === 'CALL_TIMEOUT' && {
        hint: 'Raise callTimeoutMs or maxCallMs for this server if the work needs longer.',
      }),
    });
  }
}

const nothing = (): void => {};

/** One function for all timers: a call makes as few objects as it can. */
const expire = (flight: Flight): void => flight.expire();
