/**
 * The tokens of one server and account: added to each request, and refreshed once for all calls and all processes of
 * this user, ahead of expiry if possible.
 */
import {
  computeScopeUnion,
  type DpopSession,
  extractWWWAuthenticateParams,
  type FetchLike,
  isDpopNonceChallenge,
  isStrictScopeSuperset,
} from '@modelcontextprotocol/client';
import type { MachineConfig, OAuthConfig } from '../config/schema/auth-schema.js';
import { TurnbuckleError } from '../errors.js';
import {
  type Challenge,
  isTransient,
  oauthCode,
  renewalFailed,
  scopeMissing,
  signInRequired,
} from './auth-errors.js';
import {
  type Authorizer,
  type AuthRefusal,
  type Credentials,
  MAX_AUTH_RETRIES,
  type OutgoingRequest,
} from './authorizer.js';
import { findAuthorizationServer } from './client/authorization-server.js';
import { openDpopSession } from './client/dpop-key.js';
import { signInMachine } from './flows/machine-sign-in.js';
import { requestTokens } from './flows/token-request.js';
import { RenewalBackoff } from './renewal-backoff.js';
import { type SignIn, SignInStore } from './sign-in-store.js';
import { renewAheadMs, type Tokens } from './tokens.js';

export interface OAuthAuthorizerOptions {
  readonly server: string;
  /** The agent that it is for; absent: the server itself. */
  readonly agent?: string | undefined;
  readonly serverUrl: string;
  readonly config: OAuthConfig | MachineConfig;
  /** No sign-in is known: without the store, requests are sent without a token. */
  readonly optional: boolean;
  readonly account: string;
  readonly store: SignInStore;
  readonly fetch: FetchLike;
  /** For timestamps. */
  readonly now: () => number;
  /** For durations. */
  readonly monotonicNow: () => number;
  /** Registers a value for redaction. */
  readonly onSecret: (value: string) => void;
}

/** A higher limit for tokens that expire while a request is in flight. */
const MAX_RENEWED_RETRIES = 8;
/** Authorization servers count in whole seconds. */
const MIN_EXPIRY_MARGIN_MS = 1_000;

export class OAuthAuthorizer implements Authorizer {
  readonly #options: OAuthAuthorizerOptions;
  readonly #key: string;
  readonly #backoff: RenewalBackoff;
  #loading: Promise<void> | undefined;
  #loaded = false;
  #signIn: SignIn | undefined;
  #dpop: DpopSession | undefined;
  #renewing: Promise<void> | undefined;
  #replacing: Promise<void> | undefined;
  /** Counts sign-ins and sign-outs: what was read from the store before one is outdated. */
  #adoptions = 0;
  /** The token with which a user was last required; null: no token. */
  #rejectedToken: string | null | undefined;
  /** The token in the store that could not be overwritten. */
  #staleStoredToken: string | undefined;

  constructor(options: OAuthAuthorizerOptions) {
    this.#options = options;
    this.#backoff = new RenewalBackoff(options.monotonicNow);
    this.#key = SignInStore.keyOf(options.serverUrl, options.account);
  }

  get key(): string {
    return this.#key;
  }

  /** The current sign-in; after `load`, the stored one. */
  get signIn(): SignIn | undefined {
    return this.#signIn;
  }

  /** Reads the store, once. */
  load(): Promise<void> {
    this.#loading ??= this.#readStore();
    this.#loading.catch(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Reads the store again; true if it has a token that was not rejected. */
  async reload(): Promise<boolean> {
    await this.#readStore();
    const now = this.#signIn?.tokens?.accessToken;
    return now !== undefined && now !== this.#rejectedToken;
  }

  /** The user has signed in or out. */
  async adopt(signIn: SignIn | undefined): Promise<void> {
    this.#adoptions += 1;
    this.#staleStoredToken = undefined;
    this.#backoff.reset();
    await this.#apply(signIn);
  }

  /** Resolves when no refresh is in progress: a token that was just issued must not get lost. */
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

  async handleRefusal({ status, challenge: header, credentials, retries }: AuthRefusal): Promise<boolean> {
    await this.load();
    const { challenge, wantsNonce } = readChallenge(status, header);
    if (wantsNonce && this.#dpop !== undefined && retries <= MAX_AUTH_RETRIES) return true;
    if (status === 403) return this.#onForbidden(challenge, retries);
    const tokens = this.#signIn?.tokens;
    const replaced = tokens !== undefined && !isSameToken(tokens, credentials);
    // A token that expired in flight was not rejected for another reason.
    const limit = replaced || this.#isExpiring(tokens) ? MAX_RENEWED_RETRIES : MAX_AUTH_RETRIES;
    if (retries >= limit) throw this.#signInRequired(challenge, 'rejected the credentials');
    if (replaced) return true;
    // Many calls are rejected at the same moment: they share one replacement.
    this.#replacing ??= this.#replace(tokens, challenge).finally(() => {
      this.#replacing = undefined;
    });
    await this.#replacing;
    return true;
  }

