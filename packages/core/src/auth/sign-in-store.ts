/** Sign-ins at rest: one for each server address and account, in the vault, changed by one process at a time. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { withFileLock } from '../config/edit/file-lock.js';
import { makeDirectory } from '../config/edit/make-directory.js';
import type { DpopKey } from './dpop-key.js';
import type { Tokens } from './tokens.js';

/** The authorization server as it was when the sign-in was made: credentials are for it alone. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** The configuration names endpoints and no issuer: `issuer` is a guess that nothing is held to. */
  readonly isIssuerGuessed?: boolean | undefined;
  readonly url: string;
  readonly metadata?: AuthorizationServerMetadata | undefined;
  /** The name of the server in requests for tokens (RFC 8707). */
  readonly resource: string;
  /** The scopes that the server says it knows. */
  readonly scopesSupported?: readonly string[] | undefined;
}

export interface SignIn {
  readonly version: 1;
  readonly serverUrl: string;
  readonly account: string;
  readonly authorizationServer: AuthorizationServer;
  readonly client: OAuthClientInformationMixed;
  /** Where the browser was sent back to; a client that was registered with it can use it again. */
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
}

/** A vault, or what opens it when it is first needed. */
export type VaultSource = VaultLike | (() => Promise<VaultLike>);

const LOCK_MS = 60_000;

export class SignInStore {
  readonly #vault: () => Promise<VaultLike>;
  readonly #directory: string;

  /** `vault` is asked for each time; a vault that could not be opened may be there the next time. */
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
    // Another version of ours wrote it: as if there was none.
    return value.version === 1 ? value : undefined;
  }

  async save(key: string, signIn: SignIn): Promise<void> {
    await (await this.#vault()).set(key, JSON.stringify(signIn));
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#vault()).delete(key);
  }

  /** One at a time among all processes of this user; what died in it keeps nobody out. */
  async exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    return withFileLock(await this.#lockOf(key), work, { timeoutMs: LOCK_MS });
  }

  /** The same for work that others may do meanwhile: `isDone` looks whether they have. */
  async exclusivelyUnless(
    key: string,
    isDone: () => Promise<boolean>,
    work: () => Promise<void>,
  ): Promise<void> {
    await withFileLock(await this.#lockOf(key), work, { timeoutMs: LOCK_MS, isDone });
  }

  async #lockOf(key: string): Promise<string> {
    makeDirectory(this.#directory);
    return join(this.#directory, createHash('sha256').update(key).digest('hex').slice(0, 32));
  }
}
