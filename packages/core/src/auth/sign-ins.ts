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
import { accountOf, createServerAuth, networkOf, type RemoteServer, type ServerAuth } from './server-auth.js';
import { SignInCooldown } from './sign-in-cooldown.js';
import {
  signInAbandoned,
  signInNotSupported,
  signInPromptsMissing,
  signInTimedOut,
} from './sign-in-errors.js';
import type { SignInMethod, SignInPrompts } from './sign-in-prompts.js';
import type { SignInStore, VaultLike, VaultSource } from './sign-in-store.js';

export interface SignInRequest {
  readonly method?: SignInMethod | undefined;
  readonly prompts?: SignInPrompts | undefined;
  /** These scopes instead of those that the server requires. */
  readonly scopes?: readonly string[] | undefined;
  /** Even if the current sign-in is valid. */
  readonly force?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
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

/** What a sign-in is for. */
export interface SignInTarget {
  readonly name: string;
  readonly connection: { open(): Promise<unknown> };
  disconnect(): Promise<void>;
}

/** A sign-in in progress, and the number of its waiters. */
interface PendingSignIn {
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
  readonly #authByServer = new Map<string, { readonly made: string; readonly known: Promise<ServerAuth> }>();
  readonly #pending = new Map<string, PendingSignIn>();
  readonly #openStore: () => Promise<SignInStore>;
  readonly #cooldown: SignInCooldown;

  constructor(options: SignInsOptions) {
    this.#options = options;
    this.#cooldown = new SignInCooldown(options.monotonicNow);
    this.#openStore = retryableOnce(() => createStore(options));
  }

  /** The authorizer of a server, shared by all its connections. */
  async authorizer(server: string, config: RemoteServer): Promise<Authorizer | undefined> {
    return (await this.#resolveAuth(server, config)).authorizer;
  }

  /** Whether an interactive sign-in is possible right away. */
  get hasPrompts(): boolean {
    return this.#options.prompts !== undefined;
  }

  /** Signs in; false if it was not necessary. Concurrent requests share one sign-in. */
  signIn(server: SignInTarget, request: SignInRequest): Promise<boolean> {
    this.#cooldown.clear(server.name);
    return this.#joinOrStart(server.name, request.signal, (signal) =>
      this.#signIn(server, { ...request, signal }),
    );
  }

  /** One sign-in for all waiters: a cancelled one leaves it to the others, the last one ends it. */
  async #joinOrStart(
    server: string,
    signal: AbortSignal | undefined,
    begin: (signal: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> {
    throwIfCancelled(signal);
    const running = this.#pending.get(server) ?? this.#start(server, begin);
    running.waiting += 1;
    try {
      return await untilAborted(() => running.done, signal);
    } finally {
      running.waiting -= 1;
      if (running.waiting === 0) this.#abort(server, running, signInAbandoned(server));
    }
  }

  #start(server: string, begin: (signal: AbortSignal) => Promise<boolean>): PendingSignIn {
    const abort = new AbortController();
    const running = { done: begin(abort.signal), abort, waiting: 0 };
    this.#pending.set(server, running);
    return running;
  }

  #abort(server: string, running: PendingSignIn, reason: TurnbuckleError): void {
    if (this.#pending.get(server) === running) this.#pending.delete(server);
    running.abort.abort(reason);
  }

