/**
 * The complete lines of an event stream, each ended by a line feed whatever it was sent with, so that readers need to
 * handle only that. Holds back an incomplete last line, and counts the size of the current event.
 */
import { GrowingBuffer } from '../../../fetching/growing-buffer.js';

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

export class EventLines {
  readonly #rest = new GrowingBuffer();
  #length = 0;
  #endsLine = false;
  #endsWithReturn = false;

  /** Bytes since the last blank line, which ends an event. */
  get length(): number {
    return this.#length;
  }

  /** The lines that are complete now, if any. */
  push(sent: Uint8Array): Uint8Array | undefined {
    const chunk = this.#normalizeLineEnds(sent);
    if (chunk.length === 0) return undefined;
    this.#count(chunk);
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) return void this.#rest.push(chunk);
    const before = this.#rest.length;
    if (before > 0) this.#rest.push(chunk.subarray(0, end));
    const lines = before > 0 ? this.#rest.take() : chunk.subarray(0, end);
    if (end < chunk.length) this.#rest.push(chunk.subarray(end));
    return lines;
  }

  /** The rest at the end of the stream. */
  take(): Buffer {
    return this.#rest.take();
  }

  /** One line feed per line end: a CRLF may be split across chunks, and the CR is an end already. */
  #normalizeLineEnds(sent: Uint8Array): Uint8Array {
    if (sent.length === 0) return sent;
    const chunk = this.#endsWithReturn && sent[0] === NEWLINE ? sent.subarray(1) : sent;
    this.#endsWithReturn = sent[sent.length - 1] === CARRIAGE_RETURN;
    const first = chunk.indexOf(CARRIAGE_RETURN);
    if (first === -1) return chunk;
    const unified = new Uint8Array(chunk.length);
    unified.set(chunk.subarray(0, first));
    let length = first;
    for (let index = first; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0;
      if (byte === NEWLINE && chunk[index - 1] === CARRIAGE_RETURN) continue;
      unified[length] = byte === CARRIAGE_RETURN ? NEWLINE : byte;
      length += 1;
    }
    return unified.subarray(0, length);
  }

  #count(chunk: Uint8Array): void {
    let since = this.#length + chunk.length;
    for (let index = chunk.length - 1; index >= 0; index -= 1) {
      if (chunk[index] !== NEWLINE || !(index === 0 ? this.#endsLine : chunk[index - 1] === NEWLINE))
        continue;
      since = chunk.length - index - 1;
      break;
    }
    this.#length = since;
    this.#endsLine = chunk[chunk.length - 1] === NEWLINE;
  }
}
