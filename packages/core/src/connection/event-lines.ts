/**
 * Holds back the end of an event stream that is no whole line yet, joined: the parser would keep each piece
 * of it by itself. Counts what the event that is being sent has brought so far.
 */
import { GrowingBuffer } from '../fetching/growing-buffer.js';

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

export class EventLines {
  readonly #rest = new GrowingBuffer();
  #length = 0;
  #last = 0;
  #beforeLast = 0;

  /** Bytes since the last blank line, which is the end of an event. */
  get length(): number {
    return this.#length;
  }

  /** The lines that are whole now, if there are any. */
  push(chunk: Uint8Array): Uint8Array | undefined {
    if (chunk.length === 0) return undefined;
    this.#count(chunk);
    const end = Math.max(chunk.lastIndexOf(NEWLINE), chunk.lastIndexOf(CARRIAGE_RETURN)) + 1;
    if (end === 0) return void this.#rest.push(chunk);
    const before = this.#rest.length;
    if (before > 0) this.#rest.push(chunk.subarray(0, end));
    const lines = before > 0 ? this.#rest.take() : chunk.subarray(0, end);
    if (end < chunk.length) this.#rest.push(chunk.subarray(end));
    return lines;
  }

  /** What is left at the end of the stream. */
  take(): Buffer {
    return this.#rest.take();
  }

  #count(chunk: Uint8Array): void {
    const at = (index: number): number | undefined =>
      index >= 0 ? chunk[index] : index === -1 ? this.#last : this.#beforeLast;
    let since = this.#length + chunk.length;
    for (let index = chunk.length - 1; index >= 0; index -= 1) {
      if (!isLineEnd(chunk[index]) || !endsBlankLine(index, at)) continue;
      since = chunk.length - index - 1;
      break;
    }
    this.#length = since;
    const last = at(chunk.length - 1);
    this.#beforeLast = at(chunk.length - 2) ?? 0;
    this.#last = last ?? 0;
  }
}

const isLineEnd = (byte: number | undefined): boolean => byte === NEWLINE || byte === CARRIAGE_RETURN;

/** The line that ends here has nothing in it: another one ended right before it. */
function endsBlankLine(index: number, at: (index: number) => number | undefined): boolean {
  const isPair = at(index) === NEWLINE && at(index - 1) === CARRIAGE_RETURN;
  return isLineEnd(at(isPair ? index - 2 : index - 1));
}
