/**
 * The sign-ins of a runtime: the credentials of each remote server, and the interactive sign-in if one is required.
 * Its modules are loaded when the first server needs them.
 */

import { type CancelSignal, toAbortSignal } from '../async/cancel-signal.js';
import { retryableOnce } from '../async/retryable-once.js';
import { throwIfCancelled, untilAborted } from '../async/until-aborted.js';
import type { AuthConfig } from '../config/schema/auth-schema.js';
import { type TurnbuckleError, toTurnbuckleError } from '../errors.js';
import type { Challenge } from './auth-errors.js';
import type { Authorizer } from './authorizer.js';
import {
  accountOf,
  authOf,
  createServerAuth,
  networkOf,
  type RemoteServer,
  type ServerAuth,
} from './server-auth.js';
import { SignInCooldown } from './sign-in-cooldown.js';
import {
  signInAbandoned,
  signInNotSupported,
  signInPromptsMissing,
  signInTimedOut,
} from './sign-in-errors.js';
import { promptsFor, type SignInMethod, type SignInPrompts } from './sign-in-prompts.js';
import type { SignIn, SignInStore, VaultLike, VaultSource } from './sign-in-store.js';

export interface SignInRequest {
  readonly method?: SignInMethod | undefined;
  readonly prompts?: SignInPrompts | undefined;
  /** These scopes instead of those that the server requires. */
  readonly scopes?: readonly string[] | undefined;
  /** Even if the current sign-in is valid. */
  readonly force?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For an agent with a sign-in of its own at the server: signs in its account. */
  readonly agent?: string | undefined;
}

/** The displayable part of a sign-in: no token. */
export interface SignInStatus {
  readonly server: string;
  /** The type of authentication; `none` also if unknown. */
  readonly type: AuthConfig['type'];
  readonly signedIn: boolean;
  readonly account?: string | undefined;
  readonly issuer?: string | undefined;
  readonly scope?: string | undefined;
  readonly expiresAt?: Date | undefined;
  /** Whether it is refreshed without a user. */
  readonly renewable?: boolean | undefined;
}

export interface SignInsOptions {
  readonly stateDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly vault: VaultSource | undefined;
  readonly prompts: SignInPrompts | undefined;
  /** For timestamps. */
  readonly now: () => number;
  /** For durations. */
  readonly monotonicNow: () => number;
  /** Registers a value for redaction. */
  readonly onSecret: (value: string) => void;
}

/** Whose sign-in it is: that of the server itself, or of one agent with a sign-in of its own there. */
export interface SignInOwner {
  /** The server. */
  readonly name: string;
  readonly agent?: string | undefined;
}

/** What a sign-in is for. */
export interface SignInTarget extends SignInOwner {
  readonly connection: { open(): Promise<unknown> };
  /** Connects again what these owners have connected. */
  reconnect(owners: readonly SignInOwner[]): Promise<void>;
}

/** What the connections of one owner authenticate with. */
interface OwnedAuth {
  readonly owner: SignInOwner;
  /** The part of the configuration that it was made from. */
  readonly made: string;
  readonly known: Promise<ServerAuth>;
}

interface CompletedSignIn {
  /** Everyone who uses the account. */
  readonly owners: readonly SignInOwner[];
  /** There was another one before, maybe of somebody else. */
  readonly isReplacement: boolean;
}

/** A sign-in in progress, and the number of its waiters. */
interface PendingSignIn {
  readonly server: string;
  readonly done: Promise<boolean>;
  readonly abort: AbortController;
  waiting: number;
}

/** A rejected call that requires a sign-in. */
export interface SignInTrigger {
  /** A sign-in for this reason has already happened during this call. */
  readonly isRepeated: boolean;
  readonly signal: CancelSignal | undefined;
}

const MAX_SIGN_IN_ATTEMPTS = 2;
const SIGN_IN_TIMEOUT_MS = 5 * 60_000;

