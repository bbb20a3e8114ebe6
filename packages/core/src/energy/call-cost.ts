/** What a call costs: energy is the effort of an agent, in units of which 100 is a full budget. Pure arithmetic. */

export interface CallCosts {
  /** For each call, whatever its duration. */
  readonly perCall: number;
  /** For each second that a call takes, without the time it waited for approval. */
  readonly perSecond: number;
}

export const DEFAULT_CALL_COSTS: CallCosts = { perCall: 0.1, perSecond: 2 };

const THOUSANDTHS = 1_000;

/** Energy is counted in whole thousandths of a unit: sums of integers are exact. */
export const toThousandths = (units: number): number => Math.round(units * THOUSANDTHS);

export const fromThousandths = (thousandths: number): number => thousandths / THOUSANDTHS;

/** The cost of a call that took this long, rounded to thousandths. */
export const costOfCall = (durationMs: number, { perCall, perSecond }: CallCosts): number =>
  fromThousandths(toThousandths(perCall + (Math.max(durationMs, 0) / 1_000) * perSecond));
