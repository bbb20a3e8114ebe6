/** The file with all tokens' records: read again when another process changed it, changed by one at a time. */
import { join } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import * as z from 'zod/mini';
import { isDiskFault, isFull, reasonText } from '../instance/disk-fault.js';
import { readPrivateFile, replacePrivateFile, stampOfFile } from '../instance/private-file.js';
import { errorCode } from '../instance/process-identity.js';
import { withLock } from '../instance/process-lock.js';
import { TokenRecord } from './token-record.js';

const Content = z.strictObject({ version: z.literal(1), tokens: z.array(TokenRecord) });
/** A token that another process revoked is good for no longer than that; looking costs some ten microseconds. */
const CHECK_MS = 20;
const LOCK_TIMEOUT_MS = 10_000;

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

  /** SECRETS_UNAVAILABLE for a file that is damaged or somebody else's. */
  constructor({ stateDir, now, onWarning }: TokenFileOptions) {
    this.#path = join(stateDir, 'tokens.json');
    this.#now = now;
    this.#onWarning = onWarning;
    this.#load();
    this.#checkedAt = now();
  }

  /** By hash; at most a moment old, or of now. The map is another one after each change. */
  records(now = this.#now(), isFresh = false): ReadonlyMap<string, TokenRecord> {
    if (!isFresh && Math.abs(now - this.#checkedAt) < CHECK_MS) return this.#byHash;
    this.#checkedAt = now;
    try {
      if (stampOfFile(this.#path) !== this.#stamp) this.#load();
    } catch (error) {
      // Nobody can say which tokens are still good. It is read again when it changes again.
      this.#byHash = new Map();
      this.#onWarning(error instanceof Error ? error.message : String(error));
    }
    return this.#byHash;
  }

  /** `edit` gets the records of this moment and answers those that there should be; the same ones: nothing is written. */
  async change(edit: (records: readonly TokenRecord[]) => readonly TokenRecord[]): Promise<void> {
    const done = await withLock(`${this.#path}.lock`, LOCK_TIMEOUT_MS, () => {
      this.#load();
      const before = [...this.#byHash.values()];
      const after = edit(before);
      if (after === before) return;
      const text = `${JSON.stringify({ version: 1, tokens: after }, undefined, 2)}\n`;
      replacePrivateFile(this.#path, text, { durable: true });
      this.#load();
    }).catch((error: unknown) => {
      throw isDiskFault(error) ? cannotWrite(this.#path, error) : error;
    });
    if (done !== undefined) return;
    throw new TurnbuckleError(
      'OVERLOADED',
      `The file ${this.#path} is being written by others all the time.`,
      {
        hint: `Try again; the lock is ${this.#path}.lock.`,
      },
    );
  }

  #load(): void {
    try {
      const read = readPrivateFile(this.#path, () =>
        this.#onWarning(`Others could read or write ${this.#path}; now only you can.`),
      );
      this.#stamp = read?.stamp;
      const tokens = read === undefined ? [] : z.parse(Content, JSON.parse(read.text)).tokens;
      this.#byHash = new Map(tokens.map((record) => [record.hash, record]));
    } catch (cause) {
      throw new TurnbuckleError('SECRETS_UNAVAILABLE', `The tokens in ${this.#path} cannot be read.`, {
        hint: 'Nobody gets in until it is in order. Restore the file, or remove it and make new tokens.',
        cause,
      });
    }
  }
}

/** The names of all tokens; makes nothing. SECRETS_UNAVAILABLE for a file that cannot be read. */
export function readTokenNames(stateDir: string): string[] {
  const file = new TokenFile({ stateDir, now: Date.now, onWarning: () => {} });
  return [...file.records().values()].map(({ name }) => name);
}

/** What the file system refused while tokens were written, with the file and the reason. */
export function cannotWrite(path: string, cause: unknown): TurnbuckleError {
  const reason = errorCode(cause) ?? 'unknown error';
  return new TurnbuckleError(
    'SECRETS_UNAVAILABLE',
    `The tokens in ${path} cannot be written (${reasonText(reason)}). Nothing was changed.`,
    {
      hint: isFull(reason)
        ? 'Make room on the disk, then try again.'
        : 'Make the directory writable for you, then try again.',
      cause,
      data: { file: path, reason },
    },
  );
}
