import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { TurnbuckleError } from '../../src/errors.js';
import { createRedactor } from '../../src/redaction/redactor.js';
import { isSecretName, looksGenerated } from '../../src/redaction/secret-names.js';
import { readText } from '../docs/repository.js';

const knowing = (...secrets: string[]) => {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.learn(secret);
  return redactor;
};

describe('what looks like a secret', () => {
  const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----';
  it.each([
    ['Authorization: Bearer abc.def-123', 'Authorization: [redacted]'],
    ['authorization=Basic dXNlcjpwYXNz', 'authorization=[redacted]'],
    ["-H 'Proxy-Authorization: Token abc' -v", "-H 'Proxy-Authorization: [redacted]' -v"],
    ['sent Bearer aGVsbG8td29ybGQ= to it', 'sent Bearer [redacted] to it'],
    ['Cookie: a=1; session=xyz\nAccept: */*', 'Cookie: [redacted]\nAccept: */*'],
    ['Set-Cookie: sid=31d4d96e407aad42; Path=/', 'Set-Cookie: [redacted]'],
    [`key: ${PEM}!`, 'key: [redacted]!'],
    [JSON.stringify({ pem: PEM }), '{"pem":"[redacted]"}'],
    [`cut off ${PEM.slice(0, 40)}`, 'cut off [redacted]'],
    ['AKIAIOSFODNN7EXAMPLE is the id', '[redacted] is the id'],
    [`token ghp_${'a1'.repeat(18)}.`, 'token [redacted].'],
    [`github_pat_${'a1_'.repeat(12)}`, '[redacted]'],
    ['xoxb-1234567890-abcdef', '[redacted]'],
    [`sk-proj-${'a1'.repeat(12)}, next`, '[redacted], next'],
    [`jwt eyJ${'a'.repeat(12)}.${'b'.repeat(12)}.${'c'.repeat(12)} end`, 'jwt [redacted] end'],
    ['https://host/mcp?token=abc&page=2', 'https://host/mcp?token=[redacted]&page=2'],
    ['https://host/mcp?api_key=abc#top', 'https://host/mcp?api_key=[redacted]'],
    ['postgres://user:pass@host/db', 'postgres://user:[redacted]@host/db'],
    ['https://a1b2c3d4e5f6a7b8@host/', 'https://[redacted]@host/'],
    ['GITHUB_TOKEN=abc node x', 'GITHUB_TOKEN=[redacted] node x'],
    ['--client-secret="a b c" --port=80', '--client-secret=[redacted] --port=80'],
    ['{"password":"a\\"b","user":"me"}', '{"password":"[redacted]","user":"me"}'],
    ['{"token":"${TOKEN:-literal}"}', '{"token":"[redacted]"}'],
    ['body: "{\\"refresh_token\\":\\"abc\\"}"', 'body: "{\\"refresh_token\\":\\"[redacted]\\"}"'],
  ])('%s', (text, shown) => {
    expect(createRedactor().text(text)).toBe(shown);
  });

  it.each([
    'Give it a credential, for example an Authorization header in its configuration.',
    'Authorization: Bearer ${TOKEN}',
    'turnbuckle add docs https://example.com/mcp -H "Authorization: Bearer ${DOCS_TOKEN}"',
    'token=${secret:github}&page=2',
    '{"Authorization": "Bearer ${DOCS_TOKEN}", "token": "${A}${B}", "secret": ""}',
    'WWW-Authenticate: Bearer resource_metadata="https://host/.well-known/oauth-protected-resource"',
    'Basic authentication and Bearer authentication',
    'max_tokens=4096 and tokens=12, progressToken=7',
    'https://user@host/path and git@github.com:owner/name.git',
    'Set TURNBUCKLE_SECRET_GITHUB, or a secretCommand.',
    '{"token_endpoint":"https://host/token","token_type":"x"}',
  ])('does not look like a secret: %s', (text) => {
    expect(createRedactor().text(text)).toBe(text);
  });

  it('does not occur in our own docs, except in examples', () => {
    const redactor = createRedactor();
    const changed = [
      'docs/errors.md',
      'docs/lifecycle.md',
      'docs/glossary.md',
      'docs/architecture.md',
    ].flatMap((page) =>
      readText(page)
        .split('\n')
        .filter((line) => redactor.text(line) !== line),
    );
    expect(changed).toEqual([]);
  });
});

