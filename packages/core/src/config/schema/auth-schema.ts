/** The `auth` block of a remote server. Secrets in it should be placeholders. */
import * as z from 'zod/mini';
import { list } from './max-entries.js';

const text = z.string().check(z.minLength(1), z.maxLength(32_768));
const short = z.string().check(z.minLength(1), z.maxLength(1_024));
const url = short.check(
  z.regex(/^[hH][tT][tT][pP][sS]?:\/\/|\$\{/, { error: 'expected an http:// or https:// URL' }),
);
const headerName = short.check(
  z.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'expected an HTTP header name' }),
);
const scopes = z.optional(list(short, 200));

/** The authorization server, if it should not be discovered. */
const places = {
  issuer: z.optional(url),
  tokenUrl: z.optional(url),
};

const client = { clientId: short, clientSecret: z.optional(text) };

/** A type with its other spellings, which are accepted and never passed on. */
const spelled = <Name extends string, Other extends string>(name: Name, ...others: readonly Other[]) =>
  z.pipe(
    z.literal([name, ...others]),
    z.transform(() => name),
  );

const none = z.strictObject({ type: z.literal('none') });

const bearer = z.strictObject({ type: z.literal('bearer'), token: text });

const apiKey = z.strictObject({
  type: spelled('api-key', 'apiKey', 'api_key', 'apikey'),
  apiKey: text,
  headerName: z._default(headerName, 'X-API-Key'),
});

const tokenFile = z.strictObject({
  type: spelled('token-file', 'tokenFile', 'token_file'),
  /** Read again whenever it changes. */
  tokenPath: short,
  headerName: z._default(headerName, 'Authorization'),
  /** The prefix of the token; by default `Bearer ` for the Authorization header. */
  prefix: z.optional(z.string().check(z.maxLength(64))),
});

const oauth = z.strictObject({
  type: z.literal('oauth'),
  ...places,
  clientId: z.optional(short),
  clientSecret: z.optional(text),
  /** The https URL of a client id metadata document, which is then the client id. */
  clientMetadataUrl: z.optional(url),
  authUrl: z.optional(url),
  deviceUrl: z.optional(url),
  registrationUrl: z.optional(url),
  revocationUrl: z.optional(url),
  /** For a client that was registered with one: `http://127.0.0.1:<port>/<path>`. */
  redirectUri: z.optional(url),
  scopes,
  /** Keeps sign-ins of different accounts on one server separate. */
  account: z.optional(short),
  /** Binds tokens to a key of this machine (RFC 9449); absent: if the server requires it. */
  dpop: z.optional(z.boolean()),
});

const clientCredentials = z.strictObject({
  type: z.literal('client-credentials'),
  ...places,
  ...client,
  /** A private key (PEM) for client authentication instead of a secret; or the path of its file. */
  privateKey: z.optional(text),
  privateKeyPath: z.optional(short),
  algorithm: z._default(short, 'ES256'),
  scopes,
  account: z.optional(short),
  dpop: z.optional(z.boolean()),
});

const workloadIdentity = z.strictObject({
  type: z.literal('workload-identity'),
  ...places,
  clientId: z.optional(short),
  /** The JWT of the workload from the platform; or the path of its file, which the platform keeps current. */
  assertion: z.optional(text),
  assertionPath: z.optional(short),
  scopes,
  account: z.optional(short),
});

const enterprise = z.strictObject({
  type: z.literal('enterprise'),
  ...places,
  ...client,
  /** The identity provider that grants the user access to the server. */
  idp: z.strictObject({
    tokenUrl: url,
    clientId: short,
    clientSecret: z.optional(text),
    idToken: z.optional(text),
    idTokenPath: z.optional(short),
  }),
  scopes,
  account: z.optional(short),
});

export const AUTH_SCHEMA = z.discriminatedUnion('type', [
  none,
  bearer,
  apiKey,
  tokenFile,
  oauth,
  clientCredentials,
  workloadIdentity,
  enterprise,
]);

export type AuthConfig = z.output<typeof AUTH_SCHEMA>;
export type OAuthConfig = z.output<typeof oauth>;
export type MachineConfig = Extract<
  AuthConfig,
  { type: 'client-credentials' | 'workload-identity' | 'enterprise' }
>;
