/** Our `auth` block in a client's own keys; what it has no key for is named. */
import type { Dialect, OAuthKeys, OAuthSetting } from '../dialect.js';
import { setDotted } from './dotted-keys.js';
import type { AuthDraft } from './imported-server.js';
import { spellingsOf } from './read-auth.js';

interface WriteAuthContext {
  readonly dialect: Dialect;
  readonly label: string;
  readonly notes: string[];
  readonly serverUrl: string;
  /** Puts a text into the client's placeholders. */
  readonly turn: (text: string) => string;
}

export function writeAuth(auth: AuthDraft, entry: Record<string, unknown>, context: WriteAuthContext): void {
  const { label, notes } = context;
  const { oauth } = context.dialect;
  if (auth.type === 'none') {
    if (oauth?.off === undefined) notes.push(`${label} cannot turn off sign-in ("auth": { "type": "none" })`);
    else setDotted(entry, oauth.off.key, oauth.off.value);
    return;
  }
  const { type: _, ...settings } = auth;
  if (oauth?.on !== undefined) setDotted(entry, oauth.on.key, oauth.on.value);
  const lost = Object.entries(settings).filter(
    ([setting, value]: [string, string | readonly string[]]) =>
      oauth === undefined || !writeSetting([setting as OAuthSetting, value], entry, { ...context, oauth }),
  );
  if (lost.length > 0)
    notes.push(`${label} does not support ${lost.map(([setting]) => `auth.${setting}`).join(', ')}`);
}

/** False when the client has no place for it. */
function writeSetting(
  [setting, value]: readonly [OAuthSetting, string | readonly string[]],
  entry: Record<string, unknown>,
  { oauth, turn, serverUrl }: WriteAuthContext & { oauth: OAuthKeys },
): boolean {
  const [key] = spellingsOf(oauth, setting);
  if (typeof value !== 'string') {
    if (key === undefined || (oauth.scopesAs === 'text' && value.some((scope) => /\s/.test(scope))))
      return false;
    const scopes = value.map(turn);
    setDotted(entry, key, oauth.scopesAs === 'text' ? scopes.join(' ') : scopes);
    return true;
  }
  const port = setting === 'redirectUri' ? portIn(value, oauth, serverUrl) : undefined;
  if (port !== undefined && oauth.port !== undefined) setDotted(entry, oauth.port.key, port);
  else if (key !== undefined) setDotted(entry, key, turn(value));
  else return false;
  return true;
}

/** The port, if the rest of the URI is the one that the client uses. */
function portIn(uri: string, { port }: OAuthKeys, serverUrl: string): number | undefined {
  const number = URL.canParse(uri) ? Number(new URL(uri).port) : 0;
  return number > 0 && port?.uri(number, serverUrl) === uri ? number : undefined;
}
