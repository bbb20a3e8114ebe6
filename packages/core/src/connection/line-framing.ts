/**
 * Cuts a byte stream into lines, however it arrives in chunks. A line over the limit is not kept: its
 * first and last bytes are reported, so that the answer it was can still be told apart from others.
 */

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
  #parts: Buffer[] = [];
  #bytes = 0;
  #head: Buffer | undefined;
  #tail: Buffer = Buffer.alloc(0);

  constructor(sink: LineSink, maxBytes: number) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#head === undefined && this.#bytes > this.#maxBytes) {
      this.#head = edge([...this.#parts, part], 'head');
      this.#tail = edge(this.#parts, 'tail');
      this.#parts = [];
    }
    if (this.#head === undefined) this.#parts.push(part);
    else this.#tail = Buffer.concat([this.#tail, part.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES);
  }

  #finish(): void {
    const head = this.#head;
    const bytes = this.#bytes;
    const parts = this.#parts;
    this.#bytes = 0;
    this.#parts = [];
    this.#head = undefined;
    if (head !== undefined) {
      this.#sink.onOversized(`${head.toString('utf8')}\n${this.#tail.toString('utf8')}`, bytes);
      return;
    }
    const first = parts[0];
    if (first === undefined) return;
    const line = parts.length === 1 ? first : Buffer.concat(parts);
    const end = line[line.length - 1] === CARRIAGE_RETURN ? line.length - 1 : line.length;
    if (end > 0) this.#sink.onLine(line.toString('utf8', 0, end));
  }
}

/** The first or last bytes of a row of buffers, without joining all of it. */
function edge(parts: readonly Buffer[], side: 'head' | 'tail'): Buffer {
  const taken: Buffer[] = [];
  let bytes = 0;
  for (let index = 0; index < parts.length && bytes < EDGE_BYTES; index += 1) {
    const part = (side === 'head' ? parts[index] : parts[parts.length - 1 - index]) ?? Buffer.alloc(0);
    if (side === 'head') taken.push(part.subarray(0, EDGE_BYTES));
    else taken.unshift(part.subarray(-EDGE_BYTES));
    bytes += part.length;
  }
  const joined = Buffer.concat(taken);
  return side === 'head' ? joined.subarray(0, EDGE_BYTES) : joined.subarray(-EDGE_BYTES);
}
