/**
 * The credentials of one caller at a server: which of its values a connection is opened with. Values are selected before
 * placeholders are filled in, so that a connection needs no value of another caller, and merged afterwards.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../json/is-record.js';
import { OTHER_CALLERS } from './schema/credentials-schema.js';
import type { ServerConfig } from './schema/schema.js';

type TextMap = Readonly<Record<string, string>>;

/** The credentials of a server, or those of one caller. */
interface CredentialValues {
  readonly env?: TextMap | undefined;
  readonly headers?: TextMap | undefined;
  readonly auth?: AuthValues | undefined;
  readonly token?: string | undefined;
}

interface AuthValues {
  readonly type: string;
  readonly headerName?: string | undefined;
  readonly account?: string | undefined;
}

type CredentialsByCaller = Readonly<Record<string, CredentialValues | false | undefined>>;

/** A server's validated configuration, or the entry that it was written as. */
interface CredentialEntry extends CredentialValues {
  readonly credentials?: CredentialsByCaller | undefined;
  readonly url?: unknown;
}

const NO_AUTH: AuthValues = { type: 'none' };

/** Selected configurations, and the ones that they are parts of. */
const wholeConfigs = new WeakMap<ServerConfig, ServerConfig>();

const credentialsOf = (config: object): CredentialsByCaller | undefined =>
  (config as CredentialEntry).credentials;

const ownEntry = (config: object, caller: string): CredentialValues | undefined => {
  const credentials = credentialsOf(config);
  const entry =
    credentials !== undefined && Object.hasOwn(credentials, caller) ? credentials[caller] : undefined;
  return entry === false ? undefined : entry;
};

/** Whether callers can have different credentials at a server. */
export const hasCredentials = (config: ServerConfig): boolean => credentialsOf(config) !== undefined;

/** Whether a caller has credentials of its own at a server. */
export const hasOwnCredentials = (config: ServerConfig, caller: string): boolean =>
  caller !== OTHER_CALLERS && ownEntry(config, caller) !== undefined;

/**
 * Whether a caller with credentials of its own also authenticates with them. Otherwise it uses the sign-in of the
 * server, like everyone else there.
 */
export function hasOwnSignIn(config: object, caller: string): boolean {
  const own = caller === OTHER_CALLERS ? undefined : ownEntry(config, caller);
  if (own === undefined) return false;
  return replacesLogin(own, (config as CredentialEntry).auth);
}

/** Whether a caller's values are sent in place of the login of the server, in whichever header that is. */
function replacesLogin(own: CredentialValues, auth: AuthValues | undefined): boolean {
  const replaced = replacedHeaders(own);
  return replaced.has('authorization') || (auth !== undefined && replaced.has(headerOf(auth)));
}

/** Whether a caller without credentials of its own uses those of the server. */
export const sharesCredentials = (config: ServerConfig): boolean =>
  credentialsOf(config)?.[OTHER_CALLERS] !== false;

/** The configuration that a selected one is part of. */
export const wholeConfigOf = (config: ServerConfig): ServerConfig => wholeConfigs.get(config) ?? config;

/** The values for one caller, or, without a caller, those of the server itself. Placeholders are not filled in yet. */
export function selectCredentials(config: ServerConfig, caller: string | undefined): ServerConfig {
  if (credentialsOf(config) === undefined) return config;
  const selected = selectValues(config, caller);
  wholeConfigs.set(selected, config);
  return selected;
}

/**
 * The same part of the entry of a file that a selected configuration is of its configuration. It is not selected a
 * second time: an entry can have other spellings, and would be read differently.
 */
export function selectAlike<Entry extends object>(entry: Entry, selected: ServerConfig): Entry {
  if (credentialsOf(entry) === undefined) return entry;
  const { credentials, env, headers, auth, token, ...others } = entry as CredentialEntry;
  const part = selected as CredentialEntry;
  return {
    ...others,
    ...(env !== undefined && { env: onlyKeysOf(part.env, env) }),
    ...(headers !== undefined && { headers: onlyKeysOf(part.headers, headers) }),
    ...(auth !== undefined && { auth: part.auth?.type === 'none' ? NO_AUTH : part.auth && auth }),
    ...(token !== undefined && { token: part.token && token }),
    ...(part.credentials !== undefined && { credentials: onlyKeysOf(part.credentials, credentials) }),
  } as Entry;
}