describe('a secret that was learned', () => {
  it.each([
    ['too short to tell from a word', 'abcde', 'abcde fghij'],
    ['empty', '   ', 'a   b'],
    ['the mark itself', '[redacted]', 'a [redacted] b'],
    ['a part of the mark', 'redacted', 'redacted'],
  ])('is kept if it is %s', (_name, secret, text) => {
    expect(knowing(secret).text(text)).toBe(text);
  });

  it('is redacted inside longer words, each time, and without its scheme', () => {
    const { text } = knowing('Bearer s3cr3t-value');
    expect(text('<s3cr3t-value>,xs3cr3t-valuex s3cr3t-value')).toBe('<[redacted]>,x[redacted]x [redacted]');
  });

  it('is redacted together with what overlaps it', () => {
    const { text } = knowing('abcdef1234', '1234ghijkl', 'abcdef');
    expect(text('_abcdef1234ghijkl_ abcdefgh')).toBe('_[redacted]_ [redacted]gh');
  });

  it('is redacted where a text was truncated in the middle of it', () => {
    const { text } = knowing('tok-9f8e7d6c5b4a3f2e1d0c');
    expect(text('It wrote: …d6c5b4a3f2e1d0c and more')).toBe('It wrote: …[redacted] and more');
    expect(text('Server answered: key is tok-9f8e7d')).toBe('Server answered: key is [redacted]');
    expect(text('…7d6c5b4a3f2e…')).toBe('…[redacted]…');
    expect(text('a token: tok')).toBe('a token: tok');
  });

  it('is known line by line if it has several lines', () => {
    const lines = ['first line of the key 1', 'second line of the key 2'];
    const { text } = knowing(lines.join('\n'));
    expect(text(`at ${lines[1]}!`)).toBe('at [redacted]!');
  });

  it('is known whatever its length', () => {
    const token = `eyq${'a1B2c3D4'.repeat(1_000)}`;
    const words = `${'many words, '.repeat(500)}end`;
    const { text } = knowing(token, words);
    expect(text(`x ${token} y ${words} z`)).toMatch(/^x \[redacted\] y (\[redacted\])+ z$/);
  });

  it('of a sign-in is forgotten only after a thousand newer ones', () => {
    const redactor = knowing();
    redactor.learn('the-first-one-1', 'signed-in');
    const many = Array.from({ length: 999 }, (_, index) => `another-${index}-one`);
    for (const secret of many) redactor.learn(secret, 'signed-in');
    expect(redactor.text('the-first-one-1')).toBe('[redacted]');
    redactor.learn('one-too-many-2', 'signed-in');
    expect(redactor.text('the-first-one-1')).toBe('the-first-one-1');
  });

  it('of the configuration is not forgotten for those of sign-ins', () => {
    const redactor = knowing('the-configured-one-1');
    for (let index = 0; index < 2_000; index += 1) redactor.learn(`token-${index}-of-a-day`, 'signed-in');
    expect(redactor.text('the-configured-one-1')).toBe('[redacted]');
    expect(redactor.text('token-1999-of-a-day')).toBe('[redacted]');
    expect(redactor.knows({ a: ['the-configured-one-1'] })).toBe(true);
  });

  it('of requests are kept up to a total length, the latest ones first', () => {
    const redactor = knowing('the-configured-one-1').createChild();
    const secretOf = (index: number): string =>
      Array.from({ length: 125 }, (_, part) =>
        createHash('sha256').update(`${index} ${part}`).digest('hex'),
      ).join('');
    for (let index = 0; index < 100; index += 1) redactor.learn(secretOf(index), 'brought');
    expect(redactor.text(secretOf(99))).toBe('[redacted]');
    expect(redactor.text(secretOf(0))).toBe(secretOf(0));
    expect(redactor.text('the-configured-one-1')).toBe('[redacted]');
  });

  it.each([
    ['many', 400, (index: number) => `brought-along-${index}`],
    ['long ones', 60, (index: number) => `brought-${index}-`.repeat(120)],
  ])(
    'that one brought is not forgotten for %s of another, also if it is brought again without a name',
    (_, count, write) => {
      const redactor = knowing('the-configured-one-1').createChild();
      redactor.learn('the-key-of-one-agent', undefined, 'one');
      redactor.learn('the-key-of-one-agent');
      for (let index = 0; index < count; index += 1) redactor.learn(write(index), undefined, 'another');
      expect(redactor.text('the-key-of-one-agent')).toBe('[redacted]');
      expect(redactor.text(write(count - 1))).not.toContain(write(count - 1));
      expect(redactor.text('brought-along-0')).toBe('brought-along-0');
    },
  );

  it('of a child redactor is redacted in addition to those of its parent, and does not change the parent', () => {
    const redactor = knowing('the-configured-one-1');
    const beside = redactor.createChild();
    for (let index = 0; index < 2_000; index += 1) beside.learn(`brought-${index}-along`);
    redactor.learn('the-configured-one-2');
    const text = 'the-configured-one-1, the-configured-one-2, brought-1999-along';
    expect(beside.text(text)).toBe('[redacted], [redacted], [redacted]');
    expect(redactor.text(text)).toBe('[redacted], [redacted], brought-1999-along');
    expect([beside.knows(text), beside.knows('brought-1999-along')]).toEqual([true, false]);
    expect([redactor.finds('brought-1999-along'), beside.finds('brought-1999-along')]).toEqual([false, true]);
  });
});

