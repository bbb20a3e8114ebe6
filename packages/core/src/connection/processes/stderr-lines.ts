import { StringDecoder } from 'node:string_decoder';
import { monotonicNow } from '../../async/monotonic-now.js';

/** Receives what a process writes to stderr. Untrusted text. */
export interface StderrListener {
  /** Checked for each chunk: without listeners, nothing is parsed. */
  readonly isWanted: () => boolean;
  /** A line without its line break, and how many lines were dropped before it because of the rate limit. */
  readonly onLine: (text: string, dropped: number) => void;
  /** From a monotonic clock, by default the process's own. */
  readonly now?: () => number;
}

const MAX_LINE_CHARACTERS = 8_192;
const MAX_LINES_PER_SECOND = 1_000;
const WINDOW_MS = 1_000;

/** Splits bytes into lines of text: a longer line comes in pieces, at a limited rate. */
export class StderrLines {
  readonly #listener: StderrListener;
  readonly #now: () => number;
  #decoder = new StringDecoder('utf8');
  #rest = '';
  #windowStart = Number.NEGATIVE_INFINITY;
  #emitted = 0;
  #dropped = 0;

  constructor(listener: StderrListener) {
    this.#listener = listener;
    this.#now = listener.now ?? monotonicNow;
  }

  push(chunk: Buffer): void {
    if (!this.#listener.isWanted()) return this.#reset();
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#emitLine(line.endsWith('\r') ? line.slice(0, -1) : line);
    while (this.#rest.length >= MAX_LINE_CHARACTERS) {
      this.#emit(this.#rest.slice(0, MAX_LINE_CHARACTERS));
      this.#rest = this.#rest.slice(MAX_LINE_CHARACTERS);
    }
  }

  /** The stream ended: an incomplete line counts as a line too. */
  end(): void {
    const isWanted = this.#listener.isWanted();
    const rest = this.#rest + this.#decoder.end();
    if (isWanted && rest !== '') this.#emitLine(rest);
    if (isWanted && this.#dropped > 0) this.#listener.onLine('', this.#dropped);
    this.#reset();
  }

  #reset(): void {
    this.#rest = '';
    this.#dropped = 0;
    this.#decoder = new StringDecoder('utf8');
  }

  #emitLine(line: string): void {
    if (line.length <= MAX_LINE_CHARACTERS) return this.#emit(line);
    for (let start = 0; start < line.length; start += MAX_LINE_CHARACTERS)
      this.#emit(line.slice(start, start + MAX_LINE_CHARACTERS));
  }

  #emit(text: string): void {
    const now = this.#now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#emitted = 0;
    }
    this.#emitted += 1;
    if (this.#emitted > MAX_LINES_PER_SECOND) {
      this.#dropped += 1;
      return;
    }
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#listener.onLine(text, dropped);
  }
}