export class SignIns {
  readonly #options: SignInsOptions;
  readonly #authByOwner = new Map<string, OwnedAuth>();
  readonly #pending = new Map<string, PendingSignIn>();
  readonly #openStore: () => Promise<SignInStore>;
  readonly #cooldown: SignInCooldown;

  constructor(options: SignInsOptions) {
    this.#options = options;
    this.#cooldown = new SignInCooldown(options.monotonicNow);
    this.#openStore = retryableOnce(() => createStore(options));
  }

  /** The authorizer of a server, or of an agent there, shared by all its connections. */
  async authorizer(owner: SignInOwner, config: RemoteServer): Promise<Authorizer | undefined> {
    return (await this.#resolveAuth(owner, config)).authorizer;
  }

  /** Whether an interactive sign-in is possible right away. */
  get hasPrompts(): boolean {
    return this.#options.prompts !== undefined;
  }

  /** Signs in; false if it was not necessary. Concurrent requests share one sign-in. */
  signIn(server: SignInTarget, request: SignInRequest): Promise<boolean> {
    this.#cooldown.clear(keyOf(server));
    return this.#joinOrStart(server, request.signal, (signal) =>
      this.#signIn(server, { ...request, signal }),
    );
  }

  /** One sign-in for all waiters: a cancelled one leaves it to the others, the last one ends it. */
  async #joinOrStart(
    owner: SignInOwner,
    signal: AbortSignal | undefined,
    begin: (signal: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> {
    throwIfCancelled(signal);
    const key = keyOf(owner);
    const running = this.#pending.get(key) ?? this.#start(owner, begin);
    running.waiting += 1;
    try {
      return await untilAborted(() => running.done, signal);
    } finally {
      running.waiting -= 1;
      if (running.waiting === 0) this.#abort(key, running);
    }
  }

  #start({ name, agent }: SignInOwner, begin: (signal: AbortSignal) => Promise<boolean>): PendingSignIn {
    const abort = new AbortController();
    const running = { server: name, done: begin(abort.signal), abort, waiting: 0 };
    this.#pending.set(keyOf({ name, agent }), running);
    return running;
  }

  #abort(key: string, running: PendingSignIn): void {
    if (this.#pending.get(key) === running) this.#pending.delete(key);
    running.abort.abort(signInAbandoned(running.server));
  }

