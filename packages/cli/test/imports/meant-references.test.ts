// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are texts here
/** No text of another client becomes a reference to a secret or a variable that the client did not mean. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MalformedPlaceholder, splitPlaceholders } from '../../../core/src/text/placeholders.js';
import type { Client } from '../../src/imports/client.js';
import { readEntry } from '../../src/imports/entries/read-entry.js';
import { generic } from '../../src/imports/generic-client.js';
import { CLIENTS } from '../../src/imports/index.js';

/** The names that filling in the value would look up, those in defaults included. */
function referencesIn(value: unknown): string[] {
  if (typeof value === 'string') {
    const pieces = splitPlaceholders(value);
    // Nothing is filled in: the entry is refused.
    if (pieces instanceof MalformedPlaceholder) return [];
    return pieces.flatMap((piece) =>
      typeof piece === 'string' ? [] : [piece.name, ...referencesIn(piece.fallback ?? '')],
    );
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referencesIn) : [];
}

const isSecret = (name: string): boolean => name.startsWith('secret:');

function imported(client: Client, entry: Record<string, unknown>): string[] {
  const read = readEntry(entry, client.dialect);
  return 'reason' in read ? [] : referencesIn(read.config);
}

const URL_TEXT = 'https://one.example/mcp';

/** Every key in which a client of ours has a text that it may fill in. */
const remote = (text: string) => ({
  url: URL_TEXT,
  type: 'http',
  headers: { 'X-A': text },
  description: text,
  excludeTools: [text],
  bearerToken: text,
  oauth: { clientId: text, clientSecret: text, client_id: text, scope: text, scopes: [text] },
  auth: { CLIENT_ID: text, CLIENT_SECRET: text, scopes: [text] },
  api_key_env: 'KEY',
  api_key_header: 'X-B',
  api_key_format: `${text}{token}${text}`,
});
const local = (text: string) => ({ command: text, args: [text], env: { A: text }, cwd: text });
/** The wrapper's own placeholders are filled in from its variables. */
const wrapped = (text: string, other: string) => ({
  command: 'npx',
  args: ['mcp-remote', URL_TEXT, '--header', `X-A:${text}\${A}${other}`],
  env: { A: other },
});
const signedIn = (text: string) => ({
  command: 'npx',
  args: ['mcp-remote', URL_TEXT, '9000', '--static-oauth-client-info', `{"client_id":"${text}"}`],
});

/** Keys that hold the name of a variable. */
const NAME_KEYS = ['bearer_token_env_var', 'bearerTokenEnv', 'oauthClientSecretEnv', 'api_key_env'];
const named = (name: string) => [
  ...NAME_KEYS.map((key) => ({ url: URL_TEXT, type: 'http', [key]: name })),
  { url: URL_TEXT, type: 'http', env_http_headers: { 'X-A': name } },
];

const PIECES = [
  '${secret:prod}',
  '${secret:prod',
  'secret:prod}',
  '${',
  '$${',
  '$',
  '{',
  '}',
  ':-',
  'A',
  '${A:-',
  '${env:A:-',
  '${input:a:-',
  '${keyring:a:-',
  '$env:A',
  '{env:A}',
  '{file:',
  '$(',
  ')',
  '${{ ',
  '\\u0024{secret:prod}',
  '{token}',
  ' ',
];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((parts) => parts.join(''));

describe.each(CLIENTS.map((client) => [client.id, client] as const))('%s', (_id, client) => {
  it('does not make a reference to a secret of a text', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const entries = [remote(one), local(one), wrapped(one, other), signedIn(one), ...named(one)];
        for (const entry of entries) {
          const secrets = imported(client, entry).filter(isSecret);
          // Its own store of secrets has another spelling, with a name of its own.
          expect(secrets.filter((name) => name === 'secret:prod')).toEqual([]);
        }
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    '${A:-${secret:prod}}',
    '${A:-$${secret:prod}}',
    '${secret:prod}',
    '$${secret:prod}',
    '${env:A:-${secret:prod}}',
    '${input:x:-${secret:prod}}',
    '${keyring:x:-${secret:prod}}',
    '{file:${secret:prod}}',
  ])('of %s', (given) => {
    const entries = [remote(given), local(given), wrapped(given, '{secret:prod}'), wrapped('$', given)];
    for (const entry of [...entries, ...named('secret:prod'), ...named('A:-${secret:prod}')])
      expect(imported(client, entry).filter(isSecret)).not.toContain('secret:prod');
    expect(imported(client, wrapped('$', '{secret:prod}')).filter(isSecret)).toEqual([]);
  });
});

const without = CLIENTS.filter(
  ({ dialect }) => dialect.style.print({ kind: 'env', name: 'A' }) === undefined,
);

describe.each(without.map((client) => [client.id, client] as const))(
  '%s, without placeholders',
  (_, client) => {
    it('does not make a reference to a variable of a text', () => {
      fc.assert(
        fc.property(text, (one) => {
          const { api_key_env: _env, ...entry } = remote(one);
          expect([...imported(client, entry), ...imported(client, local(one))]).toEqual([]);
        }),
        { numRuns: 400 },
      );
    });
  },
);

describe('a file that a person names', () => {
  it('says which key refers to a secret', () => {
    const read = readEntry({ command: 'x', env: { KEY: '${A:-${secret:b}}', B: '${A}' } }, generic.dialect);
    expect(read).toMatchObject({
      notes: ['env.KEY refers to a secret in your vault, which is passed to this server'],
    });
  });

  it('refers to secrets where it says so in our own spelling, and nowhere else', () => {
    expect(imported(generic, local('${secret:a} ${A:-${secret:b}}'))).toContain('secret:b');
    expect(imported(generic, local('$${secret:a} $${env:A} $${A}'))).toEqual([]);
    fc.assert(
      fc.property(text, (one) => {
        const pieces = splitPlaceholders(one);
        const meant = pieces instanceof MalformedPlaceholder ? undefined : referencesIn(one);
        const secrets = imported(generic, { command: 'x', args: [one] }).filter(isSecret);
        if (meant !== undefined) expect(secrets).toEqual(meant.filter(isSecret));
      }),
      { numRuns: 2_000 },
    );
  });
});
