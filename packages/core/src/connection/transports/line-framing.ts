/**
 * Splits a byte stream into lines, however it is chunked. A line over the limit is not kept: its first and last bytes
 * are reported, so that its request can still be identified.
 */
import { GrowingBuffer } from '../../fetching/growing-buffer.js';

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const EDGE_BYTES = 1_024;

export interface LineSink {
  onLine(line: string): void;
  /** A line longer than the limit ended; `edges` is its beginning and its end as text. */
  onOversized(edges: string, bytes: number): void;
}

export class LineFraming {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  readonly #line = new GrowingBuffer();
  #bytes = 0;
  #head: Buffer | undefined;
  #tail: Buffer = Buffer.alloc(0);

  constructor(sink: LineSink, maxBytes: number) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
  }

  /** The current line already exceeds the limit. */
  get isTooLong(): boolean {
    return this.#head !== undefined;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      // Usually a line arrives in one piece: it is decoded in place.
      if (this.#bytes === 0 && end - start <= this.#maxBytes) this.#decode(chunk, start, end);
      else {
        this.#keep(chunk.subarray(start, end));
        this.#finish();
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#head === undefined && this.#bytes <= this.#maxBytes) return this.#line.push(part);
    if (this.#head === undefined) {
      const before = this.#line.take();
      this.#head = Buffer.concat([before.subarray(0, EDGE_BYTES), part.subarray(0, EDGE_BYTES)]).subarray(
        0,
        EDGE_BYTES,
      );
      this.#tail = before.subarray(-EDGE_BYTES);
    }
    this.#tail = Buffer.concat([this.#tail, part.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES);
  }

  #finish(): void {
    const head = this.#head;
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#head = undefined;
    if (head !== undefined) {
      this.#sink.onOversized(`${head.toString('utf8')}\n${this.#tail.toString('utf8')}`, bytes);
      return;
    }
    if (bytes === 0) return;
    const line = this.#line.take();
    this.#decode(line, 0, line.length);
  }

  #decode(bytes: Buffer, start: number, end: number): void {
    const last = end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
    if (last > start) this.#sink.onLine(bytes.toString('utf8', start, last));
  }
}
