/** Errors with the name of a configuration file, and the position in it if there is one. */
import { TurnbuckleError } from '../../errors.js';
import type { DocumentFault } from './document.js';

/** An error about a file as a whole. */
export function fileError(
  file: string,
  reason: string,
  { hint = 'Other files are not affected.', cause }: { hint?: string; cause?: unknown } = {},
): TurnbuckleError {
  return new TurnbuckleError('CONFIG_INVALID', `Cannot use configuration file ${file}: ${reason}.`, {
    cause,
    hint,
    data: { file, line: 1, column: 1 },
  });
}

/** An error with a position in a file. */
export function faultError(
  file: string,
  { line, column, path, text }: DocumentFault,
  { server, hint, ...more }: { server?: string; hint?: string | undefined; problems?: unknown } = {},
): TurnbuckleError {
  const at = `${file}:${line}:${column}`;
  return new TurnbuckleError('CONFIG_INVALID', `${at}: ${path === '' ? '' : `${path}: `}${text}.`, {
    server,
    hint: hint ?? 'Correct the file at this position. The rest of the configuration is not affected.',
    data: { file, line, column, path, ...more },
  });
}

/** The same error with another hint. */
export const withHint = (
  { code, message, server, cause, data }: TurnbuckleError,
  hint: string,
): TurnbuckleError => new TurnbuckleError(code, message, { hint, server, cause, data });
