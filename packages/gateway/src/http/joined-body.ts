/**
 * A body that arrives in pieces, held as one: in pieces of one byte it would cost a hundred times its size
 * as a list of them. A single piece is kept as it is.
 */
const FIRST_BYTES = 16 * 1_024;

export class JoinedBody {
  #buffer: Buffer | undefined;
  #isOurs = false;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get whole(): Buffer {
    return this.#buffer?.subarray(0, this.#bytes) ?? Buffer.alloc(0);
  }

  push(part: Buffer): void {
    const bytes = this.#bytes + part.length;
    if (this.#buffer === undefined) this.#buffer = part;
    else {
      if (!this.#isOurs || bytes > this.#buffer.length) {
        const roomier = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * bytes));
        roomier.set(this.whole);
        this.#buffer = roomier;
        this.#isOurs = true;
      }
      this.#buffer.set(part, this.#bytes);
    }
    this.#bytes = bytes;
  }
}
