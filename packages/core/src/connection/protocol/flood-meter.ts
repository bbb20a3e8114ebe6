/**
 * Weighs what a server sends without having been asked: notifications, comments, noise, answers to nobody. A burst
 * passes; above the rate the server has to wait (nobody reads what it writes), and one that goes on is reported.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

export interface FloodLimits {
  /** What it may send for ever. Each line and each read counts as some bytes more: they cost time, too. */
  readonly unaskedBytesPerSecond: number;
  /** Above that for so long, it is stopped. */
  readonly maxFloodMs: number;
}

/** How many seconds' worth may come at once. */
const BURST_SECONDS = 8;
/** What a line and a read cost beside their bytes: about as much as reading so many bytes. */
export const LINE_BYTES = 400;
export const READ_BYTES = 1_500;

export class FloodMeter {
  /** It has been flooding for too long. Told once. */
  onFlood?: (() => void) | undefined;
  readonly #rate: number;
  readonly #burst: number;
  readonly #maxFloodMs: number;
  readonly #now: () => number;
  #level = 0;
  #at: number;
  #since: number | undefined;
  #sinceAnswer = 0;
  #isOver = false;

  constructor({ unaskedBytesPerSecond, maxFloodMs }: FloodLimits, now = (): number => performance.now()) {
    this.#rate = unaskedBytesPerSecond / 1_000;
    this.#burst = unaskedBytesPerSecond * BURST_SECONDS;
    this.#maxFloodMs = maxFloodMs;
    this.#now = now;
    this.#at = now();
  }

  /** It sent so much; answers for how many milliseconds not to read on. */
  take(bytes: number): number {
    const now = this.#now();
    this.#level = Math.max(this.#level - (now - this.#at) * this.#rate, 0);
    this.#at = now;
    if (this.#level < this.#burst / 2) this.#since = undefined;
    this.#level += bytes;
    this.#sinceAnswer += bytes;
    if (this.#level <= this.#burst) return 0;
    this.#since ??= now;
    if (now - this.#since >= this.#maxFloodMs && !this.#isOver) {
      this.#isOver = true;
      this.onFlood?.();
    }
    return Math.min((this.#level - this.#burst) / this.#rate, MAX_PAUSE_MS);
  }

  /** What came since the last answer was that answer, at most so much of it: for who cannot tell beforehand. */
  refund(maxBytes: number): void {
    this.#level = Math.max(this.#level - Math.min(this.#sinceAnswer, maxBytes), 0);
    this.#sinceAnswer = 0;
  }
}

/** Longer, and the other side would be taken for dead. */
const MAX_PAUSE_MS = 1_000;

/** Tells answers that somebody waits for from those that nobody asked for. */
export class AwaitedAnswers {
  #count = 0;

  /** A request went out. */
  sent(): void {
    this.#count += 1;
  }

  /** True for an answer, once for each request. */
  take(message: JSONRPCMessage): boolean {
    if ('method' in message || this.#count === 0) return false;
    this.#count -= 1;
    return true;
  }
}

/** Stops a stream for a while, time and again. */
export class Pauses {
  readonly #stream: { pause(): unknown; resume(): unknown };
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #isBusy = false;

  constructor(stream: { pause(): unknown; resume(): unknown }) {
    this.#stream = stream;
  }

  hold(ms: number): void {
    if (ms <= 0 || this.#timer !== undefined || this.#isOver) return;
    this.#stream.pause();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isBusy) this.#stream.resume();
    }, ms);
  }

  /** Nothing more is read until what has come has been dealt with. */
  wait(isBusy: boolean): void {
    this.#isBusy = isBusy;
    if (isBusy) this.#stream.pause();
    else if (this.#timer === undefined) this.#stream.resume();
  }

  /** No more pauses: what is left is read at once. */
  end(): void {
    this.#isOver = true;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isBusy) this.#stream.resume();
  }
}

const NEWLINE = 10;

/** What a piece of text costs: its bytes, its lines, and having been read. */
export function weigh(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return READ_BYTES + chunk.length + lines * LINE_BYTES;
}
