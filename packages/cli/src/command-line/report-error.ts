/** An error on the terminal: what happened, what to do next, and the exit code of the table. */
import { TurnbuckleError } from 'turnbuckle';
import { ERRORS } from 'turnbuckle/host';
import type { Output } from '../terminal/output.js';
import { showLine, showMessage, showText } from '../terminal/untrusted-text.js';
import { type RunServerFlags, withRunFlagHints } from './run-flag-hints.js';

const UNEXPECTED_EXIT = 70;

export function reportError(
  raw: unknown,
  output: Output,
  { verbose, named }: { readonly verbose: boolean; readonly named?: RunServerFlags },
): number {
  const thrown = withRunFlagHints(isFileSystemError(raw) ? fromFileSystemError(raw) : raw, named);
  const known = thrown instanceof TurnbuckleError;
  const code = known ? thrown.code : 'INTERNAL';
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (output.json) output.data({ error: known ? thrown.toJSON() : { code, message } });
  const { color } = output;
  output.warn(
    `${color.red('error')} ${color.dim(code)} ${showMessage(message)}${known ? addressSuffix(thrown) : ''}`,
  );
  if (known && thrown.hint !== undefined) output.warn(`      ${showMessage(thrown.hint)}`);
  if (verbose) for (const line of stackLines(thrown)) output.warn(color.dim(showText(line)));
  return known ? ERRORS[code as keyof typeof ERRORS].exit : UNEXPECTED_EXIT;
}

/** Where it was tried, if the error knows: not part of the message, which agents get too. */
export const addressSuffix = ({ data }: Pick<TurnbuckleError, 'data'>): string =>
  typeof data?.address === 'string' ? ` (${showLine(data.address, 200)})` : '';

type FileSystemError = NodeJS.ErrnoException & { readonly code: string; readonly path: string };

/** A file system error is a problem with a path, not an internal error. */
const isFileSystemError = (thrown: unknown): thrown is FileSystemError =>
  thrown instanceof Error &&
  'syscall' in thrown &&
  !/^(?:bind|connect|listen|spawn)/.test(String(thrown.syscall)) &&
  'code' in thrown &&
  typeof thrown.code === 'string' &&
  'path' in thrown &&
  typeof thrown.path === 'string';

const fromFileSystemError = (cause: FileSystemError): TurnbuckleError =>
  new TurnbuckleError('CONFIG_INVALID', `Cannot access ${cause.path} (${cause.code}, ${cause.syscall}).`, {
    hint: 'Check that you can write to this path. To keep state in another directory, set TURNBUCKLE_STATE_DIR.',
    cause,
    data: { file: cause.path, reason: cause.code },
  });

const MAX_CAUSES = 5;

/** Where it came from, and what it was caused by; bounded, for causes may form a ring. */
function stackLines(thrown: unknown): string[] {
  const lines: string[] = [];
  let error = thrown;
  for (let count = 0; count < MAX_CAUSES && error instanceof Error; count += 1) {
    lines.push(`${count === 0 ? '' : 'caused by '}${error.stack ?? error.message}`);
    error = error.cause;
  }
  return lines;
}
