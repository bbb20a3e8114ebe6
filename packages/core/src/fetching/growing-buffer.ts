/**
 * Bytes that arrive in pieces, held as one: a body in pieces of one byte would cost a hundred times its
 * size as a list of them. A single piece is kept as it is, without a copy.
 */
const FIRST_BYTES = 16 * 1_024;

export class GrowingBuffer {
  #buffer: Uint8Array | undefined;
  #bytes = 0;
  #isOurs = false;

  get length(): number {
    return this.#bytes;
  }

  push(part: Uint8Array): undefined {
    if (this.#buffer === undefined) {
      this.#buffer = part;
    } else {
      this.#reserve(this.#bytes + part.length);
      this.#buffer.set(part, this.#bytes);
    }
    this.#bytes += part.length;
  }

  /** What was pushed since the last time, and forgets it. */
  take(): Buffer {
    const buffer = this.#buffer;
    const bytes = this.#bytes;
    this.#buffer = undefined;
    this.#bytes = 0;
    this.#isOurs = false;
    return buffer === undefined ? Buffer.alloc(0) : Buffer.from(buffer.buffer, buffer.byteOffset, bytes);
  }

  /** Room for so many bytes, in a buffer that nobody else writes to. */
  #reserve(bytes: number): void {
    const held = this.#buffer;
    if (held === undefined || (this.#isOurs && bytes <= held.length)) return;
    const roomier = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * bytes));
    roomier.set(held.subarray(0, this.#bytes));
    this.#buffer = roomier;
    this.#isOurs = true;
  }
}
