import type { Server } from 'node:http';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { toObject } from '../kernel/json.js';
import { listenOnLoopback } from '../transports/loopback.js';
import type { Fault, Route } from './fault.js';
import { INTERACTION_PATH, interact, type Person } from './interaction.js';
import { readJwt } from './jwt.js';
import { createProvider, type ProviderOptions, SIGNING } from './provider.js';
import { RequestLog } from './request-log.js';

/** What a resource server learns about a valid token. */
export interface TokenFacts {
  readonly scopes: ReadonlySet<string>;
  readonly audience: string;
  /** The thumbprint of the key that it is bound to. */
  readonly boundTo?: string | undefined;
  readonly subject?: string | undefined;
}

const ROUTES: Readonly<Record<string, Route>> = {
  '/.well-known/oauth-authorization-server': 'metadata',
  '/.well-known/openid-configuration': 'metadata',
  '/authorize': 'authorize',
  '/token': 'token',
  '/register': 'register',
  '/revoke': 'revoke',
  '/device/start': 'device',
};

/** A real authorization server on loopback, with a simulated user, a request log and configurable faults. */
export class AuthorizationServer {
  readonly issuer: string;
  readonly requestLog = new RequestLog();
  /** The active faults, by route. */
  readonly faults = new Map<Route, Fault>();
  readonly person: Person = { name: 'ada', consents: true };
  /** The lifetime of access tokens that are issued from now on. */
  accessTokenSeconds: number;
  readonly provider: Provider;
  readonly #server: Server;

  constructor(server: Server, origin: string, options: ProviderOptions) {
    this.#server = server;
    this.issuer = origin;
    this.accessTokenSeconds = options.accessTokenSeconds ?? 3_600;
    this.provider = createProvider(origin, options, () => this.accessTokenSeconds);
    this.provider.use((context, next) => this.#serve(context as KoaContextWithOIDC, next));
    server.on('request', this.provider.callback());
  }

  /** Facts about a token that is valid now; undefined for any other. */
  async inspect(token: string): Promise<TokenFacts | undefined> {
    const jwt = readJwt(token);
    if (jwt?.isSignedBy(SIGNING.publicKey)) {
      const { scope, aud, exp, cnf, sub } = jwt.claims;
      if (Number(exp) * 1_000 <= Date.now() || jwt.claims.iss !== this.issuer) return undefined;
      const boundTo = toObject(cnf).jkt;
      return {
        scopes: toScopes(scope),
        audience: String(aud),
        subject: String(sub),
        ...(typeof boundTo === 'string' && { boundTo }),
      };
    }
    const { AccessToken, ClientCredentials } = this.provider;
    const person = await AccessToken.find(token);
    const found = person ?? (await ClientCredentials.find(token));
    if (found === undefined) return undefined;
    const { scope, aud, jkt } = found;
    return { scopes: toScopes(scope), audience: String(aud), boundTo: jkt, subject: person?.accountId };
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(context: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> {
    if (context.path.startsWith(INTERACTION_PATH)) return interact(this.provider, context, this.person);
    const route = ROUTES[context.path] ?? (context.path.startsWith('/authorize/') ? 'authorize' : 'other');
    const fault = this.faults.get(route);
    if ((await fault?.before?.(context)) !== true) {
      await next();
      await fault?.after?.(context);
    }
    this.#record(route, context);
  }

  #record(route: Route, context: KoaContextWithOIDC): void {
    // Resuming an interaction is not a separate authorization request.
    if (context.path.startsWith('/authorize/')) return;
    const parameters = toObject(Reflect.get(context, 'oidc')?.params);
    const { grant_type: grantType, client_id: clientId } = parameters;
    const { error } = toObject(context.body);
    this.requestLog.record({
      route,
      status: context.status,
      at: performance.now(),
      parameters,
      authorization: context.get('authorization') || undefined,
      ...(typeof grantType === 'string' && { grantType }),
      ...(typeof clientId === 'string' && { clientId }),
      ...(typeof error === 'string' && { error }),
    });
  }
}

const toScopes = (scope: unknown): ReadonlySet<string> => new Set(String(scope ?? '').split(' '));

/** Starts an authorization server on a free port of this machine. */
export async function startAuthorizationServer(options: ProviderOptions = {}): Promise<AuthorizationServer> {
  const { server, origin } = await listenOnLoopback(0);
  return new AuthorizationServer(server, origin, options);
}
