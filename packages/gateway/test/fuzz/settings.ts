/** How much is tried: a part of a minute in the ordinary tests, a million messages in the long runs. */
export const CASES = Number(process.env.TURNBUCKLE_FUZZ_CASES ?? 20_000);
/** A request costs more than a message in a row of them. */
export const REQUESTS = Math.max(2_000, CASES / 25);
export const LINES = Math.max(5_000, CASES / 10);
/** Another seed, other messages; the same one, the same again. */
export const SEED = Number(process.env.TURNBUCKLE_FUZZ_SEED ?? 20_261_116);
/** In the ordinary tests the machine may be busy with others. */
export const SLOWEST_MS = process.env.TURNBUCKLE_TIMING === 'strict' ? 250 : 10_000;
