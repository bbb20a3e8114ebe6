// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are texts here
/** Random servers that the dialect of a client can express completely. */
import fc from 'fast-check';
import type { Client } from '../../src/imports/client.js';
import type { Dialect, OAuthSetting } from '../../src/imports/dialect.js';
import type { AuthDraft } from '../../src/imports/entries/imported-server.js';
import { type PlaceholderStyle, TURNBUCKLE_STYLE } from '../../src/imports/entries/placeholders.js';
import { spellingsOf } from '../../src/imports/entries/read-auth.js';
import type { ServerDraft } from '../../src/imports/index.js';

const PLACEHOLDERS = [
  '${TOKEN}',
  '${A_B:-x y}',
  '${A_B:-}',
  '${env:workspaceFolder}',
  '${input:my-id}',
  '${secret:A.b}',
  '${workspaceFolder}',
  '${userHome}',
];

/** Texts that need quoting in some format, but contain no placeholder. */
const plain = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.constantFrom(
      '"',
      "'",
      '\\',
      'a\nb',
      ' # no comment',
      'a: b',
      '- x',
      '✓',
      '1',
      'true',
      '',
      '[t]',
      '~',
      'null',
    ),
  )
  .filter((text) => !/[${}]/.test(text) && !/\p{Cs}/u.test(text));

function textIn(style: PlaceholderStyle): fc.Arbitrary<string> {
  const supported = PLACEHOLDERS.filter((each) =>
    TURNBUCKLE_STYLE.parse(each).every((part) => style.print(part) !== undefined),
  );
  if (style.isUndocumented || supported.length === 0) return plain;
  return fc
    .array(fc.oneof(plain, fc.constantFrom(...supported)), { maxLength: 3 })
    .map((parts) => parts.join(''));
}

const key = fc.oneof(
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/),
  fc.constantFrom('__proto__', 'constructor', 'X-Y.z', 'toString'),
);
const tools = fc.array(fc.stringMatching(/^[a-z_]{1,6}$/), { minLength: 1, maxLength: 2 });
const milliseconds = fc.integer({ min: 1, max: 86_400_000 });

/** Values of variables and headers that the client stores under its own keys. */
const SPECIAL: Readonly<Record<string, { env?: Record<string, string>; headers?: Record<string, string> }>> =
  {
    codex: { headers: { 'X-Team': '${TEAM}', Authorization: 'Bearer ${T}' } },
    goose: { env: { KEPT: '${secret:KEPT}' } },
    vibe: { headers: { 'X-Key': 'Key ${K}.' } },
  };

const address = fc.constantFrom('https://login.example.com/a', 'http://127.0.0.1:9000/b?c=d');
const port = fc.integer({ min: 1024, max: 65_535 });

/** The servers of these tests that somebody signs in to: a redirect URI can depend on it. */
export const SIGNED_IN_URL = 'https://a.example.com/mcp?x=1#y';

/** Values of a setting of OAuth; `style` is that of the client it is written for. */
export function oauthValues(setting: OAuthSetting, { style, oauth }: Dialect): fc.Arbitrary<unknown> {
  if (setting === 'scopes')
    return fc.array(fc.stringMatching(/^[a-z]{1,6}(:[a-z]{1,6})?$/), { minLength: 1, maxLength: 3 });
  if (setting === 'redirectUri') {
    const uri = (number: number) => `http://127.0.0.1:${number}/callback`;
    return port.map((number) => (oauth?.port?.uri ?? uri)(number, SIGNED_IN_URL));
  }
  if (setting === 'issuer')
    return fc.constantFrom('https://login.example.com', 'https://login.example.com/t');
  return setting.endsWith('Url') ? address : textIn(style).filter((text) => text !== '');
}

