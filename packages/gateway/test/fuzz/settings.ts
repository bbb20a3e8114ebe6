/** How many messages are sent: less than a minute of them in the ordinary tests, a million in the long runs. */
export const CASES = Number(process.env.TURNBUCKLE_FUZZ_CASES ?? 20_000);
/** The number of messages before each response: fewer than what counts as a flood. */
export const BURST = CASES < 100_000 ? 25 : 500;
/** A request takes longer than a message in a burst. */
export const REQUESTS = Math.max(2_000, CASES / 100);
export const LINES = Math.max(5_000, CASES / 50);
/** The same seed produces the same messages. */
export const SEED = Number(process.env.TURNBUCKLE_FUZZ_SEED ?? 20_261_116);
/** For a client next to a dozen hostile processes; in the ordinary tests the machine also runs other tests. */
export const SLOWEST_MS = process.env.TURNBUCKLE_TIMING === 'strict' ? 2_000 : 10_000;
