/** Why something is not installed: as data in a plan, as an error while installing. */
import { type ErrorCode, TurnbuckleError } from 'turnbuckle';

export interface InstallRefusal {
  readonly kind: 'refused';
  /** A sentence that says what is refused, and why. */
  readonly reason: string;
  /** A sentence that says what to do next. */
  readonly hint: string;
  /** The id of the advisory that is the reason. */
  readonly advisory?: string;
}

export const refuse = (reason: string, hint: string): InstallRefusal => ({ kind: 'refused', reason, hint });

export const isRefusal = (value: object): value is InstallRefusal =>
  'kind' in value && value.kind === 'refused';

const OTHER_VERSION_HINT = 'Choose another version or another server, and report this one to its registry.';

/** What was downloaded is not what was approved, or must not be installed. */
export const packageRefused = (message: string, hint = OTHER_VERSION_HINT): TurnbuckleError =>
  installError('FETCH_REFUSED', message, hint);

export const installError = (code: ErrorCode, message: string, hint: string): TurnbuckleError =>
  new TurnbuckleError(code, message, { hint });
