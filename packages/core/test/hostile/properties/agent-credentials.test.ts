/** Whatever callers and entries there are: a connection is opened with the values of its caller, and with no others. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyCredentials, selectAlike, selectCredentials } from '../../../src/config/credentials.js';
import { parseServer } from '../../../src/config/layers/parse.js';
import type { HttpServer, ServerConfig } from '../../../src/config/schema/schema.js';

const CALLERS = ['ada', 'bob', 'Ada', 'constructor', 'toString', 'agent:ada', 'jwt:x', 'a"b', 'ä'];
const VARIABLES = ['API_KEY', 'TOKEN', 'REGION', 'constructor'];
const HEADERS = ['Authorization', 'authorization', 'X-Api-Key', 'x-api-key', 'X-Team'];

const names = (all: readonly string[]) => fc.uniqueArray(fc.constantFrom(...all), { maxLength: 4 });

/** Every value says who it belongs to. */
const valuesOf = (owner: string, keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(keys.map((key) => [key, `${owner} ${key}`]));

/** Of names that differ only in case, one. */
const oneCase = (keys: readonly string[]): string[] =>
  keys.filter((key, at) => keys.findIndex((one) => one.toLowerCase() === key.toLowerCase()) === at);

const auth = fc.constantFrom(
  undefined,
  'none',
  'bearer',
  'api-key',
  'apiKey',
  'api_key',
  'apikey',
  'token-file',
  'tokenFile',
  'token_file',
  'oauth',
  'client-credentials',
  'oauth with account',
);

const canonical = (type: string): string =>
  type
    .replace(/^api.?key$/i, 'api-key')
    .replace(/^token.?file$/i, 'token-file')
    .replace(' with account', '');

function authOf(owner: string, type: string | undefined): object | undefined {
  if (type === undefined) return undefined;
  if (type === 'bearer') return { type, token: `${owner} token` };
  if (/^api/.test(type)) return { type, apiKey: `${owner} key` };
  if (/^token/.test(type)) return { type, tokenPath: `${owner} file`, headerName: 'X-Api-Key' };
  if (type === 'client-credentials') return { type, clientId: `${owner} client` };
  if (type === 'oauth with account') return { type: 'oauth', account: `${owner} account` };
  return { type };
}

const entry = fc.record({ env: names(VARIABLES), headers: names(HEADERS), auth });
const setup = fc.record({
  own: entry,
  callers: fc.dictionary(fc.constantFrom(...CALLERS), entry, { maxKeys: 5 }),
  who: fc.constantFrom(...CALLERS),
  hasUserInfo: fc.boolean(),
});

interface Values {
  readonly env: readonly string[];
  readonly headers: readonly string[];
  readonly auth: string | undefined;
}

/** As a connection is opened: selected, filled in, applied. */
function openedWith(config: ServerConfig, caller: string | undefined): ServerConfig {
  const selected = selectCredentials(config, caller);
  return applyCredentials(selected, caller);
}

describe('the values that a connection is opened with', () => {
  // requirement K2
  it('are the variables of the caller over those of a local server', () => {
    fc.assert(
      fc.property(setup, ({ own, callers, who }) => {
        const credentials = Object.fromEntries(
          Object.entries(callers).map(([caller, { env }]) => [caller, { env: valuesOf(caller, env) }]),
        );
        const config = parseServer('s', { command: 'x', env: valuesOf('server', own.env), credentials });
        const mine = Object.hasOwn(callers, who) ? who : undefined;
        const opened = openedWith(config, mine);
        expect(opened).toMatchObject({ type: 'stdio', share: 'agent' });
        expect(opened).not.toHaveProperty('credentials');
        const expected = {
          ...valuesOf('server', own.env),
          ...(mine !== undefined && valuesOf(mine, callers[mine]?.env ?? [])),
        };
        expect('env' in opened && opened.env).toEqual(expected);
      }),
    );
  });

  // requirement K2
  it('are of the caller wherever it has any, and never of another caller', () => {
    fc.assert(
      fc.property(setup, ({ own, callers, who, hasUserInfo }) => {
        const credentials = Object.fromEntries(
          Object.entries(callers).map(([caller, values]) => [caller, remoteValues(caller, values)]),
        );
        const url = `https://${hasUserInfo ? 'server:password@' : ''}example.com/mcp`;
        const raw = { url, ...remoteValues('server', own), credentials };
        const config = parseServer('s', raw);
        const mine = Object.hasOwn(callers, who) ? who : undefined;
        const opened = openedWith(config, mine);
        if (opened.type !== 'http') throw new Error('another transport');
        expectNoOthers(opened, mine);
        const values = mine === undefined ? undefined : callers[mine];
        if (mine === undefined || values === undefined) {
          expect(opened.url).toBe(url);
          return;
        }
        for (const name of oneCase(values.headers)) expect(opened.headers[name]).toBe(`${mine} ${name}`);
        const isReplaced = values.auth !== undefined || values.headers.some((one) => /^auth/i.test(one));
        if (isReplaced) expectOwnLogin(opened, mine, values.auth);
        const hasOwnKey = values.headers.some((one) => /^x-api-key$/i.test(one));
        // What `auth` sends takes precedence over headers: that of the server would win.
        if (hasOwnKey && values.auth === undefined) expect(opened.auth?.type).not.toMatch(/-(key|file)$/);
      }),
    );
  });

  // requirement K2
  it('are the same for an entry of a file, whatever it calls the types', () => {
    fc.assert(
      fc.property(setup, ({ own, callers, who, hasUserInfo }) => {
        const credentials = Object.fromEntries(
          Object.entries(callers).map(([caller, values]) => [caller, remoteValues(caller, values)]),
        );
        const url = `https://${hasUserInfo ? 'server:password@' : ''}example.com/mcp`;
        const raw = { url, ...remoteValues('server', own), credentials };
        const config = parseServer('s', raw);
        const mine = Object.hasOwn(callers, who) ? who : undefined;
        const part = selectAlike(raw, selectCredentials(config, mine));
        expect(Object.keys(Object(part.credentials))).toEqual(mine === undefined ? [] : [mine]);
        const { share } = config;
        expect(applyCredentials(parseServer('s', { ...part, share }), mine)).toEqual(
          openedWith(config, mine),
        );
      }),
    );
  });
});

const remoteValues = (owner: string, { headers, auth: type }: Values): object => ({
  headers: valuesOf(owner, oneCase(headers)),
  ...(type !== undefined && { auth: authOf(owner, type) }),
});

function expectNoOthers({ headers, auth: sent }: HttpServer, mine: string | undefined): void {
  const secrets = sent === undefined ? [] : Object.values({ ...sent, type: '', headerName: '', account: '' });
  const owners = new Set([...Object.values(headers), ...secrets].map((value) => String(value).split(' ')[0]));
  for (const owner of owners) expect(['server', mine, '', 'ES256']).toContain(owner);
  // Two headers of one name would both be sent.
  const sentNames = Object.keys(headers).map((name) => name.toLowerCase());
  expect(new Set(sentNames).size).toBe(sentNames.length);
}

/** Nothing is left that authenticates the server itself. */
function expectOwnLogin({ url, headers, auth: sent }: HttpServer, mine: string, type: Values['auth']): void {
  const header = Object.entries(headers).find(([name]) => /^authorization$/i.test(name))?.[1];
  expect((header ?? mine).startsWith(mine)).toBe(true);
  expect(url).not.toContain('password');
  if (type === undefined) {
    expect(sent?.type ?? 'none').toBe('none');
    return;
  }
  expect(sent).toMatchObject({ ...authOf(mine, type), type: canonical(type) });
  const account = sent !== undefined && 'account' in sent ? sent.account : undefined;
  if (type === 'oauth' || type === 'client-credentials') expect(account).toBe(`agent:${mine}`);
}
