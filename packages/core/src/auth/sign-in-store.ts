/** Stored sign-ins: one per server address and account, in the vault, changed by one process at a time. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { withFileLock } from '../files/file-lock.js';
import { makeDirectory } from '../files/make-directory.js';
import type { KeySource } from '../vault/vault-keys.js';
import type { DpopKey } from './client/dpop-key.js';
import type { Tokens } from './tokens.js';

/** The authorization server of the sign-in: its credentials are for it alone. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** The configuration sets endpoints but no issuer: `issuer` is a guess and not verified. */
  readonly isIssuerGuessed?: boolean | undefined;
  readonly url: string;
  readonly metadata?: AuthorizationServerMetadata | undefined;
  /** The server's resource identifier in token requests (RFC 8707). */
  readonly resource: string;
  /** The scopes that the server advertises. */
  readonly scopesSupported?: readonly string[] | undefined;
}

export interface SignIn {
  readonly version: 1;
  readonly serverUrl: string;
  readonly account: string;
  readonly authorizationServer: AuthorizationServer;
  readonly client: OAuthClientInformationMixed;
  /** The redirect URI; a client registered with it can use it again. */
  readonly redirectUri?: string | undefined;
  readonly requestedScope?: string | undefined;
  readonly tokens?: Tokens | undefined;
  readonly dpopKey?: DpopKey | undefined;
}

export interface VaultLike {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  delete(name: string): Promise<boolean>;
  list(): Promise<ReadonlyArray<{ readonly name: string }>>;
  /** Where its key is. Without it, the vault counts as one that asks a person before it opens. */
  keySource?(): Promise<KeySource | undefined>;
}

/** A vault, or a function that opens it on first use. */
export type VaultSource = VaultLike | (() => Promise<VaultLike>);

const LOCK_TIMEOUT_MS = 60_000;

export class SignInStore {
  readonly #vault: () => Promise<VaultLike>;
  readonly #directory: string;

  /** Called each time; a vault that could not be opened may be available later. */
  constructor(vault: () => Promise<VaultLike>, stateDir: string) {
    this.#vault = vault;
    this.#directory = join(stateDir, 'locks');
  }

  static keyOf(serverUrl: string, account: string): string {
    const url = new URL(serverUrl);
    url.hash = '';
    url.username = '';
    url.password = '';
    return `oauth/${encodeURIComponent(account)}/${url.href}`;
  }

  async load(key: string): Promise<SignIn | undefined> {
    const text = await (await this.#vault()).get(key);
    if (text === undefined) return undefined;
    const value: SignIn = JSON.parse(text);
    // Written by another version: treated as missing.
    return value.version === 1 ? value : undefined;
  }

  async save(key: string, signIn: SignIn): Promise<void> {
    await (await this.#vault()).set(key, JSON.stringify(signIn));
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#vault()).delete(key);
  }

  /** One process of this user at a time; a crashed process does not block the others. */
  async withLock<T>(key: string, work: () => Promise<T>): Promise<T> {
    return withFileLock(await this.#lockOf(key), work, { timeoutMs: LOCK_TIMEOUT_MS });
  }

  /** The same for work that another process may have done meanwhile: `isDone` checks that. */
  async withLockUnless(
    key: string,
    isDone: () => Promise<boolean>,
    work: () => Promise<void>,
  ): Promise<void> {
    await withFileLock(await this.#lockOf(key), work, { timeoutMs: LOCK_TIMEOUT_MS, isDone });
  }

  async #lockOf(key: string): Promise<string> {
    makeDirectory(this.#directory);
    return join(this.#directory, createHash('sha256').update(key).digest('hex').slice(0, 32));
  }
}