/** Every sign-in that the dialect can express; undefined if it can express none. */
function expressibleAuth(dialect: Dialect): fc.Arbitrary<AuthDraft> | undefined {
  const { oauth } = dialect;
  if (oauth === undefined) return undefined;
  const settings = (Object.keys(oauth.keys) as OAuthSetting[]).filter(
    (setting) => spellingsOf(oauth, setting).length > 0,
  );
  const known = oauth.port === undefined ? settings : [...new Set([...settings, 'redirectUri' as const])];
  const signIn = fc
    .record(Object.fromEntries(known.map((setting) => [setting, oauthValues(setting, dialect)])), {
      requiredKeys: [],
    })
    .filter((some) => oauth.on !== undefined || Object.keys(some).length > 0)
    // Mistral Vibe accepts only one of the two.
    .filter((some) => !('clientId' in some && 'clientMetadataUrl' in some))
    .map((some): AuthDraft => ({ type: 'oauth', ...some }));
  return oauth.off === undefined ? signIn : fc.oneof(signIn, fc.constant({ type: 'none' } as const));
}

/** `dialect` is the dialect of the file that is written. */
export function expressibleServers(client: Client, dialect: Dialect): fc.Arbitrary<ServerDraft> {
  const { keys = {}, style, transports, timeouts = [] } = dialect;
  const text = textIn(style);
  const map = (special: Record<string, string> = {}) =>
    fc
      .tuple(fc.dictionary(key, text, { maxKeys: 3 }), fc.boolean())
      .map(([some, also]) => ({ ...some, ...(also ? special : {}) }))
      .filter((all) => Object.keys(all).length > 0);
  const switchable = dialect.switchKey !== undefined || client.hasSwitchesInSettings === true;
  const shared = {
    ...(switchable ? { enabled: fc.constant(false) } : {}),
    ...(keys.description === undefined ? {} : { description: plain.filter((words) => words !== '') }),
    ...(keys.includeTools === undefined ? {} : { includeTools: tools }),
    ...(keys.excludeTools === undefined ? {} : { excludeTools: tools }),
    ...Object.fromEntries(timeouts.map(({ to }) => [to, milliseconds])),
  };
  const stdio = fc.record(
    {
      type: fc.constant('stdio' as const),
      command: fc
        .tuple(fc.constantFrom('node', '/usr/bin/my server', 'C:\\x\\run.exe'), text)
        .map((parts) => parts.join('/')),
      args: fc.array(text, { minLength: 1, maxLength: 3 }),
      env: map(SPECIAL[client.id]?.env),
      ...(client.id === 'codex' ? { inheritEnv: fc.constant(['LANG']) } : {}),
      ...(keys.cwd === undefined ? {} : { cwd: text.map((folder) => `/srv/${folder}`) }),
      ...shared,
    },
    { requiredKeys: ['type', 'command'] },
  );
  const types = (['http', 'sse'] as const).filter((type) => transports[type] !== undefined);
  if (types.length === 0) return stdio;
  const reach = {
    type: fc.constantFrom(...types),
    url: fc.constantFrom(SIGNED_IN_URL, 'http://127.0.0.1:3000/'),
  };
  const remote = fc.record(
    { ...reach, headers: map(SPECIAL[client.id]?.headers), ...shared },
    { requiredKeys: ['type', 'url'] },
  );
  const auth = expressibleAuth(dialect);
  if (auth === undefined) return fc.oneof(stdio, remote);
  const signedIn = fc
    .record(
      { ...reach, url: fc.constant(SIGNED_IN_URL), headers: map(), auth, ...shared },
      { requiredKeys: ['type', 'url', 'auth'] },
    )
    // Mistral Vibe accepts either headers or a sign-in.
    .filter((server) => client.id !== 'vibe' || server.headers === undefined);
  return fc.oneof(stdio, remote, signedIn);
}

export const serverName = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9 ._/"'-]{0,10}[a-z0-9]$/),
  fc.constantFrom('constructor', 'toString', 'servers', 'type', 'ünï', '1', 'a.b', '*'),
);
