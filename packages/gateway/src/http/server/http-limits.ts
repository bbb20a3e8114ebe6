import { getHeapStatistics } from 'node:v8';
import type { Rate } from './rate-limit.js';

/** How much the server takes on at once, and for how long it waits. */
export interface HttpLimits {
  /** Largest body in bytes, where a route does not say otherwise. */
  readonly maxBodyBytes: number;
  /** Of all together; see `shares.ts` for what of it one token can have, and what is kept for the owner. */
  readonly maxConnections: number;
  /** Requests that were let in and are not answered yet, streams included; shared in the same way. */
  readonly maxInFlight: number;
  /** What bodies of requests take in memory, as `weighJson` tells it; shared in the same way. */
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

const MIB = 1_024 * 1_024;

/**
 * What is held has to fit into the heap beside everything else: its text is there twice, and the dearest values take
 * nearly three times what they are taken for. One request of the largest size always finds room when there is no other.
 */
const heldBytesIn = (heapBytes: number): number => Math.max(64 * MIB, Math.min(heapBytes / 8, 256 * MIB));

export const DEFAULT_LIMITS: HttpLimits = {
  maxBodyBytes: 4 * MIB,
  maxConnections: 1_024,
  maxInFlight: 1_024,
  maxHeldBytes: heldBytesIn(getHeapStatistics().heap_size_limit),
  maxUnsentBytes: 64 * MIB,
  slowReadMs: 60_000,
  requests: { perSecond: 10_000, burst: 10_000 },
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 30_000,
};
