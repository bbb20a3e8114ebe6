/**
 * The sign-ins of a runtime: for each remote server the credentials that its connection presents, and the
 * sign-in of a person where one is needed. What it takes is loaded when the first server needs it.
 */

import type { Challenge } from './auth/auth-errors.js';
import type { Authorizer, Credentials } from './auth/authorizer.js';
import type { OAuthAuthorizer } from './auth/oauth-authorizer.js';
import { givenUp, nobodyThere, nothingToSignIn, tooLate } from './auth/sign-in-errors.js';
import type { SignInNetwork } from './auth/sign-in-network.js';
import type { SignInMethod, SignInPrompts } from './auth/sign-in-prompts.js';
import { SignInRest } from './auth/sign-in-rest.js';
import type { SignInStore, VaultLike, VaultSource } from './auth/sign-in-store.js';
import { staticCredential } from './auth/static-credential.js';
import type { TokenFile } from './auth/token-file.js';
import { type CancelSignal, toAbortSignal } from './cancel-signal.js';
import type { AuthConfig, MachineConfig, OAuthConfig } from './config/auth-schema.js';
import type { HttpServer, SseServer, WebSocketServer } from './config/schema.js';
import { type TurnbuckleError, toTurnbuckleError } from './errors.js';
import { retryableOnce } from './retryable-once.js';
import type { Server } from './server.js';
import { throwIfCancelled, untilAborted } from './until-aborted.js';

export interface SignInRequest {
  readonly method?: SignInMethod | undefined;
  readonly prompts?: SignInPrompts | undefined;
  /** These scopes, whatever the server asks for. */
  readonly scopes?: readonly string[] | undefined;
  /** Also when the present sign-in is good. */
  readonly force?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What may be shown of a sign-in: no token. */
export interface SignInStatus {
  readonly server: string;
  /** How the server is told who asks; `none` also when nothing is known. */
  readonly type: AuthConfig['type'];
  readonly signedIn: boolean;
  readonly account?: string | undefined;
  readonly issuer?: string | undefined;
  readonly scope?: string | undefined;
  readonly expiresAt?: Date | undefined;
  /** It is renewed without a person. */
  readonly renewable?: boolean | undefined;
}

export interface SignInsOptions {
  readonly stateDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly vault: VaultSource | undefined;
  readonly prompts: SignInPrompts | undefined;
  readonly now: () => number;
  /** A value that must never be shown. */
  readonly onSecret: (value: string) => void;
}

/** A server at which one can sign in. */
export type RemoteServer = HttpServer | SseServer | WebSocketServer;

interface Known {
  readonly auth: AuthConfig;
  readonly url: string;
  readonly authorizer: Authorizer | undefined;
  readonly oauth: OAuthAuthorizer | undefined;
  readonly file?: TokenFile | undefined;
}

/** A sign-in under way, and how many wait for it. */
interface Running {
  readonly done: Promise<boolean>;
  readonly abort: AbortController;
  waiting: number;
}

/** A call that was refused, and wants a person to sign in. */
export interface SignInAsked {
  /** Somebody has signed in for this very reason in the middle of this call. */
  readonly isRepeated: boolean;
  readonly signal: CancelSignal | undefined;
}

const MAX_VISITS = 2;
const SIGN_IN_MS = 5 * 60_000;
const DEFAULT_OAUTH: OAuthConfig = { type: 'oauth' };

export class SignIns {
  readonly #options: SignInsOptions;
  readonly #known = new Map<string, { readonly made: string; readonly known: Promise<Known> }>();
  readonly #running = new Map<string, Running>();
  readonly #openStore: () => Promise<SignInStore>;
  readonly #rest: SignInRest;

  constructor(options: SignInsOptions) {
    this.#options = options;
    this.#rest = new SignInRest(options.now);
    this.#openStore = retryableOnce(() => createStore(options));
  }

  /** What presents the credentials of a server; the same one for all its connections. */
  async authorizer(server: string, config: RemoteServer): Promise<Authorizer | undefined> {
    return (await this.#knownOf(server, config)).authorizer;
  }

  /** Whether a person can be asked without further ado. */
  get hasPrompts(): boolean {
    return this.#options.prompts !== undefined;
  }

  /** Signs in; false when it was not needed. Many who ask at once share one sign-in. */
  signIn(server: Server, request: SignInRequest): Promise<boolean> {
    this.#rest.end(server.name);
    return this.#together(server.name, request.signal, (signal) =>
      this.#signIn(server, { ...request, signal }),
    );
  }

