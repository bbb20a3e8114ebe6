/**
 * Measures unrequested data of a server: notifications, comments, noise, unexpected responses. A burst passes; above
 * the rate the server has to wait (its output is not read), and one that continues is reported.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

export interface FloodLimits {
  /** The sustained rate. Each line and each read adds some bytes, because they cost time too. */
  readonly unaskedBytesPerSecond: number;
  /** Above that for this long, the server is stopped. */
  readonly maxFloodMs: number;
}

/** The size of a burst, in seconds of the rate. */
const BURST_SECONDS = 8;
/** The cost of a line and of a read besides their bytes: about as much as reading this many bytes. */
export const BYTES_PER_LINE = 400;
export const BYTES_PER_READ = 1_500;

export class FloodMeter {
  /** It has been flooding for too long. Called once. */
  onFlood?: (() => void) | undefined;
  readonly #rate: number;
  readonly #burst: number;
  readonly #maxFloodMs: number;
  readonly #now: () => number;
  #level = 0;
  #updatedAt: number;
  #floodingSince: number | undefined;
  #bytesSinceAnswer = 0;
  #isReported = false;

  constructor({ unaskedBytesPerSecond, maxFloodMs }: FloodLimits, now = (): number => performance.now()) {
    this.#rate = unaskedBytesPerSecond / 1_000;
    this.#burst = unaskedBytesPerSecond * BURST_SECONDS;
    this.#maxFloodMs = maxFloodMs;
    this.#now = now;
    this.#updatedAt = now();
  }

  /** Counts the data; returns for how many milliseconds to pause reading. */
  record(bytes: number): number {
    const now = this.#now();
    this.#level = Math.max(this.#level - (now - this.#updatedAt) * this.#rate, 0);
    this.#updatedAt = now;
    if (this.#level < this.#burst / 2) this.#floodingSince = undefined;
    this.#level += bytes;
    this.#bytesSinceAnswer += bytes;
    if (this.#level <= this.#burst) return 0;
    this.#floodingSince ??= now;
    if (now - this.#floodingSince >= this.#maxFloodMs && !this.#isReported) {
      this.#isReported = true;
      this.onFlood?.();
    }
    return Math.min((this.#level - this.#burst) / this.#rate, MAX_PAUSE_MS);
  }

  /**
   * What came since the last response was part of that response, up to this much: for streams where that is not known
   * in advance.
   */
  refund(maxBytes: number): void {
    this.#level = Math.max(this.#level - Math.min(this.#bytesSinceAnswer, maxBytes), 0);
    this.#bytesSinceAnswer = 0;
  }
}

/** With longer pauses, the other side would seem dead. */
const MAX_PAUSE_MS = 1_000;

/** Distinguishes expected responses from unexpected ones. */
export class AwaitedAnswers {
  #count = 0;

  /** A request was sent. */
  sent(): void {
    this.#count += 1;
  }

  /** True for a response, once for each request. */
  take(message: JSONRPCMessage): boolean {
    if ('method' in message || this.#count === 0) return false;
    this.#count -= 1;
    return true;
  }
}

/** Pauses a stream repeatedly. */
export class StreamPauses {
  readonly #stream: { pause(): unknown; resume(): unknown };
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #isBusy = false;

  constructor(stream: { pause(): unknown; resume(): unknown }) {
    this.#stream = stream;
  }

  pauseFor(ms: number): void {
    if (ms <= 0 || this.#timer !== undefined || this.#isOver) return;
    this.#stream.pause();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isBusy) this.#stream.resume();
    }, ms);
  }

  /** Nothing more is read until everything received has been handled. */
  setBusy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    if (isBusy) this.#stream.pause();
    else if (this.#timer === undefined) this.#stream.resume();
  }

  /** No more pauses: the rest is read immediately. */
  end(): void {
    this.#isOver = true;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isBusy) this.#stream.resume();
  }
}

const NEWLINE = 10;

/** The cost of a chunk of text: its bytes, its lines, and the read itself. */
export function chunkCost(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return BYTES_PER_READ + chunk.length + lines * BYTES_PER_LINE;
}
