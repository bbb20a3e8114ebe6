/**
 * A bound in time: as it is in the long runs, which have the machine for themselves, and eight times as much beside
 * other tests. What grows with the square of its input is beyond both.
 */
export const timeBound = (ms: number): number => (isLongRun() ? ms : 8 * ms);

/** Of cases that are much alike all in the long runs, and each n-th beside other tests. */
export const sampled = <Item>(items: readonly Item[], every: number): readonly Item[] =>
  isLongRun() ? items : items.filter((_, at) => at % every === 0);

/** How often something is done that tells more the more often it is done. */
export const rounds = (inLongRuns: number, besideOthers: number): number =>
  isLongRun() ? inLongRuns : besideOthers;

const isLongRun = (): boolean => process.env.TURNBUCKLE_TIMING === 'strict';
