/** Properties are tried with the same values in every run beside other tests, and with others in each long run. */
import fc from 'fast-check';

const SEED = 20_261_116;
const seed = process.env.TURNBUCKLE_TIMING === 'strict' ? Date.now() % 2 ** 31 : SEED;
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
