/** Random ids of traces and spans. */
import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4_096;

/** From one pool: asking the system for each id costs more than the rest of a span. */
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

function randomHex(bytes: number): string {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}

export const newTraceId = (): string => randomHex(16);
export const newSpanId = (): string => randomHex(8);
