/** How a client signs in to a remote server, read into our `auth` block. */
import type { Dialect, MutableDraft, OAuthKeys, OAuthSetting } from '../dialect.js';
import type { FieldReader } from './field-reader.js';
import type { OAuthDraft } from './imported-server.js';

/** What our configuration accepts; anything else is left, and so it is listed as not imported. */
const MAX_TEXT_LENGTH = 32_768;
const MAX_SETTING_LENGTH = 1_024;
const MAX_SCOPES = 200;
const URL_SETTING = /^https?:\/\/|\$\{/i;
/** The browser returns to this machine, where nobody else's address leads. */
const REDIRECT_URI = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?(?:\/|$)|\$\{/i;

interface AuthContext {
  readonly oauth: OAuthKeys;
  readonly turn: (text: string, spot: string) => string;
}

/** With an Authorization header nobody has to sign in, so the settings of the sign-in are left. */
export function readAuth(draft: MutableDraft, fields: FieldReader, context: AuthContext): void {
  if (Object.keys(draft.headers ?? {}).some((name) => name.toLowerCase() === 'authorization')) return;
  const { oauth } = context;
  if (takeExactly(fields, oauth.off)) {
    draft.auth = { type: 'none' };
    return;
  }
  const isOn = takeExactly(fields, oauth.on);
  const settings = { ...readPort(fields, oauth, draft.url ?? ''), ...readSettings(fields, context) };
  if (isOn || Object.keys(settings).length > 0) draft.auth = { type: 'oauth', ...settings };
}

/** Every key of an entry that says something about OAuth. */
export function oauthKeys({ oauth }: Dialect): string[] {
  if (oauth === undefined) return [];
  const special = [oauth.port?.key, oauth.on?.key, oauth.off?.key].filter((key) => key !== undefined);
  return [...Object.values(oauth.keys).flat(), ...special, ...(oauth.ownedKeys ?? [])];
}

/** The client's spellings of a setting, the one to write first. */
export const spellingsOf = ({ keys }: OAuthKeys, setting: OAuthSetting): readonly string[] =>
  [keys[setting] ?? []].flat();

function takeExactly(fields: FieldReader, wanted: OAuthKeys['on']): boolean {
  if (wanted === undefined || fields.rest()[wanted.key] !== wanted.value) return false;
  fields.any(wanted.key);
  return true;
}

function readPort(
  fields: FieldReader,
  { port }: OAuthKeys,
  serverUrl: string,
): Pick<OAuthDraft, 'redirectUri'> {
  const given = port === undefined ? undefined : fields.rest()[port.key];
  if (port === undefined || typeof given !== 'number') return {};
  if (!Number.isInteger(given) || given < 1 || given > 65_535) return {};
  fields.any(port.key);
  return { redirectUri: port.uri(given, serverUrl) };
}

function readSettings(fields: FieldReader, { oauth, turn }: AuthContext): Partial<OAuthDraft> {
  const found: [string, string | readonly string[]][] = [];
  for (const setting of Object.keys(oauth.keys) as OAuthSetting[])
    for (const key of spellingsOf(oauth, setting)) {
      if (found.some(([known]) => known === setting)) break;
      const given = fields.rest()[key];
      const value =
        setting === 'scopes'
          ? scopesIn(given)?.map((scope) => turn(scope, key))
          : textIn(given, setting, (text) => turn(text, key));
      if (value === undefined) continue;
      fields.any(key);
      if (value.length > 0) found.push([setting, value]);
    }
  return Object.fromEntries(found);
}

function textIn(value: unknown, setting: OAuthSetting, turn: (text: string) => string): string | undefined {
  const most = setting === 'clientSecret' ? MAX_TEXT_LENGTH : MAX_SETTING_LENGTH;
  if (typeof value !== 'string' || value.length > most) return undefined;
  const text = turn(value);
  return text === '' || (text.length <= most && patternOf(setting).test(text)) ? text : undefined;
}

function patternOf(setting: OAuthSetting): RegExp {
  if (setting === 'redirectUri') return REDIRECT_URI;
  return setting === 'issuer' || setting.endsWith('Url') ? URL_SETTING : /^/;
}

/** A list, or one text with spaces between the scopes. */
function scopesIn(value: unknown): string[] | undefined {
  if (typeof value === 'string' && value.length > MAX_TEXT_LENGTH) return undefined;
  const scopes: unknown = typeof value === 'string' ? value.split(/\s+/) : value;
  if (!Array.isArray(scopes)) return undefined;
  const texts = scopes.filter((scope): scope is string => typeof scope === 'string' && scope !== '');
  const isFine = texts.length <= MAX_SCOPES && texts.every(({ length }) => length <= MAX_SETTING_LENGTH);
  return isFine && scopes.every((scope) => typeof scope === 'string') ? texts : undefined;
}
