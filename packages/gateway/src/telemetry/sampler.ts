/** Which traces are exported. The decision depends on the trace alone, so all spans of a trace agree. */

export type Sampler = (traceId: string, parent: { readonly isSampled: boolean } | undefined) => boolean;

/** Thirteen hexadecimal digits have 52 bits: all of them fit into a number. */
const RATIO_DIGITS = 13;

const byRatio =
  (ratio: number): Sampler =>
  (traceId) =>
    Number.parseInt(traceId.slice(-RATIO_DIGITS), 16) / 16 ** RATIO_DIGITS < ratio;

const byParent =
  (root: Sampler): Sampler =>
  (traceId, parent) =>
    parent === undefined ? root(traceId, parent) : parent.isSampled;

const always: Sampler = () => true;
const never: Sampler = () => false;

export const DEFAULT_SAMPLER: Sampler = byParent(always);

/** By the names of `OTEL_TRACES_SAMPLER`; the argument is the ratio. */
export const SAMPLERS: ReadonlyMap<string, (ratio: number) => Sampler> = new Map([
  ['always_on', () => always],
  ['always_off', () => never],
  ['traceidratio', byRatio],
  ['parentbased_always_on', () => DEFAULT_SAMPLER],
  ['parentbased_always_off', () => byParent(never)],
  ['parentbased_traceidratio', (ratio: number) => byParent(byRatio(ratio))],
]);
