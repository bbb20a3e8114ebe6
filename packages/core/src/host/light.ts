/** For programs that must start fast: what needs none of the runtime. No promise is made of these names. */
export { fromThousandths, toThousandths } from '../energy/call-cost.js';
export {
  DEFAULT_REGULATOR,
  type EnergyRange,
  EnergyRegulator,
  type EnergyState,
  type RegulatorSettings,
  rangeOf,
} from '../energy/regulator.js';
export { errorCode } from '../errors.js';
export { makeDirectory } from '../files/make-directory.js';
export {
  ageOf,
  isProcessAlive,
  isProcessGone,
  isSameProcess,
  ownIdentity,
  type ProcessIdentity,
} from '../files/process-identity.js';
export { defaultStateDirectory } from '../files/state-directory.js';
export { isRecord } from '../json/is-record.js';
export { shellQuote } from '../text/shell-quote.js';
