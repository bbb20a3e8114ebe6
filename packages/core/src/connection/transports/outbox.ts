/**
 * What waits to be written to one connection. Only a little more than the other side takes is handed to its stream: what
 * is in there cannot be taken back, what waits here can. A server that takes nothing for long is reported.
 */
import { TurnbuckleError } from '../errors.js';
import { timerDelay } from '../resilience/timer-delay.js';

export interface UnsentLimits {
  /** Requests that wait until the server reads; more are refused. */
  readonly maxUnsentBytes: number;
  /** How long it may take nothing of what waits. */
  readonly maxUnreadMs: number;
}

export interface OutboxOptions {
  readonly server: string;
  readonly limits: UnsentLimits;
  /** What the stream was given and has not passed on yet. */
  readonly unsent: () => number;
  readonly write: (text: string, id: unknown) => void;
}

/** With so much in the stream, the rest waits here. */
const FULL_BYTES = 64 * 1_024;
/** Requests up to this size always pass: there are only so many, and a sign of life must not fail for those of others. */
export const SMALL_REQUEST = 4_096;
/** What each message takes beside its characters. */
const MESSAGE_BYTES = 200;
/** Of what may wait, so much may be answers and notices. Whoever asks on and never reads is beyond it. */
const OTHERS_SHARE = 1 / 4;
/** Nobody can see how far the stream has got with one message: a large one gets as much time for each of these. */
const STEP_BYTES = 1_024 * 1_024;

export class Outbox {
  /** It does not read, for too long or too much: the connection is of no use. Told once. */
  onStuck?: ((error: TurnbuckleError) => void) | undefined;
  readonly #options: OutboxOptions;
  /** By id; what is no request has a key of its own. */
  readonly #waiting = new Map<unknown, { readonly text: string; readonly id: unknown }>();
  #requestBytes = 0;
  #otherBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** The common case: the stream takes the next message, and none waits before it. */
  get isFree(): boolean {
    return this.#waiting.size === 0 && this.#options.unsent() < FULL_BYTES;
  }

  /** Rejects with OVERLOADED what there is no room for. `id` is that of a request. */
  add(text: string, id: unknown): Promise<void> {
    const { server, limits } = this.#options;
    const { maxUnsentBytes } = limits;
    const bytes = text.length + MESSAGE_BYTES;
    if (id === undefined) {
      this.#otherBytes += bytes;
      if (this.#otherBytes > maxUnsentBytes * OTHERS_SHARE) this.#stuck();
    } else {
      const isFull = this.#requestBytes > 0 && this.#requestBytes + bytes > maxUnsentBytes;
      if (isFull && text.length > SMALL_REQUEST)
        return Promise.reject(readsTooSlowly(server, this.#requestBytes, limits));
      this.#requestBytes += bytes;
    }
    if (this.#isOver) return Promise.resolve();
    this.#waiting.set(id ?? {}, { text, id });
    this.#timer ??= this.#watch();
    return Promise.resolve();
  }

  /** Nobody waits for the answer any more: true when the request has not left, and will not. */
  withdraw(id: unknown): boolean {
    const found = this.#waiting.get(id);
    if (found === undefined) return false;
    this.#take(id, found);
    return true;
  }

  /** The other side has taken something: what it has room for goes on. */
  moved(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [key, one] of this.#waiting) {
      if (this.#options.unsent() >= FULL_BYTES) break;
      this.#take(key, one);
      this.#options.write(one.text, one.id);
    }
    if (this.#waiting.size > 0) this.#timer = this.#watch();
  }

  /** The connection is over; answers with the requests that never left. */
  close(): readonly unknown[] {
    this.#isOver = true;
    clearTimeout(this.#timer);
    const ids = [...this.#waiting.values()].flatMap(({ id }) => (id === undefined ? [] : [id]));
    this.#waiting.clear();
    return ids;
  }

  #take(key: unknown, { text, id }: { readonly text: string; readonly id: unknown }): void {
    this.#waiting.delete(key);
    if (id === undefined) this.#otherBytes -= text.length + MESSAGE_BYTES;
    else this.#requestBytes -= text.length + MESSAGE_BYTES;
  }

  #watch(): NodeJS.Timeout {
    const { limits, unsent } = this.#options;
    const delayMs = limits.maxUnreadMs * Math.max(1, Math.ceil(unsent() / STEP_BYTES));
    return setTimeout(() => this.#stuck(), timerDelay(delayMs)).unref();
  }

  #stuck(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { server } = this.#options;
    this.onStuck?.(
      new TurnbuckleError('CONNECTION_LOST', `Server "${server}" has stopped reading what is sent to it.`, {
        server,
        hint: 'It may hang: look at what it writes. limits.maxUnreadMs says how long it may read nothing.',
        data: { sent: true },
      }),
    );
  }
}

export function readsTooSlowly(server: string, bytes: number, limits: UnsentLimits): TurnbuckleError {
  return new TurnbuckleError('OVERLOADED', `Server "${server}" reads more slowly than it is called.`, {
    server,
    hint: `Nothing was sent: ${bytes} bytes wait until it reads (limits.maxUnsentBytes is ${limits.maxUnsentBytes}). Try again later.`,
    data: { sent: false },
  });
}
