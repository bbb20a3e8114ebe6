/** How much is tried: a part of a minute in the ordinary tests, a million messages in the long runs. */
export const CASES = Number(process.env.TURNBUCKLE_FUZZ_CASES ?? 20_000);
/** So many messages come before each answer: fewer than what counts as a flood. */
export const BURST = CASES < 100_000 ? 25 : 500;
/** A request costs more than a message in a row of them. */
export const REQUESTS = Math.max(2_000, CASES / 100);
export const LINES = Math.max(5_000, CASES / 50);
/** Another seed, other messages; the same one, the same again. */
export const SEED = Number(process.env.TURNBUCKLE_FUZZ_SEED ?? 20_261_116);
/** Beside a dozen hostile processes; in the ordinary tests the machine is busy with others, too. */
export const SLOWEST_MS = process.env.TURNBUCKLE_TIMING === 'strict' ? 2_000 : 10_000;