  /** One sign-in for all who want one: who gives up leaves it to the others, the last one ends it. */
  async #together(
    server: string,
    signal: AbortSignal | undefined,
    begin: (signal: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> {
    throwIfCancelled(signal);
    const running = this.#running.get(server) ?? this.#begin(server, begin);
    running.waiting += 1;
    try {
      return await untilAborted(() => running.done, signal);
    } finally {
      running.waiting -= 1;
      if (running.waiting === 0) this.#end(server, running, givenUp(server));
    }
  }

  #begin(server: string, begin: (signal: AbortSignal) => Promise<boolean>): Running {
    const abort = new AbortController();
    const running = { done: begin(abort.signal), abort, waiting: 0 };
    this.#running.set(server, running);
    return running;
  }

  #end(server: string, running: Running, reason: TurnbuckleError): void {
    if (this.#running.get(server) === running) this.#running.delete(server);
    running.abort.abort(reason);
  }

  /** Ends sign-ins that are under way, and waits until what is being renewed is in the store. */
  async close(): Promise<void> {
    for (const [server, running] of this.#running) this.#end(server, running, givenUp(server));
    const known = await Promise.allSettled([...this.#known.values()].map((entry) => entry.known));
    await Promise.all(
      known.map((entry) => (entry.status === 'fulfilled' ? entry.value.oauth?.settled() : undefined)),
    );
  }

  async #signIn(server: Server, request: SignInRequest): Promise<boolean> {
    let refused = await this.#whyRefused(server);
    const wider = request.force === true || request.scopes !== undefined;
    if (refused === undefined && !wider) return false;
    // A server may ask for more once it knows who asks, or send us on to another authorization server.
    for (let visit = 0; visit < MAX_VISITS; visit += 1) {
      const asked = refused;
      await this.#visit(server, request, asked?.data?.challenge as Challenge | undefined);
      refused = await this.#whyRefused(server);
      if (refused === undefined) return true;
      // The same answer again: a second page would change nothing, unless it is that of another authorization server.
      if (asked !== undefined && isSameRefusal(asked, refused) && !(await this.#hasMoved(server, refused)))
        break;
    }
    throw refused;
  }

  async #hasMoved(server: Server, refused: TurnbuckleError): Promise<boolean> {
    const { oauth } = await this.#require(server.name);
    const challenge = refused.data?.challenge as Challenge | undefined;
    if (oauth === undefined || challenge === undefined) return false;
    // Where that cannot be found out, the refusal itself is the answer.
    return oauth.hasMoved(challenge).catch(() => false);
  }

  /**
   * A call was refused for want of a sign-in, or of a wider one. False when nobody is asked: it was done and did not
   * help, in this call or in one a while ago.
   */
  async widen(server: Server, error: TurnbuckleError, { isRepeated, signal }: SignInAsked): Promise<boolean> {
    if (isRepeated) this.#rest.begin(server.name, error);
    if (this.#rest.isOn(server.name, error)) return false;
    // Refused with what there was before somebody signed in a moment ago.
    if (!isRepeated && error.code === 'AUTH_REQUIRED' && this.#rest.isSignedInAnew(server.name)) return true;
    const challenge = error.data?.challenge as Challenge | undefined;
    return this.#together(server.name, signal && toAbortSignal(signal), (shared) =>
      this.#visit(server, { signal: shared }, challenge).then(() => true),
    );
  }

  async #visit(server: Server, request: SignInRequest, challenge: Challenge | undefined): Promise<void> {
    const { oauth, auth, url } = await this.#require(server.name);
    if (oauth === undefined || auth.type !== 'oauth') throw nothingToSignIn(server.name, auth.type);
    const prompts = request.prompts ?? this.#options.prompts;
    if (prompts === undefined) throw nobodyThere(server.name);
    const [{ signIn }, store] = await Promise.all([import('./auth/sign-in.js'), this.#openStore()]);
    const timeout = AbortSignal.timeout(SIGN_IN_MS);
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
      if (timeout.aborted) throw tooLate(server.name);
      throw toTurnbuckleError(signal.aborted ? signal.reason : error);
    });
    await store.exclusively(oauth.key, () => store.save(oauth.key, done));
    await oauth.adopt(done);
    this.#rest.signedIn(server.name);
  }

  /** True when another program of this user has signed in since we looked. */
  async hasNews(server: string): Promise<boolean> {
    const known = await this.#known.get(server)?.known;
    return (await (known?.oauth?.reload() ?? known?.file?.hasNews())) ?? false;
  }

  /** Forgets the sign-in and tells the authorization server. */
  async signOut(
    server: Server,
    config: RemoteServer,
  ): Promise<{ readonly found: boolean; readonly revoked: boolean }> {
    const { oauth, auth, url } = await this.#knownOf(server.name, config);
    if (oauth === undefined) throw nothingToSignIn(server.name, auth.type);
    const store = await this.#openStore();
    const signedIn = await store.exclusively(oauth.key, async () => {
      const stored = await store.load(oauth.key);
      await store.delete(oauth.key);
      return stored;
    });
    await oauth.adopt(undefined);
    await server.disconnect();
    if (signedIn?.tokens === undefined) return { found: false, revoked: false };
    const { revoke } = await import('./auth/revoke.js');
    const { fetch } = await networkOf(url, auth);
    return { found: true, revoked: await revoke(signedIn, fetch) };
  }

  /** What is known about the sign-in at a server whose configuration has been filled in. */
  async status(server: string, config: RemoteServer): Promise<SignInStatus> {
    const { oauth, auth } = await this.#knownOf(server, config);
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

  #knownOf(server: string, config: RemoteServer): Promise<Known> {
    const made = JSON.stringify([config.url, config.auth, Object.keys(config.headers)]);
    const before = this.#known.get(server);
    if (before?.made === made) return before.known;
    const known = this.#make(server, config);
    const entry = { made, known };
    this.#known.set(server, entry);
    // What failed is made anew for the next one who asks.
    known.catch(() => {
      if (this.#known.get(server) === entry) this.#known.delete(server);
    });
    return known;
  }

  async #make(server: string, config: RemoteServer): Promise<Known> {
    const auth = authOf(config);
    const { url } = config;
    const fixed = staticCredential(auth);
    if (fixed !== undefined) return { auth, url, authorizer: presenting(fixed), oauth: undefined };
    const { now, onSecret } = this.#options;
    if ('tokenPath' in auth) {
      const { TokenFile } = await import('./auth/token-file.js');
      const file = new TokenFile(server, auth, now);
      return { auth, url, authorizer: telling(file, onSecret), oauth: undefined, file };
    }
    const config_ = auth as OAuthConfig | MachineConfig;
    const [{ OAuthAuthorizer }, store] = await Promise.all([
      import('./auth/oauth-authorizer.js'),
      this.#openStore(),
    ]);
    const oauth = new OAuthAuthorizer({
      server,
      serverUrl: url,
      config: config_,
      optional: config.auth === undefined,
      account: accountOf(auth),
      store,
      fetch: (await networkOf(url, auth)).fetch,
      now,
      onSecret,
    });
    return { auth, url, authorizer: oauth, oauth };
  }

  async #require(server: string): Promise<Known> {
    const known = this.#known.get(server);
    if (known === undefined) throw nothingToSignIn(server, 'none');
    return known.known;
  }

  /** Connects, so that the server says itself what it wants; undefined when it wants nothing more. */
  async #whyRefused({ connection }: Server): Promise<TurnbuckleError | undefined> {
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
  const { SignInStore } = await import('./auth/sign-in-store.js');
  const open = async (): Promise<VaultLike> => {
    if (vault !== undefined) return typeof vault === 'function' ? vault() : vault;
    return (await import('./auth/vault.js')).createVault({ stateDir, environment });
  };
  return new SignInStore(retryableOnce(open), stateDir);
}

/** A server without an `auth` block is signed in at when it asks for it, unless its headers already say who asks. */
function authOf({ auth, headers }: RemoteServer): AuthConfig {
  if (auth !== undefined) return auth;
  const said = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return said ? { type: 'none' } : DEFAULT_OAUTH;
}

/** For the same reason, with the same word about what is asked for and where. */
function isSameRefusal(before: TurnbuckleError, after: TurnbuckleError): boolean {
  const tell = ({ code, data }: TurnbuckleError): string => {
    const challenge = data?.challenge as Challenge | undefined;
    return JSON.stringify([code, data?.scope, challenge?.scope, challenge?.resourceMetadataUrl]);
  };
  return tell(before) === tell(after);
}

const accountOf = (auth: AuthConfig): string => ('account' in auth ? auth.account : undefined) ?? 'default';

const presenting = (credentials: Readonly<Record<string, string>>): Authorizer => ({
  headers: () => credentials,
  refused: async () => false,
});

/** The same; what it presents is told, once for each change. */
function telling(file: TokenFile, onSecret: (value: string) => void): Authorizer {
  let told: Credentials | undefined;
  const tell = (credentials: Credentials): Credentials => {
    if (credentials !== told) for (const value of Object.values(credentials)) onSecret(value);
    told = credentials;
    return credentials;
  };
  return {
    headers: () => {
      const credentials = file.headers();
      return credentials instanceof Promise ? credentials.then(tell) : tell(credentials);
    },
    refused: (refused) => file.refused(refused),
  };
}

async function networkOf(serverUrl: string, auth: AuthConfig): Promise<SignInNetwork> {
  const { createSignInNetwork } = await import('./auth/sign-in-network.js');
  return createSignInNetwork(serverUrl, auth);
}
