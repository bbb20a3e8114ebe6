/** The file with the records of all tokens: read again when another process changed it, written under a lock. */
import { join } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import { fileStampSync, readPrivateFileSync, replacePrivateFile, withFileLock } from 'turnbuckle/host';
import { errorCode } from 'turnbuckle/light';
import * as z from 'zod/mini';
import { isDiskFull, isFileSystemError, reasonText } from '../instance/file-system-error.js';
import { TokenRecord } from './token-record.js';

const Content = z.strictObject({ version: z.literal(1), tokens: z.array(TokenRecord) });
/** How long a token that another process revoked may still be valid; a check takes about ten microseconds. */
const CHECK_MS = 20;
/** The stamp of no file. */
const UNREADABLE = 'unreadable';

export interface TokenFileOptions {
  readonly stateDir: string;
  readonly now: () => number;
  readonly onWarning: (message: string) => void;
}

export class TokenFile {
  readonly #path: string;
  readonly #now: () => number;
  readonly #onWarning: (message: string) => void;
  #byHash: ReadonlyMap<string, TokenRecord> = new Map();
  #stamp: string | undefined;
  #checkedAt: number;
  #warned: string | undefined;

  /** SECRETS_UNAVAILABLE for a file that is damaged or belongs to another user. */
  constructor({ stateDir, now, onWarning }: TokenFileOptions) {
    this.#path = join(stateDir, 'tokens.json');
    this.#now = now;
    this.#onWarning = onWarning;
    this.#load();
    this.#checkedAt = now();
  }

  /** By hash; current, or a moment old. The map is a new object after each change. */
  records(now = this.#now(), isFresh = false): ReadonlyMap<string, TokenRecord> {
    if (!isFresh && Math.abs(now - this.#checkedAt) < CHECK_MS) return this.#byHash;
    this.#checkedAt = now;
    const before = this.#stamp;
    try {
      if (fileStampSync(this.#path) !== before) this.#load();
      this.#warned = undefined;
    } catch (error) {
      // It is unknown which tokens are still valid.
      this.#byHash = new Map();
      // Its content was not read: try again, even if it is the same file. A damaged file is read again when it changes.
      if (this.#stamp === before) this.#stamp = UNREADABLE;
      this.#warnOnce(error instanceof Error ? error.message : String(error));
    }
    return this.#byHash;
  }

  #warnOnce(message: string): void {
    if (message === this.#warned) return;
    this.#warned = message;
    this.#onWarning(message);
  }

  /** `edit` gets the current records and returns the new ones; if it returns the same, nothing is written. */
  async change(edit: (records: readonly TokenRecord[]) => readonly TokenRecord[]): Promise<void> {
    await withFileLock(this.#path, () => {
      this.#load();
      const before = [...this.#byHash.values()];
      const after = edit(before);
      if (after === before) return;
      const text = `${JSON.stringify({ version: 1, tokens: after }, undefined, 2)}\n`;
      replacePrivateFile(this.#path, text, { durable: true });
      this.#load();
    }).catch((error: unknown) => {
      const cause = error instanceof TurnbuckleError && error.code === 'CONFIG_INVALID' ? error.cause : error;
      throw isFileSystemError(cause) ? tokensNotWritable(this.#path, cause) : error;
    });
  }

  #load(): void {
    try {
      const read = readPrivateFileSync(this.#path, () =>
        this.#onWarning(
          `${this.#path} was accessible to other users. Its permissions are now restricted to you.`,
        ),
      );
      this.#stamp = read?.stamp;
      const tokens = read === undefined ? [] : z.parse(Content, JSON.parse(read.text)).tokens;
      this.#byHash = new Map(tokens.map((record) => [record.hash, record]));
    } catch (cause) {
      throw new TurnbuckleError('SECRETS_UNAVAILABLE', `Cannot read the token file ${this.#path}.`, {
        hint: 'All tokens are rejected until the file can be read. Restore the file, or delete it and create new tokens.',
        cause,
      });
    }
  }
}

/** The names of all tokens; creates nothing. SECRETS_UNAVAILABLE if the file cannot be read. */
export function readTokenNames(stateDir: string): string[] {
  const file = new TokenFile({ stateDir, now: Date.now, onWarning: () => {} });
  return [...file.records().values()].map(({ name }) => name);
}

/** A file system error while tokens were written, with the file and the reason. */
export function tokensNotWritable(path: string, cause: unknown): TurnbuckleError {
  const reason = errorCode(cause) ?? 'unknown error';
  return new TurnbuckleError(
    'SECRETS_UNAVAILABLE',
    `Cannot write the token file ${path}: ${reasonText(reason)}. Nothing was changed.`,
    {
      hint: isDiskFull(reason)
        ? 'Free disk space, then try again.'
        : 'Make the directory writable, then try again.',
      cause,
      data: { file: path, reason },
    },
  );
}
