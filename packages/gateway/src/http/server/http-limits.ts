import { getHeapStatistics } from 'node:v8';
import type { Rate } from '../limits/rate-limit.js';

/** The limits and timeouts of the server. */
export interface HttpLimits {
  /** The largest body in bytes, if a route does not set its own. */
  readonly maxBodyBytes: number;
  /** Of all identities together; `fair-share.ts` says how much one token may hold, and what is reserved for the owner. */
  readonly maxConnections: number;
  /** Authenticated requests without a complete response, including streams; shared in the same way. */
  readonly maxInFlight: number;
  /** Memory for request bodies, as estimated by `estimateJsonMemory`; shared in the same way. */
  readonly maxHeldBytes: number;
  /** Bytes of responses that one token may leave unread. */
  readonly maxUnsentBytes: number;
  /** How long a client may read nothing of a response. */
  readonly slowReadMs: number;
  /** For each caller. */
  readonly requests: Rate;
  /** From the first byte, or from the connection, to the end of the headers. */
  readonly headersTimeoutMs: number;
  /** To the end of the body. */
  readonly requestTimeoutMs: number;
  /** How long a connection may be idle. */
  readonly keepAliveMs: number;
}

export const MAX_HEADER_BYTES = 16 * 1_024;

const MIB = 1_024 * 1_024;

/**
 * Held bodies have to fit into the heap next to everything else: their text exists twice, and the most expensive values
 * take nearly three times the estimate. A single request of the largest size always finds room.
 */
const maxHeldBytesFor = (heapBytes: number): number => Math.max(64 * MIB, Math.min(heapBytes / 8, 256 * MIB));

export const DEFAULT_LIMITS: HttpLimits = {
  maxBodyBytes: 4 * MIB,
  maxConnections: 1_024,
  maxInFlight: 1_024,
  maxHeldBytes: maxHeldBytesFor(getHeapStatistics().heap_size_limit),
  maxUnsentBytes: 64 * MIB,
  slowReadMs: 60_000,
  requests: { perSecond: 10_000, burst: 10_000 },
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 30_000,
};