/** Without the values that the caller's replace: their placeholders need no value. */
function selectValues<Entry extends object>(whole: Entry, caller: string | undefined): Entry {
  const { credentials: _, ...entry } = whole as CredentialEntry;
  const own = caller === undefined ? undefined : ownEntry(whole, caller);
  if (caller === undefined || own === undefined) return entry as Entry;
  const { env, headers, auth, token } = entry;
  const replaced = replacedHeaders(own);
  return {
    ...entry,
    ...(env !== undefined && { env: without(env, (name) => Object.hasOwn(own.env ?? {}, name)) }),
    ...(headers !== undefined && { headers: without(headers, (name) => replaced.has(name.toLowerCase())) }),
    // Its own header is its login: it does not sign in as somebody else instead.
    ...(auth !== undefined && {
      auth: own.auth !== undefined ? undefined : replacesLogin(own, auth) ? NO_AUTH : auth,
    }),
    ...(token !== undefined && { token: replaced.has('authorization') ? undefined : token }),
    credentials: { [caller]: own },
  } as Entry;
}

/** The configuration for the connection of a caller, from a selected one with its placeholders filled in. */
export function applyCredentials(filled: ServerConfig, caller: string | undefined): ServerConfig {
  if (caller === undefined) return filled;
  const own = ownEntry(filled, caller);
  if (own === undefined) throw credentialsLost(caller);
  const { credentials: _, ...entry } = filled as CredentialEntry;
  const { env, headers, auth, token } = own;
  return {
    ...entry,
    ...(env !== undefined && { env: { ...entry.env, ...env } }),
    ...(headers !== undefined && { headers: { ...entry.headers, ...headers } }),
    ...(auth !== undefined && { auth: withAccount(auth, caller) }),
    ...(token !== undefined && { token }),
    ...(replacedHeaders(own).has('authorization') && withoutUserInfo(entry)),
  } as ServerConfig;
}

/** The environment variables that an entry sets, for all callers and for single ones: their keys in it, and their maps. */
export function environmentsOf(
  entry: Readonly<Record<string, unknown>>,
): Array<{ readonly keys: readonly string[]; readonly env: Readonly<Record<string, unknown>> }> {
  const own = isRecord(entry.env) ? [{ keys: ['env'], env: entry.env }] : [];
  const byCaller = Object.entries(isRecord(entry.credentials) ? entry.credentials : {});
  return [
    ...own,
    ...byCaller.flatMap(([caller, values]) =>
      isRecord(values) && isRecord(values.env)
        ? [{ keys: ['credentials', caller, 'env'], env: values.env }]
        : [],
    ),
  ];
}

/** In lower case: header names ignore it, and two headers of one name would both be sent. */
function replacedHeaders({ headers = {}, auth, token }: CredentialValues): ReadonlySet<string> {
  return new Set([
    ...Object.keys(headers).map((name) => name.toLowerCase()),
    ...(auth === undefined ? [] : [headerOf(auth), 'authorization']),
    ...(token === undefined ? [] : ['authorization']),
  ]);
}

const headerOf = ({ headerName = 'Authorization' }: AuthValues): string => headerName.toLowerCase();

/** Types whose tokens are stored, by account. */
const STORED_TYPES: ReadonlySet<string> = new Set([
  'oauth',
  'client-credentials',
  'workload-identity',
  'enterprise',
]);

/** Without an account of its own, a caller would use the stored tokens of the server. */
const withAccount = (auth: AuthValues, caller: string): AuthValues =>
  STORED_TYPES.has(auth.type) ? { ...auth, account: auth.account ?? `agent:${caller}` } : auth;

/** A user name and password in the URL are an Authorization header too. */
function withoutUserInfo({ url }: CredentialEntry): { readonly url?: string } {
  if (typeof url !== 'string' || !URL.canParse(url)) return {};
  const address = new URL(url);
  if (address.username === '' && address.password === '') return {};
  address.username = '';
  address.password = '';
  return { url: address.href };
}

const onlyKeysOf = (kept: object = {}, map: object = {}): object =>
  Object.fromEntries(Object.entries(map).filter(([name]) => Object.hasOwn(kept, name)));

const without = (map: TextMap, isLeftOut: (name: string) => boolean): TextMap =>
  Object.fromEntries(Object.entries(map).filter(([name]) => !isLeftOut(name)));

/** A host that fills in placeholders itself has to keep them: otherwise the caller would act as the server's own. */
const credentialsLost = (caller: string): TurnbuckleError =>
  new TurnbuckleError(
    'CONFIG_INVALID',
    `The configuration that "resolve" returned has no credentials for "${caller}".`,
    {
      hint: '"resolve" must return the configuration passed to it, including "credentials", with the placeholders filled in.',
    },
  );
