/**
 * The tokens of one server and account: presented with each request, renewed once for all who need them, in
 * this process and in every other of this user, a little ahead of their end where possible.
 */
import {
  computeScopeUnion,
  type DpopSession,
  extractWWWAuthenticateParams,
  type FetchLike,
  isDpopNonceChallenge,
  isStrictScopeSuperset,
} from '@modelcontextprotocol/client';
import type { MachineConfig, OAuthConfig } from '../config/auth-schema.js';
import { TurnbuckleError } from '../errors.js';
import {
  type Challenge,
  cannotRenew,
  isPassing,
  oauthCode,
  scopeMissing,
  signInRequired,
} from './auth-errors.js';
import { findAuthorizationServer } from './authorization-server.js';
import {
  type Authorizer,
  type Credentials,
  MAX_ROUNDS,
  type OutgoingRequest,
  type Refused,
} from './authorizer.js';
import { openDpopSession } from './dpop-key.js';
import { signInMachine } from './machine-sign-in.js';
import { RenewalPause } from './renewal-pause.js';
import { type SignIn, SignInStore } from './sign-in-store.js';
import { requestTokens } from './token-request.js';
import { renewAheadMs, type Tokens } from './tokens.js';

export interface OAuthAuthorizerOptions {
  readonly server: string;
  readonly serverUrl: string;
  readonly config: OAuthConfig | MachineConfig;
  /** Nobody said that there is a sign-in: without the store, requests go out as they are. */
  readonly optional: boolean;
  readonly account: string;
  readonly store: SignInStore;
  readonly fetch: FetchLike;
  readonly now: () => number;
  /** A value that must never be shown. */
  readonly onSecret: (value: string) => void;
}

/** Where each refusal has a reason of its own: tokens that last shorter than a request takes. */
const MAX_RENEWED_ROUNDS = 8;
/** Authorization servers count in whole seconds. */
const CLOCK_STEP_MS = 1_000;

export class OAuthAuthorizer implements Authorizer {
  readonly #options: OAuthAuthorizerOptions;
  readonly #key: string;
  readonly #pause: RenewalPause;
  #loading: Promise<void> | undefined;
  #loaded = false;
  #signIn: SignIn | undefined;
  #dpop: DpopSession | undefined;
  #renewing: Promise<void> | undefined;
  #replacing: Promise<void> | undefined;
  /** The token with which a person was last found to be needed; null: without any. */
  #hopeless: string | null | undefined;
  /** The token in the store that ours could not be written over. */
  #unwritten: string | undefined;

  constructor(options: OAuthAuthorizerOptions) {
    this.#options = options;
    this.#pause = new RenewalPause(options.now);
    this.#key = SignInStore.keyOf(options.serverUrl, options.account);
  }

  get key(): string {
    return this.#key;
  }

  /** What is known now; after `load`, what is stored. */
  get signIn(): SignIn | undefined {
    return this.#signIn;
  }

