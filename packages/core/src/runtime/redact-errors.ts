import { TurnbuckleError } from '../errors.js';
import type { Redactor } from '../redaction/redactor.js';

/** Waits for `work`. An error that it ends with is rethrown without secrets. */
export async function redactErrors<Result>(
  redactor: Redactor,
  work: Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof TurnbuckleError ? redactor.error(error) : error;
  }
}
