/** The credentials that the connections of one server present. */
import type { AuthConfig, MachineConfig, OAuthConfig } from '../config/schema/auth-schema.js';
import type { HttpServer, SseServer, WebSocketServer } from '../config/schema/schema.js';
import type { Authorizer, Credentials } from './authorizer.js';
import type { OAuthAuthorizer } from './oauth-authorizer.js';
import type { SignInNetwork } from './sign-in-network.js';
import type { SignInStore } from './sign-in-store.js';
import { staticCredential } from './static-credential.js';
import type { TokenFile } from './token-file.js';

/** A server that accepts a sign-in. */
export type RemoteServer = HttpServer | SseServer | WebSocketServer;

export interface ServerAuth {
  readonly auth: AuthConfig;
  readonly url: string;
  readonly authorizer: Authorizer | undefined;
  readonly oauth: OAuthAuthorizer | undefined;
  readonly tokenFile?: TokenFile | undefined;
}

export interface ServerAuthParts {
  /** For timestamps. */
  readonly now: () => number;
  /** For durations. */
  readonly monotonicNow: () => number;
  /** Receives every value that must not be shown. */
  readonly onSecret: (value: string) => void;
  readonly openStore: () => Promise<SignInStore>;
}

const DEFAULT_OAUTH: OAuthConfig = { type: 'oauth' };

export async function createServerAuth(
  { name: server, agent }: { readonly name: string; readonly agent?: string | undefined },
  config: RemoteServer,
  { now, monotonicNow, onSecret, openStore }: ServerAuthParts,
): Promise<ServerAuth> {
  const auth = authOf(config);
  const { url } = config;
  const fixed = staticCredential(auth);
  if (fixed !== undefined) return { auth, url, authorizer: staticAuthorizer(fixed), oauth: undefined };
  if ('tokenPath' in auth) {
    const { TokenFile } = await import('./token-file.js');
    const tokenFile = new TokenFile(server, auth, monotonicNow);
    return { auth, url, authorizer: reportingAuthorizer(tokenFile, onSecret), oauth: undefined, tokenFile };
  }
  const oauthConfig = auth as OAuthConfig | MachineConfig;
  const [{ OAuthAuthorizer }, store] = await Promise.all([import('./oauth-authorizer.js'), openStore()]);
  const oauth = new OAuthAuthorizer({
    server,
    agent,
    serverUrl: url,
    config: oauthConfig,
    optional: config.auth === undefined,
    account: accountOf(auth),
    store,
    fetch: (await networkOf(url, auth)).fetch,
    now,
    monotonicNow,
    onSecret,
  });
  return { auth, url, authorizer: oauth, oauth };
}

/**
 * A server without an `auth` block can be signed in to when it requires it, unless its headers already authenticate.
 */
export function authOf({ auth, headers }: RemoteServer): AuthConfig {
  if (auth !== undefined) return auth;
  const said = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return said ? { type: 'none' } : DEFAULT_OAUTH;
}

export const accountOf = (auth: AuthConfig): string =>
  ('account' in auth ? auth.account : undefined) ?? 'default';

const staticAuthorizer = (credentials: Readonly<Record<string, string>>): Authorizer => ({
  headers: () => credentials,
  handleRefusal: async () => false,
});

/** The same, and reports the credentials once per change. */
function reportingAuthorizer(file: TokenFile, onSecret: (value: string) => void): Authorizer {
  let reported: Credentials | undefined;
  const tell = (credentials: Credentials): Credentials => {
    if (credentials !== reported) for (const value of Object.values(credentials)) onSecret(value);
    reported = credentials;
    return credentials;
  };
  return {
    headers: () => {
      const credentials = file.headers();
      return credentials instanceof Promise ? credentials.then(tell) : tell(credentials);
    },
    handleRefusal: (refused) => file.handleRefusal(refused),
  };
}

export async function networkOf(serverUrl: string, auth: AuthConfig): Promise<SignInNetwork> {
  const { createSignInNetwork } = await import('./sign-in-network.js');
  return createSignInNetwork(serverUrl, auth);
}
