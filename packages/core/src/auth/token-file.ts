/** A token in a file that another program keeps current: read again when the file changes. */
import { stat } from 'node:fs/promises';
import type { AuthConfig } from '../config/schema/auth-schema.js';
import { errorCode, TurnbuckleError } from '../errors.js';
import { readFileText, whyUnreadable, withTimeout } from '../files/read-file.js';
import { type Authorizer, type AuthRefusal, type Credentials, MAX_AUTH_RETRIES } from './authorizer.js';

type TokenFileConfig = Extract<AuthConfig, { tokenPath: string }>;

const MAX_TOKEN_FILE_BYTES = 64 * 1_024;
/** How long a check of the file is cached: calls in a burst share one. */
const CACHE_MS = 250;

export class TokenFile implements Authorizer {
  readonly #server: string;
  readonly #config: TokenFileConfig;
  readonly #now: () => number;
  #identity = '';
  #checkedAt = Number.NEGATIVE_INFINITY;
  #credentials: Credentials = {};
  #refusedCredentials: Credentials | undefined;

  /** `now` from a monotonic clock. */
  constructor(server: string, config: TokenFileConfig, now: () => number) {
    this.#server = server;
    this.#config = config;
    this.#now = now;
  }

  headers(): Credentials | Promise<Credentials> {
    return this.#now() - this.#checkedAt < CACHE_MS ? this.#credentials : this.#read();
  }

  /** The file may have been replaced after our check. */
  async handleRefusal({ credentials, retries }: AuthRefusal): Promise<boolean> {
    this.#refusedCredentials = credentials;
    return retries < MAX_AUTH_RETRIES && this.hasNewToken();
  }

  /** True if the file now has a token that was not rejected. */
  async hasNewToken(): Promise<boolean> {
    const refused = this.#refusedCredentials ?? {};
    const now = await this.#read();
    return Object.entries(now).some(([name, value]) => refused[name] !== value);
  }

  async #read(): Promise<Credentials> {
    const { tokenPath, headerName } = this.#config;
    try {
      const { ino, size, mtimeMs } = await withTimeout(tokenPath, () => stat(tokenPath));
      const identity = `${ino} ${size} ${mtimeMs}`;
      if (identity !== this.#identity) {
        const token = (await readFileText(tokenPath, { maxBytes: MAX_TOKEN_FILE_BYTES })).trim();
        if (token === '' || /[^\x20-\x7e]/.test(token)) throw new Error('it does not contain a valid token');
        const name = headerName.toLowerCase();
        const prefix = this.#config.prefix ?? (name === 'authorization' ? 'Bearer ' : '');
        this.#credentials = { [name]: `${prefix}${token}` };
        this.#identity = identity;
      }
    } catch (cause) {
      throw this.#unreadable(cause);
    }
    this.#checkedAt = this.#now();
    return this.#credentials;
  }

  #unreadable(cause: unknown): TurnbuckleError {
    const code = errorCode(cause);
    const why = code === undefined && cause instanceof Error ? cause.message : whyUnreadable(cause);
    return new TurnbuckleError(
      'AUTH_REQUIRED',
      `Cannot use the token file for server "${this.#server}": ${why}.`,
      {
        server: this.#server,
        cause,
        hint: `Check ${this.#config.tokenPath}.`,
        data: { sent: false, file: this.#config.tokenPath },
      },
    );
  }
}
