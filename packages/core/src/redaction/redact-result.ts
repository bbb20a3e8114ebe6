/** Removes secrets from the response of a server before the caller gets it. */
import type { Redactor } from './redactor.js';

/**
 * A copy without secrets; the same result if there are none. A request for input passes unchanged. A promise if it
 * takes long.
 */
export function redactResult<Result extends object>(
  result: Result,
  { large }: Pick<Redactor, 'large'>,
): Promise<Result> | Result {
  // Its state has to come back unchanged.
  if ('resultType' in result && result.resultType === 'input_required') return result;
  // A copy has the members of the original.
  return large.value(result) as Promise<Result> | Result;
}
