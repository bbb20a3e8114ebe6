/** The value that this share of the values does not exceed; NaN without values. */
export const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((left, right) => left - right)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
