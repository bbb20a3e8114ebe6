/**
 * Measures what a server sends besides the content of its responses: interim responses (1xx), chunk extensions,
 * trailers. All of it is parsed and none of it is delivered, so no other limit sees it.
 */
import type { FloodMeter } from '../../protocol/flood-meter.js';

/** The headers of a response: no more than the parser accepts. */
const BYTES_PER_RESPONSE = 16 * 1_024;
/** Content in chunks of one byte arrives with five bytes around each. */
const BYTES_PER_CONTENT_BYTE = 9;
/** What all sockets of an endpoint may have read before the first of it is delivered. */
const MAX_CREDIT_BYTES = 16 * 1_024 * 1_024;

export class WireMeter {
  readonly #flood: FloodMeter;
  #credit = MAX_CREDIT_BYTES;

  constructor(flood: FloodMeter) {
    this.#flood = flood;
  }

  /** A response started. */
  response(): void {
    this.#credit = Math.min(this.#credit + BYTES_PER_RESPONSE, MAX_CREDIT_BYTES);
  }

  /** Content was delivered. */
  payload(bytes: number): void {
    this.#credit = Math.min(this.#credit + bytes * BYTES_PER_CONTENT_BYTE, MAX_CREDIT_BYTES);
  }

  /** Bytes were read from a socket; returns for how many milliseconds to pause reading from it. */
  read(bytes: number): number {
    this.#credit -= bytes;
    if (this.#credit >= 0) return 0;
    const excess = -this.#credit;
    this.#credit = 0;
    return this.#flood.record(excess);
  }
}
