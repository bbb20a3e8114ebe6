/**
 * A time limit: as given in soak runs, which have the machine for themselves, and eight times as much in normal runs.
 * Quadratic growth exceeds both.
 */
export const timeBound = (ms: number): number => (isSoakRun() ? ms : 8 * ms);

/** All cases in soak runs, and each n-th one in normal runs; for cases that are much alike. */
export const sampled = <Item>(items: readonly Item[], every: number): readonly Item[] =>
  isSoakRun() ? items : items.filter((_, at) => at % every === 0);

/** How often to repeat something, in soak runs and in normal runs. */
export const rounds = (inSoakRuns: number, inNormalRuns: number): number =>
  isSoakRun() ? inSoakRuns : inNormalRuns;

const isSoakRun = (): boolean => process.env.TURNBUCKLE_TIMING === 'strict';