  /** Looks into the store, once. */
  load(): Promise<void> {
    this.#loading ??= this.#options.store.load(this.#key).then((stored) => this.#take(stored));
    this.#loading.catch(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Looks again; true when there is a token now that was not refused. */
  async reload(): Promise<boolean> {
    await this.#take(await this.#stored());
    const now = this.#signIn?.tokens?.accessToken;
    return now !== undefined && now !== this.#hopeless;
  }

  /** A person has signed in, or out. */
  async adopt(signIn: SignIn | undefined): Promise<void> {
    this.#pause.end();
    await this.#take(signIn);
  }

  /** Resolves when nothing is being renewed: a token that was just given must not get lost. */
  async settled(): Promise<void> {
    await this.#renewing?.catch(() => {});
  }

  headers(request: OutgoingRequest): Credentials | Promise<Credentials> {
    if (this.#loaded) return this.#current(request);
    const unreadable = (error: unknown): Credentials => {
      if (this.#options.optional) return {};
      throw error;
    };
    return this.load().then(() => this.#current(request), unreadable);
  }

  observe(url: URL, header: (name: string) => string | undefined): void {
    const nonce = this.#dpop === undefined ? undefined : header('dpop-nonce');
    if (nonce !== undefined) this.#dpop?.rememberNonce(url, nonce);
  }

  async refused({ status, challenge: header, credentials, round }: Refused): Promise<boolean> {
    await this.load();
    const { challenge, wantsNonce } = readChallenge(status, header);
    if (wantsNonce && this.#dpop !== undefined && round <= MAX_ROUNDS) return true;
    if (status === 403) return this.#forbidden(challenge, round);
    const tokens = this.#signIn?.tokens;
    const replaced = tokens !== undefined && !isSent(tokens, credentials);
    // A token that came to its end on the way was not refused for what it is.
    const limit = replaced || this.#isEnding(tokens) ? MAX_RENEWED_ROUNDS : MAX_ROUNDS;
    if (round >= limit) throw this.#mustSignIn(challenge, 'does not accept the sign-in');
    if (replaced) return true;
    // Many calls are refused at the same moment: what is found out about one holds for all.
    this.#replacing ??= this.#replace(tokens, challenge).finally(() => {
      this.#replacing = undefined;
    });
    await this.#replacing;
    return true;
  }

  /** A refused token: perhaps another process has a newer one, perhaps it can be renewed, else a person is needed. */
  async #replace(refusedTokens: Tokens | undefined, challenge: Challenge): Promise<void> {
    const { config } = this.#options;
    if (isMachine(config)) return this.#renew(refusedTokens, challenge);
    this.#hopeless = refusedTokens?.accessToken ?? null;
    if (await this.reload()) return;
    if (refusedTokens?.refreshToken === undefined) {
      const known = refusedTokens !== undefined;
      throw this.#mustSignIn(
        challenge,
        known ? 'does not accept the sign-in any more' : 'requires authentication',
      );
    }
    await this.#renew(refusedTokens, challenge);
  }

  /** A token that should be good was refused: perhaps the server has gone to another authorization server. */
  async #requireSameIssuer(signIn: SignIn, challenge: Challenge, config: OAuthConfig): Promise<void> {
    if (this.#isEnding(signIn.tokens)) return;
    if (!(await this.#trustsIssuerOf(signIn, challenge, config)))
      throw this.#mustSignIn(challenge, 'now trusts another authorization server');
  }

  /** True when the server names another authorization server than the one that was signed in at. */
  async hasMoved(challenge: Challenge): Promise<boolean> {
    const { config } = this.#options;
    if (isMachine(config) || this.#signIn === undefined) return false;
    return !(await this.#trustsIssuerOf(this.#signIn, challenge, config));
  }

  async #trustsIssuerOf(signIn: SignIn, challenge: Challenge, places: OAuthConfig): Promise<boolean> {
    const { server, serverUrl, fetch } = this.#options;
    try {
      const { issuer } = await findAuthorizationServer({ server, serverUrl, places, challenge, fetch });
      return issuer === signIn.authorizationServer.issuer;
    } catch (error) {
      throw error instanceof TurnbuckleError && error.cause === undefined
        ? error
        : cannotRenew(server, error);
    }
  }

  async #forbidden(challenge: Challenge, round: number): Promise<boolean> {
    const tokens = this.#signIn?.tokens;
    if (challenge.error !== 'insufficient_scope') {
      this.#hopeless = tokens?.accessToken ?? null;
      return false;
    }
    const { server, config } = this.#options;
    if (tokens === undefined && !isMachine(config))
      throw signInRequired(server, { status: 403, challenge, why: 'requires authentication' });
    const had = tokens?.scope ?? this.#signIn?.requestedScope;
    const scope = computeScopeUnion(had, challenge.scope);
    if (!isMachine(config) || round >= MAX_ROUNDS || !isStrictScopeSuperset(scope, had))
      throw scopeMissing(server, { scope, challenge });
    await this.#renew(tokens, { ...challenge, scope });
    return true;
  }

  #isEnding(tokens: Tokens | undefined): boolean {
    if (tokens?.expiresAt === undefined) return false;
    const marginMs = Math.max(renewAheadMs(tokens), CLOCK_STEP_MS);
    return tokens.expiresAt - this.#options.now() < marginMs;
  }

  #current(request: OutgoingRequest): Credentials | Promise<Credentials> {
    const tokens = this.#signIn?.tokens;
    if (tokens === undefined) return {};
    const { now, config } = this.#options;
    const leftMs = tokens.expiresAt === undefined ? Number.POSITIVE_INFINITY : tokens.expiresAt - now();
    const renewable = tokens.refreshToken !== undefined || isMachine(config);
    if (renewable && leftMs <= 0)
      return this.#renew(tokens, undefined).then(() => this.#present(this.#signIn?.tokens, request));
    // Nobody waits for it, and if it fails there is time for another try.
    if (renewable && leftMs < renewAheadMs(tokens) && !this.#pause.isOn)
      this.#renew(tokens, undefined).catch(() => {});
    return this.#present(tokens, request);
  }

  #present(tokens: Tokens | undefined, { method, url }: OutgoingRequest): Credentials | Promise<Credentials> {
    if (tokens === undefined) return {};
    const { accessToken, scheme } = tokens;
    const authorization = `${scheme} ${accessToken}`;
    const session = this.#dpop;
    if (scheme !== 'DPoP' || session === undefined) return { authorization };
    return session
      .buildProof({ htm: method, htu: url, accessToken })
      .then((dpop) => ({ authorization, dpop }));
  }

  /** One for all callers of this process. */
  #renew(used: Tokens | undefined, challenge: Challenge | undefined): Promise<void> {
    this.#renewing ??= this.#pause
      .guard(() => this.#renewAlone(used, challenge))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  /** One for all processes: whoever waits for the lock, or gets it second, finds the work done. */
  #renewAlone(used: Tokens | undefined, challenge: Challenge | undefined): Promise<void> {
    const { store, now } = this.#options;
    const takeNewer = async (stored: SignIn | undefined): Promise<boolean> => {
      const tokens = stored?.tokens;
      const isNewer = tokens !== undefined && tokens.accessToken !== used?.accessToken;
      // On a slow machine what another process got may have ended before we come to it.
      if (!isNewer || (tokens.expiresAt ?? Number.POSITIVE_INFINITY) <= now()) return false;
      await this.#take(stored);
      return true;
    };
    const isDone = async (): Promise<boolean> => takeNewer(await this.#stored());
    return store.exclusivelyUnless(this.#key, isDone, async () => {
      const stored = await this.#stored();
      if (await takeNewer(stored)) return;
      const renewed = await this.#obtain(stored, challenge);
      // In this order: an authorization server that rotates has forgotten the old tokens, whatever the disk says.
      this.#unwritten ??= stored?.tokens?.accessToken;
      await this.#take(renewed);
      await store.save(this.#key, renewed);
      this.#unwritten = undefined;
    });
  }

  /** What is in the store, unless ours is newer and could not be written. */
  async #stored(): Promise<SignIn | undefined> {
    const stored = await this.#options.store.load(this.#key);
    const token = stored?.tokens?.accessToken;
    return token !== undefined && token === this.#unwritten ? this.#signIn : stored;
  }

  async #obtain(stored: SignIn | undefined, challenge: Challenge | undefined): Promise<SignIn> {
    const { config } = this.#options;
    const dpop = this.#dpop;
    if (isMachine(config)) return signInMachine({ ...this.#options, config, stored, challenge, dpop });
    const refreshToken = stored?.tokens?.refreshToken;
    if (stored !== undefined && refreshToken !== undefined) {
      // By the one that renews: all others wait for it and need not ask.
      if (challenge !== undefined) await this.#requireSameIssuer(stored, challenge, config);
      return this.#refresh(stored, refreshToken);
    }
    // Signed out, or found to have ended, by another program.
    await this.#take(stored);
    throw this.#mustSignIn(challenge, 'requires authentication');
  }

  async #refresh(stored: SignIn, refreshToken: string): Promise<SignIn> {
    const { server, fetch, now, store } = this.#options;
    const { authorizationServer, client } = stored;
    const dpop = stored.dpopKey && (this.#dpop ?? (await openDpopSession(stored.dpopKey)));
    try {
      const fresh = await requestTokens({
        server,
        authorizationServer,
        client,
        parameters: { grant_type: 'refresh_token', refresh_token: refreshToken },
        dpop,
        fetch,
        now,
      });
      const tokens = {
        ...fresh,
        refreshToken: fresh.refreshToken ?? refreshToken,
        scope: fresh.scope ?? stored.tokens?.scope,
      };
      return { ...stored, tokens };
    } catch (error) {
      const code = oauthCode(error);
      // The authorization server cannot be asked now: the sign-in is as good as before.
      if (code === undefined || isPassing(error)) throw cannotRenew(server, error);
      if (code !== 'invalid_grant' && code !== 'invalid_client')
        throw this.#mustSignIn(undefined, 'cannot renew the sign-in');
      // The end of this sign-in. What is known of the client stays, unless it is what was refused.
      const ended = { ...stored, tokens: undefined };
      if (code === 'invalid_client') await store.delete(this.#key);
      else await store.save(this.#key, ended);
      await this.#take(code === 'invalid_client' ? undefined : ended);
      throw this.#mustSignIn(undefined, 'has ended the sign-in');
    }
  }

  async #take(signIn: SignIn | undefined): Promise<void> {
    for (const secret of [signIn?.tokens?.accessToken, signIn?.tokens?.refreshToken])
      if (secret !== undefined) this.#options.onSecret(secret);
    const key = signIn?.dpopKey;
    if (key?.thumbprint !== this.#dpop?.thumbprint)
      this.#dpop = key === undefined ? undefined : await openDpopSession(key);
    this.#signIn = signIn;
    this.#loaded = true;
    this.#loading = Promise.resolve();
  }

  #mustSignIn(challenge: Challenge | undefined, why: string): TurnbuckleError {
    this.#hopeless = this.#signIn?.tokens?.accessToken ?? null;
    return signInRequired(this.#options.server, { status: 401, challenge, why });
  }
}

function isSent({ accessToken, scheme }: Tokens, { authorization }: Credentials): boolean {
  return authorization === `${scheme} ${accessToken}`;
}

const isMachine = (config: OAuthConfig | MachineConfig): config is MachineConfig => config.type !== 'oauth';

function readChallenge(
  status: number,
  header: string | undefined,
): { readonly challenge: Challenge; readonly wantsNonce: boolean } {
  // A server can send any byte; a header of ours has letters only.
  const text = header?.replace(/[^\x20-\x7e]/g, '?');
  const headers: Record<string, string> = text === undefined ? {} : { 'www-authenticate': text };
  const response = new Response(null, { status, headers });
  const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  return {
    challenge: {
      error,
      scope,
      resourceMetadataUrl: resourceMetadataUrl?.href,
      dpop: text !== undefined && /^\s*DPoP\b/i.test(text),
    },
    wantsNonce: isDpopNonceChallenge(response),
  };
}
