/** One request in flight: a timeout that progress resets, the caller's signal, and exactly one settlement. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { offAbort, onAbort } from '../../async/cancel-signal.js';
import { Deadlines, type PendingDeadline } from '../../async/deadlines.js';
import { SERVER_BUG_HINT, TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import type { LaneRequest, LaneResult, Progress } from './lane.js';
import { CALL_TIMEOUT_HINT, serverError } from './server-error.js';

export type AbandonReason = 'timeout' | 'cancelled';

export interface PendingRequestOptions {
  readonly id: number;
  readonly server: string;
  readonly request: LaneRequest;
  /** The server waits for an answer of ours, so its silence is not its fault. */
  readonly hasOpenServerRequest: () => boolean;
  /** The caller cancelled or the timeout expired: notify the server, forget the id. */
  readonly onAbandon: (flight: PendingRequest, why: AbandonReason) => void;
}

/** Of all requests. */
const deadlines = new Deadlines();

export class PendingRequest implements PendingDeadline {
  readonly id: number;
  readonly promise: Promise<LaneResult>;
  dueAt: number;
  place = 0;
  readonly #options: PendingRequestOptions;
  readonly #startedAt = performance.now();
  #lastActivity = this.#startedAt;
  #isSettled = false;
  #resolve: (result: LaneResult) => void = noop;
  #reject: (error: TurnbuckleError) => void = noop;

  constructor(options: PendingRequestOptions) {
    this.id = options.id;
    this.#options = options;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { signal, timeoutMs, maxTotalMs } = options.request;
    this.dueAt = this.#startedAt + Math.min(timeoutMs, maxTotalMs);
    deadlines.add(this);
    // Nobody has it yet, and nothing was sent: it is settled, not abandoned.
    if (signal?.aborted === true) this.fail(this.#cancelled());
    // The object itself, not a closure: objects with closures survive many minor GCs.
    else onAbort(signal, this);
  }

  get request(): LaneRequest {
    return this.#options.request;
  }

  /** True from the start if the caller cancelled before: then it must not be sent. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Handles the server's response: a result, or an error. */
  answer(message: JSONRPCMessage): void {
    if ('error' in message) return this.fail(serverError(this.#options.server, message.error));
    const result = 'result' in message ? message.result : undefined;
    if (!isRecord(result)) {
      return this.fail(
        this.#error('PROTOCOL_VIOLATION', 'sent a response with neither a result nor an error'),
      );
    }
    if (this.#finish()) this.#resolve(result as LaneResult);
  }

  fail(error: TurnbuckleError): void {
    if (this.#finish()) this.#reject(error);
  }

  /** The server is active: restart the timeout. */
  noteActivity(): void {
    this.#lastActivity = performance.now();
  }

  progress(params: Progress): void {
    if (this.#isSettled) return;
    this.noteActivity();
    const { total, message } = params;
    this.#options.request.onProgress?.({
      progress: params.progress,
      // Untrusted: only values of the right type are passed on.
      ...(Number.isFinite(total) && { total }),
      ...(typeof message === 'string' && { message }),
    });
  }

  #finish(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    deadlines.delete(this);
    offAbort(this.#options.request.signal, this);
    return true;
  }

  /** The time may be over, or progress may have extended it. */
  onDue(): void {
    const { timeoutMs, maxTotalMs, method } = this.#options.request;
    if (this.#options.hasOpenServerRequest()) this.noteActivity();
    const now = performance.now();
    this.dueAt = Math.min(this.#lastActivity + timeoutMs, this.#startedAt + maxTotalMs);
    if (this.dueAt > now) return deadlines.add(this);
    const total = now - this.#startedAt >= maxTotalMs;
    const what = total
      ? `took longer than ${maxTotalMs} ms for ${method}`
      : `did not respond to ${method} within ${timeoutMs} ms`;
    this.#abandon('timeout', this.#error('CALL_TIMEOUT', what));
  }

  /** The caller cancelled. */
  handleEvent(): void {
    this.#abandon('cancelled', this.#cancelled());
  }

  #cancelled(): TurnbuckleError {
    const { method } = this.#options.request;
    return this.#error('CALL_CANCELLED', `did not finish ${method} because the caller cancelled it`);
  }

  #abandon(why: AbandonReason, error: TurnbuckleError): void {
    if (!this.#finish()) return;
    this.#options.onAbandon(this, why);
    this.#reject(error);
  }

  #error(code: keyof typeof HINTS, what: string): TurnbuckleError {
    const { server } = this.#options;
    return new TurnbuckleError(code, `Server "${server}" ${what}.`, { server, hint: HINTS[code] });
  }
}

const HINTS = {
  CALL_TIMEOUT: CALL_TIMEOUT_HINT,
  CALL_CANCELLED: undefined,
  PROTOCOL_VIOLATION: SERVER_BUG_HINT,
};

const noop = (): void => {};
