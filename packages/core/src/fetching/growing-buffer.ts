/**
 * Collects bytes that arrive in chunks into one buffer: a body in chunks of one byte would cost a hundred times its
 * size as a list. A single chunk is kept without a copy.
 */
const INITIAL_CAPACITY_BYTES = 16 * 1_024;

export class GrowingBuffer {
  #buffer: Uint8Array | undefined;
  #bytes = 0;
  #isOwned = false;

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

  /** Returns what was pushed since the last call, and forgets it. */
  take(): Buffer {
    const buffer = this.#buffer;
    const bytes = this.#bytes;
    this.#buffer = undefined;
    this.#bytes = 0;
    this.#isOwned = false;
    return buffer === undefined ? Buffer.alloc(0) : Buffer.from(buffer.buffer, buffer.byteOffset, bytes);
  }

  /** Ensures room for this many bytes, in a buffer that is not shared. */
  #reserve(bytes: number): void {
    const held = this.#buffer;
    if (held === undefined || (this.#isOwned && bytes <= held.length)) return;
    const roomier = Buffer.allocUnsafeSlow(Math.max(INITIAL_CAPACITY_BYTES, 2 * bytes));
    roomier.set(held.subarray(0, this.#bytes));
    this.#buffer = roomier;
    this.#isOwned = true;
  }
}