  /** Ends sign-ins in progress, and waits until refreshed tokens are stored. */
  async close(): Promise<void> {
    for (const [key, running] of this.#pending) this.#abort(key, running);
    const known = await Promise.allSettled([...this.#authByOwner.values()].map((entry) => entry.known));
    await Promise.all(
      known.map((entry) => (entry.status === 'fulfilled' ? entry.value.oauth?.settled() : undefined)),
    );
  }

  async #signIn(server: SignInTarget, request: SignInRequest): Promise<boolean> {
    let refused = await this.#probeRefusal(server);
    const wider = request.force === true || request.scopes !== undefined;
    if (refused === undefined && !wider) return false;
    // A server may require more scopes after the sign-in, or a different authorization server.
    for (let visit = 0; visit < MAX_SIGN_IN_ATTEMPTS; visit += 1) {
      const asked = refused;
      const challenge = asked?.data?.challenge as Challenge | undefined;
      const { owners, isReplacement } = await this.#runSignIn(server, request, challenge);
      if (isReplacement) await server.reconnect(owners);
      refused = await this.#probeRefusal(server);
      if (refused === undefined) return true;
      // The same challenge again: a second sign-in would not help, unless the authorization server differs.
      if (
        asked !== undefined &&
        isSameRefusal(asked, refused) &&
        !(await this.#hasIssuerChanged(server, refused))
      )
        break;
    }
    throw refused;
  }

  async #hasIssuerChanged(server: SignInTarget, refused: TurnbuckleError): Promise<boolean> {
    const { oauth } = await this.#requireAuth(server);
    const challenge = refused.data?.challenge as Challenge | undefined;
    if (oauth === undefined || challenge === undefined) return false;
    // If that is unknown, the rejection itself is the answer.
    return oauth.hasIssuerChanged(challenge).catch(() => false);
  }

  /**
   * A call was rejected for lack of a sign-in or of scopes. False if no prompt is shown: a sign-in did not help, in
   * this call or recently.
   */
  async signInForCall(
    owner: SignInOwner,
    error: TurnbuckleError,
    { isRepeated, signal }: SignInTrigger,
  ): Promise<boolean> {
    const key = keyOf(owner);
    if (isRepeated) this.#cooldown.start(key, error);
    if (this.#cooldown.isActive(key, error)) return false;
    // Rejected with the credentials from before a recent sign-in.
    if (!isRepeated && error.code === 'AUTH_REQUIRED' && this.#cooldown.hasRecentSignIn(key)) return true;
    const challenge = error.data?.challenge as Challenge | undefined;
    return this.#joinOrStart(owner, signal && toAbortSignal(signal), (shared) =>
      this.#runSignIn(owner, { signal: shared }, challenge).then(() => true),
    );
  }

  async #runSignIn(
    owner: SignInOwner,
    request: SignInRequest,
    challenge: Challenge | undefined,
  ): Promise<CompletedSignIn> {
    const { oauth, auth, url } = await this.#requireAuth(owner);
    const subject = { server: owner.name, agent: owner.agent };
    if (oauth === undefined || auth.type !== 'oauth') throw signInNotSupported(owner.name, auth.type);
    const prompts = request.prompts ?? this.#options.prompts;
    if (prompts === undefined) throw signInPromptsMissing(subject);
    const [{ signIn }, store] = await Promise.all([import('./sign-in.js'), this.#openStore()]);
    const timeout = AbortSignal.timeout(SIGN_IN_TIMEOUT_MS);
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
    await oauth.load();
    const { signIn: earlier } = oauth;
    const done = await signIn({
      server: owner.name,
      serverUrl: url,
      config: auth,
      account: accountOf(auth),
      challenge,
      earlier,
      method: request.method ?? 'browser',
      prompts: promptsFor(owner.agent, prompts),
      scopes: request.scopes,
      ...(await networkOf(url, auth)),
      now: this.#options.now,
      signal,
    }).catch((error: unknown) => {
      if (timeout.aborted) throw signInTimedOut(subject);
      throw toTurnbuckleError(signal.aborted ? signal.reason : error);
    });
    await store.withLock(oauth.key, () => store.save(oauth.key, done));
    const owners = await this.#adopt(oauth.key, done);
    for (const one of owners) this.#cooldown.recordSignIn(keyOf(one));
    return { owners, isReplacement: earlier?.tokens !== undefined };
  }

  /** For everyone who uses this account: agents can share one, and so can servers with the same URL. */
  async #adopt(key: string, signIn: SignIn | undefined): Promise<readonly SignInOwner[]> {
    const adopting = [...this.#authByOwner.values()].map(async ({ owner, known }) => {
      const { oauth } = await known.catch((): Partial<ServerAuth> => ({}));
      if (oauth?.key !== key) return [];
      await oauth.adopt(signIn);
      return [owner];
    });
    return (await Promise.all(adopting)).flat();
  }

  /** True if another process of this user has signed in meanwhile. */
  async hasNewSignIn(owner: SignInOwner): Promise<boolean> {
    const known = await this.#authByOwner.get(keyOf(owner))?.known;
    return (await (known?.oauth?.reload() ?? known?.tokenFile?.hasNewToken())) ?? false;
  }

  /** Removes the sign-in, disconnects everyone who uses it, and revokes its tokens. */
  async signOut(
    owner: SignInOwner,
    config: RemoteServer,
    disconnect: (owners: readonly SignInOwner[]) => Promise<void>,
  ): Promise<{ readonly found: boolean; readonly revoked: boolean }> {
    const { oauth, auth, url } = await this.#resolveAuth(owner, config);
    if (oauth === undefined) throw signInNotSupported(owner.name, auth.type);
    const store = await this.#openStore();
    const signedIn = await store.withLock(oauth.key, async () => {
      const stored = await store.load(oauth.key);
      await store.delete(oauth.key);
      return stored;
    });
    await disconnect(await this.#adopt(oauth.key, undefined));
    if (signedIn?.tokens === undefined) return { found: false, revoked: false };
    const { revoke } = await import('./flows/revoke.js');
    const { fetch } = await networkOf(url, auth);
    return { found: true, revoked: await revoke(signedIn, fetch) };
  }

  /** The state of the sign-in for a server whose placeholders are filled in. */
  async status(owner: SignInOwner, config: RemoteServer): Promise<SignInStatus> {
    const { oauth, auth } = await this.#resolveAuth(owner, config);
    const { name: server } = owner;
    if (oauth === undefined) return { server, type: auth.type, signedIn: auth.type !== 'none' };
    await oauth.reload();
    const { signIn } = oauth;
    if (signIn?.tokens === undefined) return { server, type: auth.type, signedIn: false };
    const { expiresAt, refreshToken, scope } = signIn.tokens;
    return {
      server,
      type: auth.type,
      signedIn: true,
      account: signIn.account,
      issuer: signIn.authorizationServer.issuer,
      scope: scope ?? signIn.requestedScope,
      expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
      renewable: refreshToken !== undefined || auth.type !== 'oauth',
    };
  }

  #resolveAuth(owner: SignInOwner, config: RemoteServer): Promise<ServerAuth> {
    const key = keyOf(owner);
    const made = JSON.stringify([config.url, authOf(config), config.auth === undefined]);
    const before = this.#authByOwner.get(key);
    if (before?.made === made) return before.known;
    const known = createServerAuth(owner, config, { ...this.#options, openStore: this.#openStore });
    const entry = { owner: { name: owner.name, agent: owner.agent }, made, known };
    this.#authByOwner.set(key, entry);
    // After a failure, the next request starts over.
    known.catch(() => {
      if (this.#authByOwner.get(key) === entry) this.#authByOwner.delete(key);
    });
    return known;
  }

  async #requireAuth(owner: SignInOwner): Promise<ServerAuth> {
    const known = this.#authByOwner.get(keyOf(owner));
    if (known === undefined) throw signInNotSupported(owner.name, 'none');
    return known.known;
  }

  /** Connects, so that the server sends its challenge; undefined if it has none. */
  async #probeRefusal({ connection }: SignInTarget): Promise<TurnbuckleError | undefined> {
    try {
      await connection.open();
      return undefined;
    } catch (thrown) {
      const error = toTurnbuckleError(thrown);
      if (error.code === 'AUTH_REQUIRED' || error.code === 'SCOPE_MISSING') return error;
      throw error;
    }
  }
}

const keyOf = ({ name, agent }: SignInOwner): string =>
  JSON.stringify(agent === undefined ? [name] : [name, agent]);

async function createStore({ vault, stateDir, environment }: SignInsOptions): Promise<SignInStore> {
  const { SignInStore } = await import('./sign-in-store.js');
  const open = async (): Promise<VaultLike> => {
    if (vault !== undefined) return typeof vault === 'function' ? vault() : vault;
    return (await import('../vault/vault.js')).createVault({ stateDir, environment });
  };
  return new SignInStore(retryableOnce(open), stateDir);
}

/** The same reason: equal challenge, scopes and metadata. */
function isSameRefusal(before: TurnbuckleError, after: TurnbuckleError): boolean {
  const tell = ({ code, data }: TurnbuckleError): string => {
    const challenge = data?.challenge as Challenge | undefined;
    return JSON.stringify([code, data?.scope, challenge?.scope, challenge?.resourceMetadataUrl]);
  };
  return tell(before) === tell(after);
}
