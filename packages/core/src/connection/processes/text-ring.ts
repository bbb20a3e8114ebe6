/** The last bytes of a text stream, bounded: a server's stderr, for errors and logs. */
export class TextRing {
  readonly #maxBytes: number;
  #ring = Buffer.alloc(0);
  /** Where the next byte goes, and how many bytes are kept. */
  #end = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    const kept = chunk.length > this.#maxBytes ? chunk.subarray(-this.#maxBytes) : chunk;
    this.#reserve(this.#bytes + kept.length);
    const capacity = this.#ring.length;
    const untilWrap = capacity - this.#end;
    kept.copy(this.#ring, this.#end);
    if (kept.length > untilWrap) kept.copy(this.#ring, 0, untilWrap);
    this.#end = capacity === 0 ? 0 : (this.#end + kept.length) % capacity;
    this.#bytes = Math.min(this.#bytes + kept.length, capacity);
  }

  toString(): string {
    return this.#toBuffer().toString('utf8');
  }

  /** The last lines, for an error message. */
  tail(maxCharacters = 600): string {
    const text = this.toString().trim();
    return text.length > maxCharacters ? `…${text.slice(-maxCharacters)}` : text;
  }

  #toBuffer(): Buffer {
    const start = this.#end - this.#bytes;
    if (start >= 0) return this.#ring.subarray(start, this.#end);
    return Buffer.concat([this.#ring.subarray(start), this.#ring.subarray(0, this.#end)]);
  }

  /** Most servers write little to stderr: the ring grows to its limit only when it is needed. */
  #reserve(bytes: number): void {
    const capacity = this.#ring.length;
    if (bytes <= capacity || capacity === this.#maxBytes) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#maxBytes, Math.max(2 * capacity, bytes)));
    this.#toBuffer().copy(larger);
    this.#ring = larger;
    this.#end = this.#bytes % larger.length;
  }
}
