/** The last bytes of a text stream, bounded: a server's stderr, for errors and logs. */
export class TextRing {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    const kept = chunk.length > this.#maxBytes ? chunk.subarray(-this.#maxBytes) : chunk;
    this.#chunks.push(kept);
    this.#bytes += kept.length;
    while (this.#bytes > this.#maxBytes) {
      const [oldest] = this.#chunks;
      const excess = this.#bytes - this.#maxBytes;
      if (oldest !== undefined && oldest.length > excess) this.#chunks[0] = oldest.subarray(excess);
      else this.#chunks.shift();
      this.#bytes -= Math.min(oldest?.length ?? excess, excess);
    }
    // Many tiny writes must not become many tiny buffers.
    if (this.#chunks.length > 256) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  toString(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  /** The last lines, for an error message. */
  tail(maxCharacters = 600): string {
    const text = this.toString().trim();
    return text.length > maxCharacters ? `…${text.slice(-maxCharacters)}` : text;
  }
}
