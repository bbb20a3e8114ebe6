/** An error on the terminal: what happened, what to do next, and the exit code of the table. */
import { ERRORS, TurnbuckleError } from 'turnbuckle';
import type { Output } from './output.js';
import { showLine, showText } from './untrusted-text.js';

const UNEXPECTED_EXIT = 70;

export function reportError(
  thrown: unknown,
  output: Output,
  { verbose }: { readonly verbose: boolean },
): number {
  const known = thrown instanceof TurnbuckleError;
  const code = known ? thrown.code : 'INTERNAL';
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (output.json) output.data({ error: known ? thrown.toJSON() : { code, message } });
  const { color } = output;
  output.warn(
    `${color.red('error')} ${color.dim(code)} ${showText(message)}${known ? addressOf(thrown) : ''}`,
  );
  if (known && thrown.hint !== undefined) output.warn(`      ${showText(thrown.hint)}`);
  if (verbose) for (const line of trace(thrown)) output.warn(color.dim(showText(line)));
  return known ? ERRORS[code as keyof typeof ERRORS].exit : UNEXPECTED_EXIT;
}

/** Where it was tried, if the error knows: not part of the message, which agents get too. */
export const addressOf = ({ data }: Pick<TurnbuckleError, 'data'>): string =>
  typeof data?.address === 'string' ? ` (${showLine(data.address, 200)})` : '';

const MOST_CAUSES = 5;

/** Where it came from, and what it was caused by; bounded, for causes may form a ring. */
function trace(thrown: unknown): string[] {
  const lines: string[] = [];
  let error = thrown;
  for (let count = 0; count < MOST_CAUSES && error instanceof Error; count += 1) {
    lines.push(`${count === 0 ? '' : 'caused by '}${error.stack ?? error.message}`);
    error = error.cause;
  }
  return lines;
}
