/** The lines that come on a stream, each held while it comes: one that there is no room for is not kept. */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { LineGate } from '../http/line-gate.js';
import { nextTurn } from '../http/line-turns.js';

export interface WholeLine {
  readonly text: string;
  /** What it takes in memory when it is read. */
  readonly weight: number;
}

/** What is kept of a line that there was no room for, or that is too long for anybody. */
export interface Dropped {
  /** The JSON of the id of its request, where it can be told; else null. */
  readonly id: string;
  readonly isTooLong: boolean;
}

/** Of a line that is not kept, so much of either end is: the id is first or last in what clients write. */
const KEPT = 1_024;
const ID = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)`;
/** Next to the outermost brackets, so that it cannot be the id of something inside. */
const FIRST = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${ID}\s*,`);
const LAST = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

/**
 * Those that have something in them. What has come of one is joined once, when its end is there. The client is no worse off
 * for a line that is too long: the next one is read.
 */
export async function* linesOf(
  input: Readable,
  maxBytes: number,
  gate: LineGate,
): AsyncGenerator<WholeLine | Dropped> {
  // By hand: the socket of an HTTP server does not take an encoding.
  const decoder = new StringDecoder('utf8');
  let line = new Line(gate, maxBytes);
  for await (const bytes of input as AsyncIterable<Buffer>) {
    const [first = '', ...others] = decoder.write(bytes).split('\n');
    line.add(first);
    for (const next of others) {
      const whole = await line.end();
      if (whole !== undefined) yield whole;
      gate.clear();
      const turn = nextTurn();
      if (turn !== undefined) await turn;
      line = new Line(gate, maxBytes);
      line.add(next);
    }
  }
}

class Line {
  readonly #gate: LineGate;
  readonly #maxLength: number;
  #length = 0;
  #parts: string[] = [];
  /** Either end of a line that is not kept. */
  #ends: { readonly head: string; tail: string } | undefined;

  constructor(gate: LineGate, maxLength: number) {
    this.#gate = gate;
    this.#maxLength = maxLength;
  }

  add(part: string): void {
    this.#length += part.length;
    if (this.#ends !== undefined) {
      this.#ends.tail = (this.#ends.tail + part).slice(-KEPT);
      return;
    }
    this.#parts.push(part);
    if (!this.#isTooLong && this.#gate.grow(this.#length)) return;
    this.#drop(this.#parts.join(''));
  }

  /** Undefined when there is nothing in it. */
  async end(): Promise<WholeLine | Dropped | undefined> {
    if (this.#ends === undefined) {
      const text = this.#parts.join('');
      if (text.trim() === '') return undefined;
      const weight = await this.#gate.weigh(text);
      if (weight !== undefined) return { text, weight };
      this.#drop(text);
    }
    const { head = '', tail = '' } = this.#ends ?? {};
    const id = FIRST.exec(head)?.[1] ?? LAST.exec(tail)?.[1] ?? 'null';
    return { id, isTooLong: this.#isTooLong };
  }

  get #isTooLong(): boolean {
    return this.#length > this.#maxLength;
  }

  #drop(text: string): void {
    this.#parts = [];
    this.#gate.clear();
    this.#ends = { head: text.slice(0, KEPT), tail: text.slice(-KEPT) };
  }
}
