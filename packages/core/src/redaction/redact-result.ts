/** Takes secrets out of what a server answered, before whoever asked gets it. */
import type { Redactor } from './redact.js';

/**
 * A copy without secrets; the same result when there is none in it. A question back passes as it is. A promise where it
 * takes long.
 */
export function redactResult<Result extends object>(
  result: Result,
  { large }: Pick<Redactor, 'large'>,
): Promise<Result> | Result {
  // Its state has to come back letter by letter.
  if ('resultType' in result && result.resultType === 'input_required') return result;
  // A copy has the members of what it is a copy of.
  return large.value(result) as Promise<Result> | Result;
}
