import { StringDecoder } from 'node:string_decoder';

/** Who is told what a process writes to stderr. Untrusted text. */
export interface StderrListener {
  /** Asked for each piece that arrives: while nobody listens, nothing is made of it. */
  readonly isWanted: () => boolean;
  /** A line without its end, and how many were left out before it because there were too many. */
  readonly onLine: (text: string, dropped: number) => void;
  readonly now?: () => number;
}

const MAX_CHARACTERS = 8_192;
const LINES_PER_SECOND = 1_000;
const WINDOW_MS = 1_000;

/** Bytes as lines of text: a longer line comes in pieces, and only so many come in a second. */
export class StderrLines {
  readonly #listener: StderrListener;
  readonly #now: () => number;
  #decoder = new StringDecoder('utf8');
  #rest = '';
  #windowStart = Number.NEGATIVE_INFINITY;
  #told = 0;
  #dropped = 0;

  constructor(listener: StderrListener) {
    this.#listener = listener;
    this.#now = listener.now ?? Date.now;
  }

  push(chunk: Buffer): void {
    if (!this.#listener.isWanted()) return this.#forget();
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#tellLine(line.endsWith('\r') ? line.slice(0, -1) : line);
    while (this.#rest.length >= MAX_CHARACTERS) {
      this.#tell(this.#rest.slice(0, MAX_CHARACTERS));
      this.#rest = this.#rest.slice(MAX_CHARACTERS);
    }
  }

  /** No more will come: what has no end of line is a line too. */
  end(): void {
    const isWanted = this.#listener.isWanted();
    const rest = this.#rest + this.#decoder.end();
    if (isWanted && rest !== '') this.#tellLine(rest);
    if (isWanted && this.#dropped > 0) this.#listener.onLine('', this.#dropped);
    this.#forget();
  }

  #forget(): void {
    this.#rest = '';
    this.#dropped = 0;
    this.#decoder = new StringDecoder('utf8');
  }

  #tellLine(line: string): void {
    if (line.length <= MAX_CHARACTERS) return this.#tell(line);
    for (let start = 0; start < line.length; start += MAX_CHARACTERS)
      this.#tell(line.slice(start, start + MAX_CHARACTERS));
  }

  #tell(text: string): void {
    const now = this.#now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#told = 0;
    }
    this.#told += 1;
    if (this.#told > LINES_PER_SECOND) {
      this.#dropped += 1;
      return;
    }
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#listener.onLine(text, dropped);
  }
}
