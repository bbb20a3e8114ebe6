/** Property tests use the same seed in every normal run, and a new one in each soak run. */
import fc from 'fast-check';

const SEED = 20_261_116;
const seed = process.env.TURNBUCKLE_TIMING === 'strict' ? Date.now() % 2 ** 31 : SEED;
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
