/** Errors of the vault: what is wrong, and what to do. */
import { errorCode, TurnbuckleError } from '../errors.js';
import { ForeignFileError } from '../files/private-file.js';

interface ErrorDetails {
  readonly hint: string;
  readonly cause?: unknown;
}

/** SECRETS_UNAVAILABLE; `data.file` is the affected file. Never contains a secret. */
export function secretsUnavailable(
  file: string,
  message: string,
  { hint, cause }: ErrorDetails,
): TurnbuckleError {
  return new TurnbuckleError('SECRETS_UNAVAILABLE', message, { hint, cause, data: { file } });
}

/** The vault's content is invalid. The file is left unchanged so that it can still be recovered. */
export function vaultDamaged(file: string, what: string, cause?: unknown): TurnbuckleError {
  return secretsUnavailable(file, `The vault ${file} is damaged: ${what}.`, {
    cause,
    hint: 'The file is unchanged. Restore it from a backup, or move it to another directory and set the secrets again.',
  });
}

/** Wraps a file system error about one of the vault's files; a TurnbuckleError is kept. */
export function vaultFileError(file: string, error: unknown): TurnbuckleError {
  if (error instanceof TurnbuckleError && error.code !== 'CONFIG_INVALID') return error;
  // Another user may know this key, or may have written this entry: do not use it.
  if (error instanceof ForeignFileError)
    return secretsUnavailable(file, error.message, {
      hint: 'Run the command as that user, or set TURNBUCKLE_STATE_DIR to another directory.',
    });
  const code = errorCode(error) ?? 'unknown error';
  const reason = error instanceof TurnbuckleError ? error.message : code;
  return secretsUnavailable(file, `Cannot use the file ${file} (${reason}).`, {
    cause: error,
    hint: 'Make the file and its directory readable and writable for your user.',
  });
}

/** Awaits work on one of the vault's files and wraps its errors. */
export async function withVaultErrors<Result>(file: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw vaultFileError(file, error);
  }
}
