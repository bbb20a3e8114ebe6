/** How long the parts of a test may take. */

export interface TestLimits {
  /** From the start of the process to its first list of tools, with a second attempt. */
  readonly connectMs: number;
  /** Each list. */
  readonly listMs: number;
  /** Each sample call. */
  readonly callMs: number;
  /** The whole test. */
  readonly totalMs: number;
}

export const TEST_LIMITS: TestLimits = {
  connectMs: 30_000,
  listMs: 15_000,
  callMs: 10_000,
  totalMs: 120_000,
};
