import type { Rate } from './rate-limit.js';

/** How much the server takes on at once, and for how long it waits. */
export interface HttpLimits {
  /** Largest body in bytes, where a route does not say otherwise. */
  readonly maxBodyBytes: number;
  /** Of all together; see `shares.ts` for what of it one token can have, and what is kept for the owner. */
  readonly maxConnections: number;
  /** Requests that were let in and are not answered yet, streams included; shared in the same way. */
  readonly maxInFlight: number;
  /** Bytes of bodies of requests in memory; shared in the same way. */
  readonly maxHeldBytes: number;
  /** What one token may leave unread of answers, in bytes. */
  readonly maxUnsentBytes: number;
  /** How long nothing of an answer may be taken. */
  readonly slowReadMs: number;
  /** For each caller. */
  readonly requests: Rate;
  /** From the first byte, or from the connection, to the end of the headers. */
  readonly headersTimeoutMs: number;
  /** To the end of the body. */
  readonly requestTimeoutMs: number;
  /** How long a connection without a request stays. */
  readonly keepAliveMs: number;
}

export const MAX_HEADER_BYTES = 16 * 1_024;

export const DEFAULT_LIMITS: HttpLimits = {
  maxBodyBytes: 4 * 1_024 * 1_024,
  maxConnections: 1_024,
  maxInFlight: 1_024,
  maxHeldBytes: 256 * 1_024 * 1_024,
  maxUnsentBytes: 64 * 1_024 * 1_024,
  slowReadMs: 60_000,
  requests: { perSecond: 10_000, burst: 10_000 },
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 30_000,
};
