import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { parseServers } from '../../../core/src/config/layers/parse.js';
import { CLIENTS, readClientConfig, readUnknownConfig, writeClientConfig } from '../../src/imports/index.js';
import { FIXTURES } from './fixture-table.js';
import { readFixture } from './read-fixture.js';

const added = [{ name: 'added', config: { command: 'node' } }];
const ids = [...CLIENTS.map(({ id }) => id), 'generic'];

/** Keys in the maps that hold a sign-in or a sandbox. */
const MEMBERS = [
  'clientId',
  'client_id',
  'CLIENT_ID',
  'clientSecret',
  'scope',
  'scopes',
  'redirectUri',
  'callbackPort',
  'redirect_port',
  'tokenUrl',
  'issuer',
  'type',
  'enabled',
  'authServerMetadataUrl',
  'allowWrite',
  'allowedDomains',
  '__proto__',
];

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

describe.each(ids)('%s', (client) => {
  it.each([
    ['empty', ''],
    ['only spaces', ' \n\t\n'],
    ['only a byte order mark', '\uFEFF'],
    ['too large', `{"a": "${'x'.repeat(6 * 1024 * 1024)}"}`],
    ['binary', '\u0000\u0001\u0002ELF\uFFFD'],
    ['deeply nested', '['.repeat(200_000)],
    ['nothing but brackets', '['.repeat(4_000_000)],
    ['nested in blocks', '- '.repeat(100_000)],
    ['a string', '"text"'],
    ['a number', '42'],
    ['null', 'null'],
  ])('a file that is %s is reported as a problem', (_, text) => {
    const result = readClientConfig(client, text);
    expect(result.servers).toEqual([]);
    expect(result.problems).toHaveLength(1);
  });

  it('a file that is nested too deeply throws no exception', () => {
    for (const depth of [500, 2_000, 3_500, 5_000, 8_000]) {
      const text = `{"mcpServers": {"a": {"command": "x", "y": ${'['.repeat(depth)}${']'.repeat(depth)}}}}`;
      readClientConfig(client, text, { file: 'any.json' });
      writeClientConfig({ client, file: 'any.json' }, text, added);
    }
  });

  it('a file with wrong types gives reasons for skipped entries', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.constantFrom(
          'mcpServers',
          'servers',
          'mcp',
          'extensions',
          'projects',
          'mcp_servers',
          'context_servers',
          'inputs',
          'tools',
        ),
        (value, container) => {
          const text = JSON.stringify({
            [container]: value,
            mcpServers: {
              a: value,
              b: { command: value },
              c: { url: value, headers: value },
              d: { command: 'x', args: value, env: value, tools: value },
            },
          });
          const { servers, skipped } = readClientConfig(client, text, { file: 'any.json' });
          for (const { reason } of skipped) expect(reason).not.toBe('');
          for (const { config } of servers) expect(config.command ?? config.url).toBeTypeOf('string');
          writeClientConfig({ client, file: 'any.json' }, text, added);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('a file with wrong types gives no sign-in and no sandbox that the runtime rejects', () => {
    const remote = { url: 'https://x.example.com' };
    const local = { command: 'x', sandboxEnabled: true };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2 }), (value) => {
        const members = Object.fromEntries(MEMBERS.map((key) => [key, value]));
        const entries = {
          a: { ...remote, oauth: value, auth: value, scopes: value, oauthScopes: value },
          b: { ...remote, oauth: members, auth: members, oauthClient: members },
          c: { ...local, sandbox: value, isolation: value },
          d: { ...local, sandbox: { filesystem: members, network: members } },
        };
        const text = JSON.stringify({ mcpServers: entries });
        const { servers, skipped } = readClientConfig(client, text, { file: 'any.json' });
        for (const { reason } of skipped) expect(reason).not.toBe('');
        const configs = Object.fromEntries(servers.map(({ name, config }) => [name, config]));
        expect([...parseServers(configs).problems.values()].map(String)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe.each(FIXTURES)('$file', ({ client, file }) => {
  const whole = readFixture(file);

  it('never throws, wherever it is cut', () => {
    for (let cut = 0; cut < whole.length; cut += 11) {
      readClientConfig(client, whole.slice(0, cut), { file });
      readUnknownConfig(whole.slice(0, cut), { file });
      writeClientConfig({ client, file }, whole.slice(0, cut), added);
    }
  });

  it('never throws on changed bytes', () => {
    fc.assert(
      fc.property(fc.nat(whole.length), fc.string({ unit: 'binary', maxLength: 3 }), (at, noise) => {
        const text = whole.slice(0, at) + noise + whole.slice(at + 1);
        readClientConfig(client, text, { file });
        writeClientConfig({ client, file }, text, added);
      }),
      { numRuns: 100 },
    );
  });

  it('is read with a byte order mark too', () => {
    const plain = readClientConfig(client, whole, { file });
    expect(readClientConfig(client, `\uFEFF${whole}`, { file })).toEqual(plain);
  });

  it('is recognised without naming its client', () => {
    const { servers, problems } = readUnknownConfig(whole, { file });
    expect(problems).toEqual([]);
    expect(servers.length).toBeGreaterThan(0);
  });
});

it('a text that is too long for the runtime is not searched for placeholders', () => {
  const text = JSON.stringify({ mcpServers: { a: { command: 'x', args: ['$('.repeat(1_000_000)] } } });
  const started = performance.now();
  expect(readClientConfig('gemini', text).skipped[0]?.reason).toContain('32768');
  expect(performance.now() - started).toBeLessThan(5_000);
});

describe('names that are dangerous as keys', () => {
  const evil =
    '{"command": "node", "env": {"__proto__": "a", "constructor": "b"}, "__proto__": {"polluted": true}}';

  it.each([
    [
      'cursor',
      `{"mcpServers": {"__proto__": ${evil}, "constructor": ${evil}}, "__proto__": {"polluted": true}}`,
    ],
    [
      'mcpproxy',
      `{"mcpServers": [{"name": "__proto__", "command": "node"}, {"name": "constructor", ${evil.slice(1)}]}`,
    ],
    ['goose', `extensions:\n  __proto__: ${evil}\n  constructor: ${evil}\n__proto__: {polluted: true}\n`],
    ['generic', `{"__proto__": ${evil}, "constructor": ${evil}}`],
  ])('are treated as plain names for %s', (client, text) => {
    const { servers, skipped } = readClientConfig(client, text);
    expect(skipped.map(({ name }) => name)).toEqual(['__proto__']);
    expect(servers.map(({ name }) => name)).toEqual(['constructor']);
    const { env = {} } = servers[0]?.config ?? {};
    expect(Object.entries(env)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
    expect(Object.getPrototypeOf(env)).toBe(Object.prototype);
  });

  it('are harmless in TOML', () => {
    const text =
      '[mcp_servers.__proto__]\ncommand = "node"\npolluted = true\n[mcp_servers.constructor]\ncommand = "node"\n';
    const { servers } = readClientConfig('codex', text);
    expect(servers.map(({ name }) => name)).toEqual(['constructor']);
    expect(writeClientConfig('codex', text, added).text).toContain('[mcp_servers.__proto__]');
  });
});