describe('data', () => {
  const { value } = knowing('s3cr3t-value');

  it('loses values under secret names, in every notation, and keeps the rest', () => {
    const data = {
      apiKey: 'a',
      'x-api-key': 'b',
      CLIENT_SECRET: 'c',
      nested: [{ refresh_token: 'd', tokens: 12, progressToken: 7, tokenUrl: 'https://host/' }],
      password: 1234,
      cookies: ['e', { deep: 'f' }],
      auth: { type: 'oauth', issuer: 'https://host', clientSecret: 'g' },
      token: '${secret:x}',
      secret: '',
      authorization: null,
    };
    expect(value(data)).toEqual({
      apiKey: '[redacted]',
      'x-api-key': '[redacted]',
      CLIENT_SECRET: '[redacted]',
      nested: [{ refresh_token: '[redacted]', tokens: 12, progressToken: 7, tokenUrl: 'https://host/' }],
      password: '[redacted]',
      cookies: ['[redacted]', { deep: '[redacted]' }],
      auth: { type: 'oauth', issuer: 'https://host', clientSecret: '[redacted]' },
      token: '${secret:x}',
      secret: '',
      authorization: null,
    });
    expect(data.apiKey).toBe('a');
  });

  it('is returned unchanged if it has no secret', () => {
    const data = { a: [1, 'two', { three: new Date(0) }], f: () => 1, m: new Map([['k', 'v']]) };
    expect(value(data)).toBe(data);
  });

  it('may be cyclic, be deep, throw, or have names that clash', () => {
    const ring: Record<string, unknown> = { text: 's3cr3t-value' };
    ring.self = ring;
    const copy = value(ring) as typeof ring;
    expect(copy.self).toBe(copy);
    expect(copy.text).toBe('[redacted]');
    let deep: unknown = 's3cr3t-value';
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(JSON.stringify(value(deep))).not.toContain('s3cr3t');
    const hostile = {
      get bad(): string {
        throw new Error('no');
      },
      's3cr3t-value': 1,
      's3cr3t-value!': 2,
      ['__proto__']: 's3cr3t-value',
    };
    expect(value(hostile)).toMatchObject({ '[redacted]': 1, '[redacted]!': 2 });
    expect(value({ 's3cr3t-value': 1, '[redacted]': 2 })).toEqual({ '[redacted]': 1, '[redacted] 2': 2 });
  });

  it('of every type is redacted', () => {
    const error = Object.assign(new TypeError('s3cr3t-value'), { spawnargs: ['s3cr3t-value'] });
    const copy = value({
      error,
      map: new Map([['s3cr3t-value', 's3cr3t-value']]),
      set: new Set(['s3cr3t-value']),
      bytes: Buffer.from('a s3cr3t-value'),
      url: new URL('https://host/s3cr3t-value'),
    }) as Record<string, unknown>;
    expect(copy).toMatchObject({
      map: new Map([['[redacted]', '[redacted]']]),
      set: new Set(['[redacted]']),
      bytes: '[redacted]',
      url: 'https://host/[redacted]',
    });
    expect(copy.error).toBeInstanceOf(Error);
    expect(copy.error).toMatchObject({ name: 'TypeError', message: '[redacted]', spawnargs: ['[redacted]'] });
    expect((copy.error as Error).stack).not.toContain('s3cr3t');
  });
});

