/** An error on the terminal: what happened, what to do next, and the exit code of the table. */
import { ERRORS, TurnbuckleError } from 'turnbuckle';
import { type NamedForRun, withNamed } from './named-for-run.js';
import type { Output } from './output.js';
import { showLine, showMessage, showText } from './untrusted-text.js';

const UNEXPECTED_EXIT = 70;

export function reportError(
  raw: unknown,
  output: Output,
  { verbose, named }: { readonly verbose: boolean; readonly named?: NamedForRun },
): number {
  const thrown = withNamed(isDiskFault(raw) ? fromDisk(raw) : raw, named);
  const known = thrown instanceof TurnbuckleError;
  const code = known ? thrown.code : 'INTERNAL';
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (output.json) output.data({ error: known ? thrown.toJSON() : { code, message } });
  const { color } = output;
  output.warn(
    `${color.red('error')} ${color.dim(code)} ${showMessage(message)}${known ? addressOf(thrown) : ''}`,
  );
  if (known && thrown.hint !== undefined) output.warn(`      ${showMessage(thrown.hint)}`);
  if (verbose) for (const line of trace(thrown)) output.warn(color.dim(showText(line)));
  return known ? ERRORS[code as keyof typeof ERRORS].exit : UNEXPECTED_EXIT;
}

/** Where it was tried, if the error knows: not part of the message, which agents get too. */
export const addressOf = ({ data }: Pick<TurnbuckleError, 'data'>): string =>
  typeof data?.address === 'string' ? ` (${showLine(data.address, 200)})` : '';

type DiskFault = NodeJS.ErrnoException & { readonly code: string; readonly path: string };

/** What the file system said about a path: no defect of ours, but a place that cannot be used. */
const isDiskFault = (thrown: unknown): thrown is DiskFault =>
  thrown instanceof Error &&
  'syscall' in thrown &&
  !/^(?:bind|connect|listen|spawn)/.test(String(thrown.syscall)) &&
  'code' in thrown &&
  typeof thrown.code === 'string' &&
  'path' in thrown &&
  typeof thrown.path === 'string';

const fromDisk = (cause: DiskFault): TurnbuckleError =>
  new TurnbuckleError('CONFIG_INVALID', `${cause.path} cannot be used (${cause.code}, ${cause.syscall}).`, {
    hint: 'It must be a place where you can write. TURNBUCKLE_STATE_DIR names another one for what is kept between runs.',
    cause,
    data: { file: cause.path, reason: cause.code },
  });

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
