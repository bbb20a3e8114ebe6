/** Reads the lines of a stream. Memory for each is reserved while it arrives; a line without room is discarded. */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { LineLimiter } from '../../http/server/line-limiter.js';
import { yieldIfSliceUsed } from '../../http/server/yield-slices.js';

export interface WholeLine {
  readonly text: string;
  /** Its memory once parsed. */
  readonly weight: number;
}

/** What is kept of a line that was too long or had no room. */
export interface DroppedLine {
  /** The JSON of the id of its request, if it can be found; otherwise null. */
  readonly id: string;
  readonly isTooLong: boolean;
}

/** How much of both ends of a discarded line is kept: clients write the id first or last. */
const KEPT_CHARACTERS = 1_024;
const ID_PATTERN = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)`;
/** Next to the outermost braces, so that it cannot be the id of a nested object. */
const LEADING_ID = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${ID_PATTERN}\s*,`);
const TRAILING_ID = new RegExp(String.raw`,\s*${ID_PATTERN}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

/**
 * Yields non-empty lines. The parts of a line are joined once, when it is complete. After a line that is too long, the
 * next one is read normally.
 */
export async function* readLines(
  input: Readable,
  maxBytes: number,
  gate: LineLimiter,
): AsyncGenerator<WholeLine | DroppedLine> {
  // Decoded here: the socket of an HTTP server does not support an encoding.
  const decoder = new StringDecoder('utf8');
  let line = new Line(gate, maxBytes);
  for await (const bytes of input as AsyncIterable<Buffer>) {
    const [first = '', ...others] = decoder.write(bytes).split('\n');
    line.add(first);
    for (const next of others) {
      const whole = await line.end();
      if (whole !== undefined) yield whole;
      gate.releaseLine();
      const turn = yieldIfSliceUsed();
      if (turn !== undefined) await turn;
      line = new Line(gate, maxBytes);
      line.add(next);
    }
  }
}

class Line {
  readonly #limiter: LineLimiter;
  readonly #maxLength: number;
  #length = 0;
  #parts: string[] = [];
  /** Both ends of a discarded line. */
  #ends: { readonly head: string; tail: string } | undefined;

  constructor(limiter: LineLimiter, maxLength: number) {
    this.#limiter = limiter;
    this.#maxLength = maxLength;
  }

  add(part: string): void {
    this.#length += part.length;
    if (this.#ends !== undefined) {
      this.#ends.tail = (this.#ends.tail + part).slice(-KEPT_CHARACTERS);
      return;
    }
    this.#parts.push(part);
    if (!this.#isTooLong && this.#limiter.reserveLine(this.#length)) return;
    this.#drop(this.#parts.join(''));
  }

  /** Undefined if it is empty. */
  async end(): Promise<WholeLine | DroppedLine | undefined> {
    if (this.#ends === undefined) {
      const text = this.#parts.join('');
      if (text.trim() === '') return undefined;
      const weight = await this.#limiter.reserveParsedLine(text);
      if (weight !== undefined) return { text, weight };
      this.#drop(text);
    }
    const { head = '', tail = '' } = this.#ends ?? {};
    const id = LEADING_ID.exec(head)?.[1] ?? TRAILING_ID.exec(tail)?.[1] ?? 'null';
    return { id, isTooLong: this.#isTooLong };
  }

  get #isTooLong(): boolean {
    return this.#length > this.#maxLength;
  }

  #drop(text: string): void {
    this.#parts = [];
    this.#limiter.releaseLine();
    this.#ends = { head: text.slice(0, KEPT_CHARACTERS), tail: text.slice(-KEPT_CHARACTERS) };
  }
}