  /** Ends sign-ins in progress, and waits until refreshed tokens are stored. */
  async close(): Promise<void> {
    for (const [server, running] of this.#pending) this.#abort(server, running, signInAbandoned(server));
    const known = await Promise.allSettled([...this.#authByServer.values()].map((entry) => entry.known));
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
      await this.#runSignIn(server, request, asked?.data?.challenge as Challenge | undefined);
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
    const { oauth } = await this.#requireAuth(server.name);
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
    server: SignInTarget,
    error: TurnbuckleError,
    { isRepeated, signal }: SignInTrigger,
  ): Promise<boolean> {
    if (isRepeated) this.#cooldown.start(server.name, error);
    if (this.#cooldown.isActive(server.name, error)) return false;
    // Rejected with the credentials from before a recent sign-in.
    if (!isRepeated && error.code === 'AUTH_REQUIRED' && this.#cooldown.hasRecentSignIn(server.name))
      return true;
    const challenge = error.data?.challenge as Challenge | undefined;
    return this.#joinOrStart(server.name, signal && toAbortSignal(signal), (shared) =>
      this.#runSignIn(server, { signal: shared }, challenge).then(() => true),
    );
  }

  async #runSignIn(
    server: SignInTarget,
    request: SignInRequest,
    challenge: Challenge | undefined,
  ): Promise<void> {
    const { oauth, auth, url } = await this.#requireAuth(server.name);
    if (oauth === undefined || auth.type !== 'oauth') throw signInNotSupported(server.name, auth.type);
    const prompts = request.prompts ?? this.#options.prompts;
    if (prompts === undefined) throw signInPromptsMissing(server.name);
    const [{ signIn }, store] = await Promise.all([import('./sign-in.js'), this.#openStore()]);
    const timeout = AbortSignal.timeout(SIGN_IN_TIMEOUT_MS);
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
    await oauth.load();
    const done = await signIn({
      server: server.name,
      serverUrl: url,
      config: auth,
      account: accountOf(auth),
      challenge,
      earlier: oauth.signIn,
      method: request.method ?? 'browser',
      prompts,
      scopes: request.scopes,
      ...(await networkOf(url, auth)),
      now: this.#options.now,
      signal,
    }).catch((error: unknown) => {
      if (timeout.aborted) throw signInTimedOut(server.name);
      throw toTurnbuckleError(signal.aborted ? signal.reason : error);
    });
    await store.withLock(oauth.key, () => store.save(oauth.key, done));
    await oauth.adopt(done);
    this.#cooldown.recordSignIn(server.name);
  }

  /** True if another process of this user has signed in meanwhile. */
  async hasNewSignIn(server: string): Promise<boolean> {
    const known = await this.#authByServer.get(server)?.known;
    return (await (known?.oauth?.reload() ?? known?.tokenFile?.hasNewToken())) ?? false;
  }

  /** Removes the sign-in and revokes its tokens. */
  async signOut(
    server: SignInTarget,
    config: RemoteServer,
  ): Promise<{ readonly found: boolean; readonly revoked: boolean }> {
    const { oauth, auth, url } = await this.#resolveAuth(server.name, config);
    if (oauth === undefined) throw signInNotSupported(server.name, auth.type);
    const store = await this.#openStore();
    const signedIn = await store.withLock(oauth.key, async () => {
      const stored = await store.load(oauth.key);
      await store.delete(oauth.key);
      return stored;
    });
    await oauth.adopt(undefined);
    await server.disconnect();
    if (signedIn?.tokens === undefined) return { found: false, revoked: false };
    const { revoke } = await import('./flows/revoke.js');
    const { fetch } = await networkOf(url, auth);
    return { found: true, revoked: await revoke(signedIn, fetch) };
  }

  /** The state of the sign-in for a server whose placeholders are filled in. */
  async status(server: string, config: RemoteServer): Promise<SignInStatus> {
    const { oauth, auth } = await this.#resolveAuth(server, config);
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

  #resolveAuth(server: string, config: RemoteServer): Promise<ServerAuth> {
    const made = JSON.stringify([config.url, config.auth, Object.keys(config.headers)]);
    const before = this.#authByServer.get(server);
    if (before?.made === made) return before.known;
    const known = createServerAuth(server, config, { ...this.#options, openStore: this.#openStore });
    const entry = { made, known };
    this.#authByServer.set(server, entry);
    // After a failure, the next request starts over.
    known.catch(() => {
      if (this.#authByServer.get(server) === entry) this.#authByServer.delete(server);
    });
    return known;
  }

  async #requireAuth(server: string): Promise<ServerAuth> {
    const known = this.#authByServer.get(server);
    if (known === undefined) throw signInNotSupported(server, 'none');
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
