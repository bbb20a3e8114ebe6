/**
 * A bound in time: as it is in the long runs, which have the machine for themselves, and eight times as much beside
 * other tests. What grows with the square of its input is beyond both.
 */
export const timeBound = (ms: number): number => (process.env.TURNBUCKLE_TIMING === 'strict' ? ms : 8 * ms);
