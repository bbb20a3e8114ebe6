/**
 * The queue of messages to one connection. Only a little more than the other side accepts is written to its stream:
 * what is in the stream cannot be withdrawn, what waits here can. A server that reads nothing for long is reported.
 */

import { timerDelay } from '../../async/timer-delay.js';
import { TurnbuckleError } from '../../errors.js';
import { shellQuote } from '../../text/shell-quote.js';

export interface UnsentLimits {
  /** Requests that wait until the server reads; more are rejected. */
  readonly maxUnsentBytes: number;
  /** How long it may read nothing. */
  readonly maxUnreadMs: number;
}

export interface OutboxOptions {
  readonly server: string;
  readonly limits: UnsentLimits;
  /** What was written to the stream and is not flushed yet. */
  readonly bufferedBytes: () => number;
  readonly write: (text: string, id: unknown) => void;
}

/** With this much in the stream, the rest waits here. */
const MAX_STREAM_BYTES = 64 * 1_024;
/**
 * Requests up to this size always pass: their number is limited, and a ping must not fail because of other requests.
 */
export const SMALL_REQUEST_CHARACTERS = 4_096;
/** The overhead of each message. */
const MESSAGE_OVERHEAD_BYTES = 200;
/** The share for responses and notifications. A peer that keeps sending requests and never reads exceeds it. */
const NON_REQUEST_SHARE = 1 / 4;
/** The progress of one message in the stream is not visible: a large one gets this much more time per unit. */
const BYTES_PER_TIMEOUT = 1_024 * 1_024;

export class Outbox {
  /** It does not read, for too long or too much: the connection is useless. Called once. */
  onStuck?: ((error: TurnbuckleError) => void) | undefined;
  readonly #options: OutboxOptions;
  /** By id; a message without an id has its own key. */
  readonly #waiting = new Map<unknown, { readonly text: string; readonly id: unknown }>();
  #requestBytes = 0;
  #otherBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** The common case: the stream accepts the next message, and none waits before it. */
  get isFree(): boolean {
    return this.#waiting.size === 0 && this.#options.bufferedBytes() < MAX_STREAM_BYTES;
  }

  /** Rejects with OVERLOADED if there is no room. `id` is that of a request. */
  add(text: string, id: unknown): Promise<void> {
    const { server, limits } = this.#options;
    const { maxUnsentBytes } = limits;
    const bytes = text.length + MESSAGE_OVERHEAD_BYTES;
    if (id === undefined) {
      this.#otherBytes += bytes;
      if (this.#otherBytes > maxUnsentBytes * NON_REQUEST_SHARE) this.#reportStuck();
    } else {
      const isFull = this.#requestBytes > 0 && this.#requestBytes + bytes > maxUnsentBytes;
      if (isFull && text.length > SMALL_REQUEST_CHARACTERS)
        return Promise.reject(slowReaderError(server, this.#requestBytes, limits));
      this.#requestBytes += bytes;
    }
    if (this.#isClosed) return Promise.resolve();
    this.#waiting.set(id ?? {}, { text, id });
    this.#timer ??= this.#startTimer();
    return Promise.resolve();
  }

  /** The response is no longer needed: true if the request was not sent, and will not be. */
  withdraw(id: unknown): boolean {
    const found = this.#waiting.get(id);
    if (found === undefined) return false;
    this.#remove(id, found);
    return true;
  }

  /** The other side has read something: send what there is room for. */
  onDrain(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [key, one] of this.#waiting) {
      if (this.#options.bufferedBytes() >= MAX_STREAM_BYTES) break;
      this.#remove(key, one);
      this.#options.write(one.text, one.id);
    }
    if (this.#waiting.size > 0) this.#timer = this.#startTimer();
  }

  /** The connection ended; returns the requests that were never sent. */
  close(): readonly unknown[] {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const ids = [...this.#waiting.values()].flatMap(({ id }) => (id === undefined ? [] : [id]));
    this.#waiting.clear();
    return ids;
  }

  #remove(key: unknown, { text, id }: { readonly text: string; readonly id: unknown }): void {
    this.#waiting.delete(key);
    if (id === undefined) this.#otherBytes -= text.length + MESSAGE_OVERHEAD_BYTES;
    else this.#requestBytes -= text.length + MESSAGE_OVERHEAD_BYTES;
  }

  #startTimer(): NodeJS.Timeout {
    const { limits, bufferedBytes } = this.#options;
    const delayMs = limits.maxUnreadMs * Math.max(1, Math.ceil(bufferedBytes() / BYTES_PER_TIMEOUT));
    return setTimeout(() => this.#reportStuck(), timerDelay(delayMs)).unref();
  }

  #reportStuck(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { server } = this.#options;
    this.onStuck?.(
      new TurnbuckleError('CONNECTION_LOST', `Server "${server}" stopped reading its input.`, {
        server,
        hint: `The server may be stuck. The time limit is limits.maxUnreadMs. Check the server's output: turnbuckle logs ${shellQuote(server)}`,
        data: { sent: true },
      }),
    );
  }
}

export function slowReaderError(server: string, bytes: number, limits: UnsentLimits): TurnbuckleError {
  return new TurnbuckleError('OVERLOADED', `Server "${server}" reads its input too slowly.`, {
    server,
    hint: `Nothing was sent, because ${bytes} bytes are still waiting to be sent (limits.maxUnsentBytes is ${limits.maxUnsentBytes}). Try again later.`,
    data: { sent: false },
  });
}
