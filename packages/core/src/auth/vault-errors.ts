/** What can be wrong with the vault, in one form: what it is, and what to do. */
import { TurnbuckleError } from '../errors.js';

interface Trouble {
  readonly hint: string;
  readonly cause?: unknown;
}

/** SECRETS_UNAVAILABLE; `data.file` is the file that it is about. Never holds a secret. */
export function secretsUnavailable(file: string, message: string, { hint, cause }: Trouble): TurnbuckleError {
  return new TurnbuckleError('SECRETS_UNAVAILABLE', message, { hint, cause, data: { file } });
}

/** The vault's content is not what was written: it is left as it is, for whoever may still save it. */
export function damaged(file: string, what: string, cause?: unknown): TurnbuckleError {
  return secretsUnavailable(file, `The vault ${file} is damaged: ${what}.`, {
    cause,
    hint: 'It is left as it is. Bring it back from a backup, or move it away and set the secrets again.',
  });
}

/** A failure of the file system about one of the vault's files; what is a failure of ours already stays. */
export function unusable(file: string, error: unknown): TurnbuckleError {
  if (error instanceof TurnbuckleError && error.code !== 'CONFIG_INVALID') return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const reason = error instanceof TurnbuckleError ? error.message : code;
  return secretsUnavailable(file, `The file ${file} cannot be used (${reason}).`, {
    cause: error,
    hint: 'It and its directory must be readable and writable for you.',
  });
}
