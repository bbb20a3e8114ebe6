// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are texts here
/** Sign-ins and sandboxes: on the way to another tool and back, each setting is kept, or its loss is reported by name. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseServers } from '../../../core/src/config/layers/parse.js';
import { generic } from '../../src/imports/generic-client.js';
import { CLIENTS, readClientConfig, type ServerDraft, writeClientConfig } from '../../src/imports/index.js';
import { oauthValues, SIGNED_IN_URL } from './expressible-servers.js';
import { FIXTURES } from './fixture-table.js';
import { readFixture } from './read-fixture.js';

const writable = [...CLIENTS, generic].filter(({ format }) => format !== 'frontmatter');
const remotes = writable.filter(({ dialect }) => dialect.transports.http !== undefined);

const OAUTH_SETTINGS = [
  'clientId',
  'clientSecret',
  'clientMetadataUrl',
  'issuer',
  'authUrl',
  'tokenUrl',
  'registrationUrl',
  'revocationUrl',
  'redirectUri',
  'scopes',
] as const;

const SECRET = 'hidden-value';

const staticAuth = fc.constantFrom(
  { type: 'bearer', token: SECRET },
  { type: 'api-key', apiKey: SECRET },
  { type: 'api-key', apiKey: SECRET, headerName: 'X-Key' },
);

const otherAuth = fc.constantFrom(
  { type: 'token-file', tokenPath: '/run/token' },
  { type: 'client-credentials', clientId: 'machine', clientSecret: SECRET, scopes: ['read'] },
  { type: 'workload-identity', assertionPath: '/run/jwt' },
  {
    type: 'enterprise',
    clientId: 'machine',
    idp: { tokenUrl: 'https://idp.example.com/token', clientId: 'user', idToken: SECRET },
  },
);

const sandbox = fc.oneof(
  fc.constantFrom(true, 'strict', 'offline', 'standard'),
  fc.record(
    {
      preset: fc.constantFrom('strict', 'offline', 'standard'),
      read: fc.constant(['/data']),
      write: fc.constant(['${workspaceFolder}/out']),
      network: fc.boolean(),
      home: fc.constantFrom('own', 'empty'),
      memoryMb: fc.constant(512),
    },
    { requiredKeys: [] },
  ),
);

/** Writes one server into an empty file and reads it back. */
function thereAndBack(client: string, config: Readonly<Record<string, unknown>>) {
  const written = writeClientConfig(client, undefined, [{ name: 'x', config }]);
  expect(written.problems).toEqual([]);
  expect(written.skipped).toEqual([]);
  const back = readClientConfig(client, written.text ?? '');
  expect(back.skipped).toEqual([]);
  const notes = [...written.notes.map(({ note }) => note), ...(back.servers[0]?.notes ?? [])];
  expect(notes.join('\n')).not.toContain(SECRET);
  return { back: back.servers[0]?.config ?? { type: 'stdio' as const }, notes: notes.join('\n') };
}

const remote = { type: 'http', url: SIGNED_IN_URL } as const;

// requirement F2
describe.each(remotes)('from Turnbuckle to $id and back', ({ id, dialect }) => {
  it('keeps or names every setting of OAuth', () => {
    const oauth = fc
      .record(
        {
          ...Object.fromEntries(OAUTH_SETTINGS.map((key) => [key, oauthValues(key, dialect)])),
          account: fc.constant('work'),
          dpop: fc.boolean(),
        },
        { requiredKeys: [] },
      )
      .map((settings): Record<string, unknown> => ({ type: 'oauth', ...settings }));
    fc.assert(
      fc.property(oauth, (auth) => {
        const { back, notes } = thereAndBack(id, { ...remote, auth });
        const kept: Record<string, unknown> = { ...(back.auth ?? { type: 'oauth' }) };
        for (const [key, value] of Object.entries(auth))
          if (!notes.includes(`auth.${key}`)) expect(kept[key], `${key}; ${notes}`).toEqual(value);
        for (const key of Object.keys(kept)) expect(auth[key], key).toEqual(kept[key]);
        expect([...parseServers({ x: back }).problems.values()]).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('turns static credentials into headers', () => {
    fc.assert(
      fc.property(staticAuth, (auth) => {
        const { back } = thereAndBack(id, { ...remote, headers: { 'x-key': 'old' }, auth });
        const [name, value] =
          'token' in auth
            ? ['Authorization', `Bearer ${auth.token}`]
            : ['headerName' in auth ? auth.headerName : 'X-API-Key', auth.apiKey];
        expect(back.headers).toMatchObject({ [String(name)]: value });
        expect(Object.keys(back.headers ?? {}).filter((key) => key === 'x-key')).toHaveLength(
          name === 'X-Key' ? 0 : 1,
        );
      }),
      { numRuns: 10 },
    );
  });

  it('names a sign-in that only Turnbuckle has', () => {
    fc.assert(
      fc.property(otherAuth, (auth) => {
        const { back, notes } = thereAndBack(id, { ...remote, auth });
        expect(notes).toContain(`auth of type ${auth.type}`);
        expect(back.auth).toBeUndefined();
      }),
      { numRuns: 10 },
    );
  });

  it('keeps or names that there is no sign-in', () => {
    const { back, notes } = thereAndBack(id, { ...remote, auth: { type: 'none' } });
    if (!notes.includes('cannot turn off sign-in')) expect(back.auth).toEqual({ type: 'none' });
  });
});

describe.each(writable)('from Turnbuckle to $id and back', ({ id }) => {
  it('keeps or names the sandbox and each of its settings', () => {
    fc.assert(
      fc.property(sandbox, (limits) => {
        const { back, notes } = thereAndBack(id, { type: 'stdio', command: 'node', sandbox: limits });
        if (back.sandbox === undefined) expect(notes).toContain('does not support sandbox');
        else expect(notes).toContain('has different limits');
        const named = typeof limits === 'object' ? Object.keys(limits) : [];
        for (const key of named.filter((each) => ['read', 'home', 'memoryMb'].includes(each)))
          expect(notes).toContain(`sandbox.${key}`);
      }),
      { numRuns: 30 },
    );
  });
});

// requirement F2
describe.each(FIXTURES)('from $file to Turnbuckle and back', ({ client, file }) => {
  const text = readFixture(file);
  const protectedServers = readClientConfig(client, text, { file }).servers.filter(
    ({ config }) => config.auth !== undefined || config.sandbox !== undefined,
  );
  const parts = ({ auth, sandbox: limits }: ServerDraft) => ({ auth, sandbox: limits });

  it('keeps the sign-in and the sandbox of every server', () => {
    const into = writeClientConfig({ client, file }, undefined, protectedServers);
    const again = readClientConfig(client, into.text ?? '{}', { file }).servers;
    const noted = new Set(into.notes.map(({ name }) => name));
    for (const { name, config } of protectedServers) {
      const found = again.find((server) => server.name === name)?.config;
      if (!noted.has(name)) expect(found && parts(found), name).toEqual(parts(config));
    }
  });

  it('does not touch the sign-in of a server that says nothing about it', () => {
    const plain = protectedServers.map(({ name, config: { auth: _, sandbox: __, ...config } }) => ({
      name,
      config,
    }));
    const into = writeClientConfig({ client, file }, text, plain);
    const again = readClientConfig(client, into.text ?? '', { file }).servers;
    for (const { name, config } of protectedServers) {
      const found = again.find((server) => server.name === name)?.config;
      expect(found && parts(found), name).toEqual(parts(config));
    }
  });
});
