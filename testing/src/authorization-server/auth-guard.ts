import { randomBytes } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { isObject, toObject } from '../kernel/json.js';
import type { AuthorizationServer, TokenFacts } from './authorization-server.js';
import { DpopVerifier } from './dpop-verifier.js';

/** A request that the guard has checked. */
export interface GuardedRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly status: number;
  /** The JSON-RPC method, and the tool of a call. */
  readonly rpc?: string | undefined;
  readonly tool?: string | undefined;
}

export interface Refusal {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
}

export interface AuthGuardOptions {
  authorizationServer: AuthorizationServer;
  /** The scope that every request needs. */
  readonly scope?: string | undefined;
  /** Additional scopes for calls of a tool. */
  readonly toolScopes?: Readonly<Record<string, string>> | undefined;
  /** Tokens must be bound to a key; with `nonce`, proofs need a nonce of the server too. */
  readonly dpop?: 'required' | 'nonce' | undefined;
}

/** Lets requests with a valid token pass, and refuses others with a challenge. */
export class AuthGuard {
  readonly requests: GuardedRequest[] = [];
  /** Tokens that were accepted. */
  readonly admitted = new Set<string>();
  /** Replaces the challenge of every refusal. */
  challenge: string | undefined;
  /** Refuses every token. */
  closed = false;
  authorizationServer: AuthorizationServer;
  /** The resource identifier in the server's metadata: the required audience of tokens. */
  resource = '';
  readonly #options: AuthGuardOptions;
  readonly #proofs = new DpopVerifier();
  readonly #nonce = randomBytes(9).toString('base64url');

  constructor(options: AuthGuardOptions) {
    this.#options = options;
    this.authorizationServer = options.authorizationServer;
  }

  /** Undefined: the request may pass. */
  async check(
    request: IncomingMessage,
    { url, body }: { url: URL; body: unknown },
  ): Promise<Refusal | undefined> {
    const refusal = await this.#authorize(request, url, body);
    const { method, params } = toObject(body);
    const name = toObject(params).name;
    this.requests.push({
      method: request.method ?? '',
      path: url.pathname,
      authorization: request.headers.authorization,
      status: refusal?.status ?? 200,
      ...(typeof method === 'string' && { rpc: method }),
      ...(typeof name === 'string' && { tool: name }),
    });
    return refusal;
  }

  /** Who the token of a request is for. */
  async subjectOf(authorization = ''): Promise<string | undefined> {
    const [, token = ''] = authorization.split(' ');
    return (await this.authorizationServer.inspect(token))?.subject;
  }

  async #authorize(request: IncomingMessage, url: URL, body: unknown): Promise<Refusal | undefined> {
    const { dpop, scope } = this.#options;
    const scheme = dpop === undefined ? 'Bearer' : 'DPoP';
    const refuse = (status: number, parameters: Readonly<Record<string, string>>): Refusal => {
      const { origin, pathname } = new URL(this.resource);
      const metadata = `${origin}/.well-known/oauth-protected-resource${pathname}`;
      const all = { ...parameters, resource_metadata: metadata };
      const text = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
      const nonce = dpop === 'nonce' ? { 'dpop-nonce': this.#nonce } : {};
      return {
        status,
        headers: { ...nonce, 'www-authenticate': this.challenge ?? `${scheme} ${text.join(', ')}` },
      };
    };
    const token = new RegExp(`^${scheme} (.+)$`).exec(request.headers.authorization ?? '')?.[1];
    const wanted: Record<string, string> = scope === undefined ? {} : { scope };
    if (token === undefined) return refuse(401, wanted);
    const facts = this.closed ? undefined : await this.authorizationServer.inspect(token);
    if (facts?.audience !== this.resource) return refuse(401, { ...wanted, error: 'invalid_token' });
    if (dpop !== undefined) {
      const proof = this.#proofs.check(String(request.headers.dpop), {
        method: request.method ?? '',
        url: `${url.origin}${url.pathname}`,
        token,
      });
      if (proof?.thumbprint !== facts.boundTo) return refuse(401, { error: 'invalid_dpop_proof' });
      if (dpop === 'nonce' && proof?.nonce !== this.#nonce) return refuse(401, { error: 'use_dpop_nonce' });
    }
    const missing = this.#missingScope(facts, body);
    if (missing !== undefined) return refuse(403, { error: 'insufficient_scope', scope: missing });
    this.admitted.add(token);
    return undefined;
  }

  #missingScope({ scopes }: TokenFacts, body: unknown): string | undefined {
    const { scope, toolScopes = {} } = this.#options;
    const { method, params } = isObject(body) ? body : {};
    const needed = method === 'tools/call' ? [scope, toolScopes[String(toObject(params).name)]] : [scope];
    return needed.find((name) => name !== undefined && !scopes.has(name));
  }
}
