import { timeBound } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { parseServer } from '../../src/config/layers/parse.js';
import { redactConfig } from '../../src/redaction/redact-config.js';
import { secretValuesOf } from '../../src/redaction/secret-values.js';

const KEY = '9f8e7d6c5b4a3f2e1d0c';

describe('a configuration as it is shown', () => {
  it.each([
    [
      { env: { A: 'literal', B: '${TOKEN}', C: 'Bearer ${TOKEN}' } },
      { env: { A: '[redacted]', B: '${TOKEN}', C: 'Bearer ${TOKEN}' } },
    ],
    [{ env: { A: `abc${KEY}\${X}` } }, { env: { A: '[redacted]${X}' } }],
    [
      { env: { A: '${TOKEN:-literal}', B: '${A:-${B}}', C: '${A:-}' } },
      { env: { A: '${TOKEN:-[redacted]}', B: '${A:-${B}}', C: '${A}' } },
    ],
    [
      { headers: { Authorization: 'Bearer abc', 'X-Tenant': 1 } },
      { headers: { Authorization: '[redacted]', 'X-Tenant': '[redacted]' } },
    ],
    [
      { url: 'https://user:pass@host:81/mcp?key=abc&id=${ID}#access=x' },
      { url: 'https://[redacted]@host:81/mcp?key=[redacted]&id=${ID}#access=[redacted]' },
    ],
    [{ url: `https://host/s/${KEY}/mcp` }, { url: 'https://host/s/[redacted]/mcp' }],
    [{ url: 'https://${USER}:${PASS}@${HOST}/mcp' }, { url: 'https://${USER}:${PASS}@${HOST}/mcp' }],
    [{ baseUrl: 'https://host/a@b/' }, { baseUrl: 'https://host/a@b/' }],
    [
      { token: 'abc', type: 'proxy' },
      { token: '[redacted]', type: 'proxy' },
    ],
    [
      { args: ['-y', 'pkg', '--token', 'abc', '--api-key=abc', '--port', '80'] },
      { args: ['-y', 'pkg', '--token', '[redacted]', '--api-key=[redacted]', '--port', '80'] },
    ],
    [
      { args: ['postgres://u:p@host/db', '--token', '${T}', '-c', 'x --password=abc'] },
      { args: ['postgres://[redacted]@host/db', '--token', '${T}', '-c', 'x --password=[redacted]'] },
    ],
    [
      { args: ['mcp-remote', 'https://host/mcp', '--header', 'Authorization: Bearer abc'] },
      { args: ['mcp-remote', 'https://host/mcp', '--header', 'Authorization: [redacted]'] },
    ],
    [
      {
        auth: {
          type: 'oauth',
          clientId: 'me',
          clientSecret: 'abc',
          tokenUrl: 'https://host/token',
          scopes: ['a'],
        },
      },
      {
        auth: {
          type: 'oauth',
          clientId: 'me',
          clientSecret: '[redacted]',
          tokenUrl: 'https://host/token',
          scopes: ['a'],
        },
      },
    ],
    [
      { auth: { type: 'api-key', apiKey: 'abc', headerName: 'X-Key' } },
      { auth: { type: 'api-key', apiKey: '[redacted]', headerName: 'X-Key' } },
    ],
    [
      { reconnect: { tries: 3 }, enabled: true, tools: undefined },
      { reconnect: { tries: 3 }, enabled: true, tools: undefined },
    ],
    [{ server: new Map() }, { server: '[in-process server]' }],
  ])('%j', (config, shown) => {
    expect(redactConfig(config)).toEqual(shown);
    expect(redactConfig(redactConfig(config))).toEqual(shown);
  });
});

describe('the secrets that are learned from a configuration', () => {
  const learned = (config: Record<string, unknown>): string[] =>
    secretValuesOf(parseServer('x', config)).sort();

  it.each([
    [
      { command: 'x', env: { API_TOKEN: 'abc', LOG: 'debug', NODE_ENV: 'production', OTHER: KEY } },
      ['abc', KEY].sort(),
    ],
    [
      { command: 'x', args: ['--token', 'abc', '--secret=def', '--port=80', KEY, 'plain'] },
      ['abc', 'def', KEY].sort(),
    ],
    [{ command: 'x', args: ['postgres://u:p%40ss@host/db'] }, ['p%40ss', 'p@ss']],
    [
      { url: `https://u:pw@host/mcp?token=t1&page=2&k=${KEY}`, headers: { 'X-Key': 'k1', Accept: 'x' } },
      ['k1', KEY, 'pw', 'pw', 't1'].sort(),
    ],
    [{ url: `https://host/s/${KEY}/mcp` }, [KEY, KEY]],
    [{ url: 'https://host/mcp', auth: { type: 'api-key', apiKey: 'abc' } }, ['abc']],
    [{ baseUrl: 'https://host', id: 'x', token: 'abc' }, ['abc']],
    [{ command: 'node', args: ['server.js', '--verbose'], env: {} }, []],
  ])('%j', (config, values) => {
    expect(learned(config)).toEqual(values);
  });
});

describe('addresses in long values', () => {
  it.each(['a', 'a.', '-a', 'aA1', '://', '1://', 'a:// ', '+://'])('are found in time among %j', (unit) => {
    const text = `://${unit.repeat(32_000 / unit.length)}`;
    const config = parseServer('one', {
      command: 'x',
      args: [text],
      env: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`A${at}`, text])),
    });
    const began = performance.now();
    secretValuesOf(config);
    redactConfig({ ...config });
    expect(performance.now() - began).toBeLessThan(timeBound(1_000));
  });

  it.each([
    'postgres://u:p4ss@host/db',
    '--db=postgres://u:p4ss@host/db more',
    '9postgres://u:p4ss@host/db',
    '://x 7:// a:// postgres://u:p4ss@host/db',
  ])('are found at their position: %s', (text) => {
    expect(secretValuesOf(parseServer('one', { command: 'x', args: [text] }))).toContain('p4ss');
  });
});
