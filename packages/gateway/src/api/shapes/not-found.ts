import { TurnbuckleError } from 'turnbuckle';

/** For an address that would be one if there were such a thing. */
export const notFound = (what: string, hint: string): TurnbuckleError =>
  new TurnbuckleError('PATH_UNKNOWN', what, { hint });