describe('an error', () => {
  const redactor = knowing('s3cr3t-value');

  it('is returned unchanged if it has no secret in it', () => {
    const error = new TurnbuckleError('SERVER_ERROR', 'It failed.', {
      data: { a: 1 },
      cause: new Error('why'),
    });
    expect(redactor.error(error)).toBe(error);
  });

  it('loses the secret everywhere, including its causes, and keeps its class and fields', () => {
    const cause = new Error('outer', { cause: Object.assign(new Error('s3cr3t-value'), { code: 'ENOENT' }) });
    const clean = redactor.error(
      new TurnbuckleError('SERVER_ERROR', 'It said s3cr3t-value.', {
        server: 'files',
        tool: 'read',
        hint: 'Look at s3cr3t-value',
        data: { rpc: { message: 's3cr3t-value' }, sent: false },
        cause,
      }),
    );
    expect(clean).toBeInstanceOf(TurnbuckleError);
    expect(clean).toMatchObject({
      code: 'SERVER_ERROR',
      message: 'It said [redacted].',
      hint: 'Look at [redacted]',
      server: 'files',
      tool: 'read',
      data: { rpc: { message: '[redacted]' }, sent: false },
      cause: { message: 'outer', cause: { message: '[redacted]', code: 'ENOENT' } },
    });
    expect(clean.stack).toContain('redact.test');
    const cut = new TurnbuckleError('SERVER_ERROR', 'It said s3cr3t-va', {
      cause: new Error('It said s3cr3t-va'),
    });
    expect(inspect(redactor.error(cut))).not.toContain('s3cr3t');
    expect(clean.stack).not.toContain('s3cr3t');
  });
});

describe('names', () => {
  it.each([
    ...[
      'authorization',
      'Proxy-Authorization',
      'cookie',
      'Set-Cookie',
      'password',
      'passwd',
      'DB_PASS',
      'PGPASSWORD',
    ],
    ...[
      'secret',
      'client_secret',
      'clientSecret',
      'token',
      'refresh_token',
      'GITHUB_TOKEN',
      'TOKEN_PROD',
      '--token',
    ],
    ...[
      'apiKey',
      'api_key',
      'APIKEY',
      'x-api-key',
      'OPENAI_API_KEY',
      'API_KEY_1',
      'private_key',
      'AWS_SECRET_ACCESS_KEY',
    ],
    ...[
      'passphrase',
      'credentials',
      'jwt',
      'auth',
      'basicAuth',
      'sessionKey',
      'X-Auth-Token',
      'dbpassword',
      'sig',
    ],
  ])('%s is the name of a secret', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    ...[
      'tokens',
      'max_tokens',
      'tokenCount',
      'token_type',
      'token_endpoint',
      'tokenUrl',
      'tokenPath',
      'token-file',
    ],
    ...[
      'progressToken',
      'nextPageToken',
      'page_token',
      'key',
      'keyboard',
      'monkey',
      'author',
      'authority',
      'authUrl',
    ],
    ...[
      'passed',
      'secretary',
      'secret_name',
      'passwordPolicy',
      'expires_in',
      'name',
      'cookiePath',
      '',
      'signature',
      'design',
    ],
  ])('%s is not the name of a secret', (name) => {
    expect(isSecretName(name)).toBe(false);
  });

  it.each([
    ['9f8e7d6c5b4a3f2e1d0c', true],
    ['canary-9f8e7d6c5b4a3f2e', true],
    ['internationalization', false],
    ['8c6f0d5e-1b2a-4c3d-9e8f-001122334455', false],
    ['2026-07-28T10:00:00.000Z', false],
    ['/usr/lib/node_modules/server-filesystem', false],
    ['1234567890123456', false],
  ])('%s looks generated: %s', (text, generated) => {
    expect(looksGenerated(text)).toBe(generated);
  });
});