  /** A rejected token: use a newer one of another process, or refresh it; otherwise a user is required. */
  async #replace(refusedTokens: Tokens | undefined, challenge: Challenge): Promise<void> {
    const { config } = this.#options;
    if (isMachineConfig(config)) return this.#renew(refusedTokens, challenge);
    this.#rejectedToken = refusedTokens?.accessToken ?? null;
    if (await this.reload()) return;
    if (refusedTokens?.refreshToken === undefined) {
      const known = refusedTokens !== undefined;
      throw this.#signInRequired(
        challenge,
        known ? 'no longer accepts the credentials' : 'requires authentication',
      );
    }
    await this.#renew(refusedTokens, challenge);
  }

  /** A valid token was rejected: the server may use a different authorization server now. */
  async #requireSameIssuer(signIn: SignIn, challenge: Challenge, config: OAuthConfig): Promise<void> {
    if (this.#isExpiring(signIn.tokens)) return;
    if (!(await this.#trustsIssuerOf(signIn, challenge, config)))
      throw this.#signInRequired(challenge, 'now uses a different authorization server');
  }

  /** True if the server names a different authorization server than that of the sign-in. */
  async hasIssuerChanged(challenge: Challenge): Promise<boolean> {
    const { config } = this.#options;
    if (isMachineConfig(config) || this.#signIn === undefined) return false;
    return !(await this.#trustsIssuerOf(this.#signIn, challenge, config));
  }

  async #trustsIssuerOf(signIn: SignIn, challenge: Challenge, endpoints: OAuthConfig): Promise<boolean> {
    const { server, serverUrl, fetch } = this.#options;
    try {
      const { issuer } = await findAuthorizationServer({ server, serverUrl, endpoints, challenge, fetch });
      return issuer === signIn.authorizationServer.issuer;
    } catch (error) {
      throw error instanceof TurnbuckleError && error.cause === undefined
        ? error
        : renewalFailed(server, error);
    }
  }

  async #onForbidden(challenge: Challenge, round: number): Promise<boolean> {
    const tokens = this.#signIn?.tokens;
    if (challenge.error !== 'insufficient_scope') {
      this.#rejectedToken = tokens?.accessToken ?? null;
      return false;
    }
    const { config } = this.#options;
    if (tokens === undefined && !isMachineConfig(config))
      throw signInRequired(this.#options, { status: 403, challenge, why: 'requires authentication' });
    const had = tokens?.scope ?? this.#signIn?.requestedScope;
    const scope = computeScopeUnion(had, challenge.scope);
    if (!isMachineConfig(config) || round >= MAX_AUTH_RETRIES || !isStrictScopeSuperset(scope, had))
      throw scopeMissing(this.#options, { scope, challenge });
    await this.#renew(tokens, { ...challenge, scope });
    return true;
  }

  #isExpiring(tokens: Tokens | undefined): boolean {
    if (tokens?.expiresAt === undefined) return false;
    const marginMs = Math.max(renewAheadMs(tokens), MIN_EXPIRY_MARGIN_MS);
    return tokens.expiresAt - this.#options.now() < marginMs;
  }

  #current(request: OutgoingRequest): Credentials | Promise<Credentials> {
    const tokens = this.#signIn?.tokens;
    if (tokens === undefined) return {};
    const { now, config } = this.#options;
    const leftMs = tokens.expiresAt === undefined ? Number.POSITIVE_INFINITY : tokens.expiresAt - now();
    const renewable = tokens.refreshToken !== undefined || isMachineConfig(config);
    if (renewable && leftMs <= 0)
      return this.#renew(tokens, undefined).then(() => this.#present(this.#signIn?.tokens, request));
    // In the background; if it fails there is time for another attempt.
    if (renewable && leftMs < renewAheadMs(tokens) && !this.#backoff.isActive)
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

  /** One refresh for all callers in this process. */
  #renew(used: Tokens | undefined, challenge: Challenge | undefined): Promise<void> {
    this.#renewing ??= this.#backoff
      .run(() => this.#renewLocked(used, challenge))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  /** One refresh for all processes: those that wait for the lock find the work done. */
  #renewLocked(used: Tokens | undefined, challenge: Challenge | undefined): Promise<void> {
    const { store, now } = this.#options;
    const takeNewer = async (stored: SignIn | undefined): Promise<boolean> => {
      const tokens = stored?.tokens;
      const isNewer = tokens !== undefined && tokens.accessToken !== used?.accessToken;
      // On a slow machine the token of another process may already have expired.
      if (!isNewer || (tokens.expiresAt ?? Number.POSITIVE_INFINITY) <= now()) return false;
      await this.#apply(stored);
      return true;
    };
    const isDone = async (): Promise<boolean> => {
      const adoptions = this.#adoptions;
      const stored = await this.#loadStored();
      return adoptions === this.#adoptions && takeNewer(stored);
    };
    return store.withLockUnless(this.#key, isDone, async () => {
      const stored = await this.#loadStored();
      if (await takeNewer(stored)) return;
      const renewed = await this.#obtain(stored, challenge);
      // In this order: after a rotation the old tokens are invalid, even if writing to disk fails.
      this.#staleStoredToken ??= stored?.tokens?.accessToken;
      await this.#apply(renewed);
      await store.save(this.#key, renewed);
      this.#staleStoredToken = undefined;
    });
  }

  async #readStore(): Promise<void> {
    const adoptions = this.#adoptions;
    const stored = await this.#loadStored();
    if (adoptions === this.#adoptions) await this.#apply(stored);
  }

  /** The stored sign-in, unless ours is newer and could not be written. */
  async #loadStored(): Promise<SignIn | undefined> {
    const stored = await this.#options.store.load(this.#key);
    const token = stored?.tokens?.accessToken;
    return token !== undefined && token === this.#staleStoredToken ? this.#signIn : stored;
  }

  async #obtain(stored: SignIn | undefined, challenge: Challenge | undefined): Promise<SignIn> {
    const { config } = this.#options;
    const dpop = this.#dpop;
    if (isMachineConfig(config)) return signInMachine({ ...this.#options, config, stored, challenge, dpop });
    const refreshToken = stored?.tokens?.refreshToken;
    if (stored !== undefined && refreshToken !== undefined) {
      // Only by the process that refreshes: all others wait for it.
      if (challenge !== undefined) await this.#requireSameIssuer(stored, challenge, config);
      return this.#refresh(stored, refreshToken);
    }
    // Another process signed out, or found that the sign-in has ended.
    await this.#apply(stored);
    throw this.#signInRequired(challenge, 'requires authentication');
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
      // The authorization server is unavailable: the sign-in stays valid.
      if (code === undefined || isTransient(error)) throw renewalFailed(server, error);
      if (code !== 'invalid_grant' && code !== 'invalid_client')
        throw this.#signInRequired(undefined, 'could not refresh the credentials');
      // The sign-in has ended. The client is kept, unless it was what was rejected.
      const ended = { ...stored, tokens: undefined };
      if (code === 'invalid_client') await store.delete(this.#key);
      else await store.save(this.#key, ended);
      await this.#apply(code === 'invalid_client' ? undefined : ended);
      throw this.#signInRequired(undefined, 'no longer accepts the credentials');
    }
  }

  async #apply(signIn: SignIn | undefined): Promise<void> {
    for (const secret of [signIn?.tokens?.accessToken, signIn?.tokens?.refreshToken])
      if (secret !== undefined) this.#options.onSecret(secret);
    const key = signIn?.dpopKey;
    if (key?.thumbprint !== this.#dpop?.thumbprint)
      this.#dpop = key === undefined ? undefined : await openDpopSession(key);
    this.#signIn = signIn;
    this.#loaded = true;
    this.#loading = Promise.resolve();
  }

  #signInRequired(challenge: Challenge | undefined, why: string): TurnbuckleError {
    this.#rejectedToken = this.#signIn?.tokens?.accessToken ?? null;
    return signInRequired(this.#options, { status: 401, challenge, why });
  }
}

function isSameToken({ accessToken, scheme }: Tokens, { authorization }: Credentials): boolean {
  return authorization === `${scheme} ${accessToken}`;
}

const isMachineConfig = (config: OAuthConfig | MachineConfig): config is MachineConfig =>
  config.type !== 'oauth';

function readChallenge(
  status: number,
  header: string | undefined,
): { readonly challenge: Challenge; readonly wantsNonce: boolean } {
  // A server can send any byte; our header contains only safe characters.
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
