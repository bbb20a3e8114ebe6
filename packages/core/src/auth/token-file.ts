/** A token in a file that somebody else keeps fresh: read again whenever the file has changed. */
import { stat } from 'node:fs/promises';
import type { AuthConfig } from '../config/auth-schema.js';
import { codeOf, inTime, readFileText, whyUnreadable } from '../config/read-file.js';
import { TurnbuckleError } from '../errors.js';
import { type Authorizer, type Credentials, MAX_ROUNDS, type Refused } from './authorizer.js';

type TokenFileConfig = Extract<AuthConfig, { tokenPath: string }>;

const LARGEST = 64 * 1_024;
/** How long a look at the file is good for: calls in a burst share one. */
const FRESH_MS = 250;

export class TokenFile implements Authorizer {
  readonly #server: string;
  readonly #config: TokenFileConfig;
  readonly #now: () => number;
  #identity = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #credentials: Credentials = {};
  #refused: Credentials | undefined;

  constructor(server: string, config: TokenFileConfig, now: () => number) {
    this.#server = server;
    this.#config = config;
    this.#now = now;
  }

  headers(): Credentials | Promise<Credentials> {
    return this.#now() - this.#lookedAt < FRESH_MS ? this.#credentials : this.#look();
  }

  /** Perhaps the file was replaced between our look and the server's. */
  async refused({ credentials, round }: Refused): Promise<boolean> {
    this.#refused = credentials;
    return round < MAX_ROUNDS && this.hasNews();
  }

  /** True when there is a token in the file now that was not refused. */
  async hasNews(): Promise<boolean> {
    const refused = this.#refused ?? {};
    const now = await this.#look();
    return Object.entries(now).some(([name, value]) => refused[name] !== value);
  }

  async #look(): Promise<Credentials> {
    const { tokenPath, headerName } = this.#config;
    try {
      const { ino, size, mtimeMs } = await inTime(tokenPath, () => stat(tokenPath));
      const identity = `${ino} ${size} ${mtimeMs}`;
      if (identity !== this.#identity) {
        const token = (await readFileText(tokenPath, { maxBytes: LARGEST })).trim();
        if (token === '' || /[^\x20-\x7e]/.test(token)) throw new Error('it holds no token');
        const name = headerName.toLowerCase();
        const prefix = this.#config.prefix ?? (name === 'authorization' ? 'Bearer ' : '');
        this.#credentials = { [name]: `${prefix}${token}` };
        this.#identity = identity;
      }
    } catch (cause) {
      throw this.#unreadable(cause);
    }
    this.#lookedAt = this.#now();
    return this.#credentials;
  }

  #unreadable(cause: unknown): TurnbuckleError {
    const code = codeOf(cause);
    const why = code === '' && cause instanceof Error ? cause.message : whyUnreadable(cause);
    return new TurnbuckleError(
      'AUTH_REQUIRED',
      `The token file of server "${this.#server}" cannot be used: ${why}.`,
      {
        server: this.#server,
        cause,
        hint: `Look at ${this.#config.tokenPath}.`,
        data: { sent: false, file: this.#config.tokenPath },
      },
    );
  }
}
