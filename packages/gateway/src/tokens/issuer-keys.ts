/** The public keys of a token issuer: discovered by its metadata, fetched when needed, at a limited rate. */
import type { CryptoKey, FlattenedJWSInput, JWTHeaderParameters, RemoteJWKSet } from 'jose';
import { TurnbuckleError } from 'turnbuckle';
import * as z from 'zod/mini';

/** Fetches documents of the issuer; it must guard against redirects into the private network. */
export type IssuerFetch = (
  url: string,
  init: {
    readonly method: 'GET';
    readonly headers: Headers;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

export interface IssuerKeysOptions {
  readonly issuer: string;
  /** Where the keys are; absent: discovered by the issuer's metadata. */
  readonly jwksUri?: string | undefined;
  readonly fetch: IssuerFetch;
  /** From a monotonic clock. */
  readonly now: () => number;
}

const TIMEOUT_MS = 5_000;
/** After a failure, and for tokens with an unknown key: unauthenticated clients must not make us flood the issuer. */
const COOLDOWN_MS = 10_000;

const Metadata = z.object({ issuer: z.string(), jwks_uri: z.string() });

export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #keys: Promise<RemoteJWKSet> | undefined;
  #failure: { readonly at: number; readonly error: TurnbuckleError } | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** The key of a token. CONNECT_FAILED if the issuer is unreachable; an error of jose if it has no such key. */
  readonly find = async (header: JWTHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> => {
    this.#keys ??= this.#discover();
    const keys = await this.#keys.catch((error: unknown) => {
      this.#keys = undefined;
      throw error;
    });
    const { errors } = await import('jose');
    return keys(header, token).catch((error: unknown) => {
      const unusable = error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
      throw unusable ? this.#fail(error) : error;
    });
  };

  async #discover(): Promise<RemoteJWKSet> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const { issuer, jwksUri = await this.#fetchJwksUri() } = this.#options;
    const url = new URL(jwksUri);
    if (url.protocol !== 'https:' && url.protocol !== new URL(issuer).protocol)
      throw this.#fail(new Error('jwks_uri is not an https URL'));
    return createRemoteJWKSet(url, {
      timeoutDuration: TIMEOUT_MS,
      cooldownDuration: COOLDOWN_MS,
      [customFetch]: (at: string) => this.#get(at),
    });
  }

  async #fetchJwksUri(): Promise<string> {
    for (const url of metadataUrls(this.#options.issuer)) {
      const response = await this.#get(url, [200, 404]);
      if (response.status !== 200) continue;
      const { data } = z.safeParse(Metadata, await response.json().catch(() => undefined));
      // Must be identical: metadata of another issuer must not provide keys (RFC 8414, section 3.3).
      if (data?.issuer === this.#options.issuer) return data.jwks_uri;
      throw this.#fail(new Error(`the metadata at ${url} names a different issuer`));
    }
    throw this.#fail(new Error('no metadata found'));
  }

  async #get(url: string, good: readonly number[] = [200]): Promise<Response> {
    if (this.#failure !== undefined && this.#options.now() - this.#failure.at < COOLDOWN_MS)
      throw this.#failure.error;
    try {
      const response = await this.#options.fetch(url, {
        method: 'GET',
        headers: new Headers({ accept: 'application/json' }),
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (good.includes(response.status)) return response;
      throw new Error(`${url} returned HTTP ${response.status}`);
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #fail(cause: unknown): TurnbuckleError {
    const because = cause instanceof Error ? cause.message : String(cause);
    const text = `Cannot load the keys of the token issuer ${this.#options.issuer}: ${because}.`;
    const hint = 'Try again later. If the problem persists, check daemon.issuer in your configuration.';
    const error = new TurnbuckleError('CONNECT_FAILED', text, { hint, cause });
    this.#failure = { at: this.#options.now(), error };
    return error;
  }
}

/** RFC 8414 puts the well-known part before the path, OpenID Connect after it. */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const urls = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  );
  return path === '' ? urls : [...urls, `${origin}${path}/.well-known/openid-configuration`];
}
