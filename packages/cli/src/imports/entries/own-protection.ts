/** The `auth` and `sandbox` of a server of ours, cut down to what other clients can have. */
import type { MutableDraft } from '../dialect.js';
import { type Entry, isEntry } from '../formats/plain-value.js';
import type { FieldReader } from './field-reader.js';
import type { OAuthDraft, SandboxDraft } from './imported-server.js';

const OAUTH_TEXTS = [
  'clientId',
  'clientSecret',
  'clientMetadataUrl',
  'issuer',
  'authUrl',
  'tokenUrl',
  'registrationUrl',
  'revocationUrl',
  'redirectUri',
] as const satisfies readonly (keyof OAuthDraft)[];

/** Answers the keys that no other client has. */
export function readOwnAuth(draft: MutableDraft, fields: FieldReader): string[] {
  const auth = fields.any('auth');
  if (auth === undefined) return [];
  if (!isEntry(auth)) return ['auth'];
  const { type, token, apiKey, headerName = 'X-API-Key' } = auth;
  if (type === 'none') draft.auth = { type };
  else if (type === 'oauth') return readOwnOAuth(draft, auth);
  else if (type === 'bearer' && typeof token === 'string')
    setHeader(draft, 'Authorization', `Bearer ${token}`);
  else if (/^api-?key$/i.test(String(type)) && typeof apiKey === 'string' && typeof headerName === 'string')
    setHeader(draft, headerName, apiKey);
  else return [typeof type === 'string' ? `auth of type ${type}` : 'auth'];
  return [];
}

function readOwnOAuth(draft: MutableDraft, auth: Entry): string[] {
  const { type: _, scopes, ...rest } = auth;
  const texts = OAUTH_TEXTS.flatMap((key) => (typeof rest[key] === 'string' ? [[key, rest[key]]] : []));
  const areTexts = Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string');
  draft.auth = {
    type: 'oauth',
    ...Object.fromEntries(texts),
    ...(areTexts && scopes.length > 0 ? { scopes } : {}),
  };
  const known: readonly string[] = OAUTH_TEXTS;
  return Object.keys(rest)
    .filter((key) => !known.includes(key))
    .map((key) => `auth.${key}`);
}

/** The credential of `auth` replaces a header of the same name. */
function setHeader(draft: MutableDraft, name: string, value: string): void {
  const others = Object.entries(draft.headers ?? {}).filter(
    ([header]) => header.toLowerCase() !== name.toLowerCase(),
  );
  draft.headers = Object.fromEntries([...others, [name, value]]);
}

/** Answers the keys that no other client has. */
export function readOwnSandbox(draft: MutableDraft, fields: FieldReader): string[] {
  const sandbox = fields.any('sandbox');
  if (sandbox === undefined || sandbox === false) return [];
  if (sandbox === true || isPreset(sandbox)) {
    draft.sandbox = sandbox;
    return [];
  }
  if (!isEntry(sandbox)) return ['sandbox'];
  const { preset, write, network, ...rest } = sandbox;
  draft.sandbox = {
    ...(isPreset(preset) ? { preset } : {}),
    ...(Array.isArray(write) && write.every((path) => typeof path === 'string') ? { write } : {}),
    ...(typeof network === 'boolean' ? { network } : {}),
  };
  return Object.keys(rest).map((key) => `sandbox.${key}`);
}

const isPreset = (value: unknown): value is NonNullable<SandboxDraft['preset']> =>
  value === 'strict' || value === 'offline' || value === 'standard';
