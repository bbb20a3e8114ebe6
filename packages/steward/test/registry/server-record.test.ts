import { readFileSync } from 'node:fs';
import { REGISTRY_RECORDS, timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRegistryJson, readRecordList } from '../../src/registry/record-list.js';
import { parseServerRecord, toEntry } from '../../src/registry/server-record.js';

const NPM = { registryType: 'npm', identifier: 'a', version: '1.0.0', transport: { type: 'stdio' } };
const SERVER = { name: 'io.github.user/a', description: 'A', version: '1.0.0', packages: [NPM] };
const parse = (changes: object) => parseServerRecord({ server: { ...SERVER, ...changes } });
const packagesOf = (changes: object) => parse({ packages: [{ ...NPM, ...changes }] })?.packages ?? [];

describe('a record', () => {
  it('is read with its packages, remotes and inputs', () => {
    const record = parseServerRecord(
      REGISTRY_RECORDS.find(({ server }) => server.name === 'io.github.github/github-mcp-server'),
    );
    expect(record).toMatchObject({
      title: 'GitHub',
      status: 'active',
      isLatest: true,
      publishedAt: '2025-09-20T08:00:00.000Z',
      popularity: { stars: 24_000 },
      repository: { url: 'https://github.com/github/github-mcp-server' },
      packages: [
        {
          registryType: 'oci',
          identifier: 'ghcr.io/github/github-mcp-server:1.0.0',
          runtimeArguments: [
            {
              type: 'named',
              name: '-e',
              isRequired: true,
              isSecret: false,
              variables: { token: { isRequired: true, isSecret: true } },
            },
          ],
          packageArguments: [],
          environmentVariables: [],
        },
      ],
      remotes: [
        {
          type: 'streamable-http',
          url: 'https://api.githubcopilot.com/mcp/',
          headers: [{ name: 'Authorization', value: 'Bearer {token}', isSecret: true }],
        },
      ],
    });
  });

  it('is read without the envelope of the API, and without a version', () => {
    const { version: _version, ...unversioned } = SERVER;
    expect(parseServerRecord(SERVER)?.version).toBe('1.0.0');
    expect(parseServerRecord({ ...unversioned, packages: [{ ...NPM, version: '2.3.4' }] })?.version).toBe(
      '2.3.4',
    );
    expect(parseServerRecord({ ...unversioned, packages: null, remotes: null })?.version).toBe('0.0.0');
  });

  it.each([
    ['no name', { name: undefined }],
    ['a name without a namespace', { name: 'weather' }],
    ['two slashes in its name', { name: 'a.b/c/d' }],
    ['a path as its name', { name: '../../etc/passwd' }],
    ['a line break in its name', { name: 'a.b/c\nd' }],
    ['a name of 201 characters', { name: `a.b/${'c'.repeat(197)}` }],
    ['no description', { description: null }],
    ['a version that is a path', { version: '../1' }],
    ['a version that is a number', { version: 1 }],
  ])('with %s is invalid', (_what, changes) => {
    expect(parse(changes)).toBeUndefined();
  });

  it('of any kind is read again as the same', () => {
    for (const entry of REGISTRY_RECORDS) {
      const record = parseServerRecord(entry);
      expect(record).toBeDefined();
      if (record !== undefined)
        expect(parseServerRecord(JSON.parse(JSON.stringify(toEntry(record))))).toEqual(record);
    }
  });

  it('has a limit on everything', () => {
    const record = parse({
      title: 'x'.repeat(1e6),
      description: 'x'.repeat(1e6),
      packages: Array.from({ length: 1_000 }, () => NPM),
      websiteUrl: `https://${'x'.repeat(1e6)}`,
      _meta: { a: { keywords: Array.from({ length: 1_000 }, (_, at) => `k${at}`) } },
    });
    expect(record?.title).toHaveLength(200);
    expect(record?.description).toHaveLength(2_000);
    expect(record?.packages).toHaveLength(20);
    expect(record?.keywords).toHaveLength(30);
    expect(record?.websiteUrl).toBeUndefined();
  });
});

describe('a package', () => {
  it.each([
    ['npm', 'server', '@scope/server.name'],
    ['pypi', 'mcp-server_fetch', 'A.b'],
    ['oci', 'docker.io/mcp/redis:1.0', 'ghcr.io/a/b@sha256:0123'],
    ['nuget', 'Example.Server', '_A'],
    ['mcpb', 'https://a.example/b.mcpb', 'https://b.example/c'],
  ])('of the type %s is read', (registryType, ...identifiers) => {
    for (const identifier of identifiers) expect(packagesOf({ registryType, identifier })).toHaveLength(1);
  });

  it.each([
    ['an unknown type', { registryType: 'cargo' }],
    ['an option as its identifier', { identifier: '--eval' }],
    ['an alias as its identifier', { identifier: 'a@npm:b' }],
    ['a path as its identifier', { identifier: '../a' }],
    ['a URL as its npm identifier', { identifier: 'https://evil.example/a.tgz' }],
    ['a bundle over plain http', { registryType: 'mcpb', identifier: 'http://a.example/b.mcpb' }],
    ['the version latest', { version: 'latest' }],
    ['a range of versions', { version: '^1.2.3' }],
    ['a version with a wildcard', { version: '1.x' }],
    ['a hash that is none', { fileSha256: 'abc' }],
    ['an unknown transport', { transport: { type: 'carrier-pigeon' } }],
    ['a script as the URL of its transport', { transport: { type: 'sse', url: 'javascript:alert(1)' } }],
    ['a bad name of a variable', { environmentVariables: [{ name: 'A=B' }] }],
    ['a zero byte in an argument', { packageArguments: [{ type: 'positional', value: 'a\0b' }] }],
    ['an argument of an unknown type', { packageArguments: [{ type: 'other', value: 'a' }] }],
    ['a huge value', { runtimeArguments: [{ type: 'named', name: '--a', value: 'x'.repeat(5_000) }] }],
    ['a million arguments', { packageArguments: Array.from({ length: 1e6 }, () => ({})) }],
    ['an object instead of a list', { environmentVariables: { name: 'A' } }],
  ])('with %s is left out, and the record stays', (_what, changes) => {
    const record = parse({ packages: [{ ...NPM, ...changes }, NPM] });
    expect(record?.packages).toHaveLength(1);
  });

  it('has values that were written as numbers or booleans, as text', () => {
    const variables = [{ name: 'PORT', default: 8080, choices: [8080, true], isRequired: true }];
    expect(packagesOf({ environmentVariables: variables })[0]?.environmentVariables).toMatchObject([
      { name: 'PORT', default: '8080', choices: ['8080', 'true'], isRequired: true, isSecret: false },
    ]);
  });
});

describe('metadata', () => {
  it('of the publisher has no popularity, but keywords', () => {
    const publisher = {
      'io.modelcontextprotocol.registry/publisher-provided': { stars: 1e6, keywords: ['a'] },
    };
    const record = parseServerRecord({ server: { ...SERVER, _meta: publisher }, _meta: publisher });
    expect(record).toMatchObject({ popularity: {}, keywords: ['a'] });
  });

  it.each([-1, Number.NaN, 1e300, '5', null])('with the count %s counts nothing', (stars) => {
    expect(parseServerRecord({ server: SERVER, _meta: { a: { stars } } })?.popularity).toEqual({});
  });

  it.each(['never', '+275760-09-13T00:00:00Z', '-000001-01-01T00:00:00Z', 5])(
    'with the time %s has none',
    (at) => {
      const official = { 'io.modelcontextprotocol.registry/official': { updatedAt: at, status: 'odd' } };
      const record = parseServerRecord({ server: SERVER, _meta: official });
      expect(record).toMatchObject({ status: 'active' });
      expect(record?.updatedAt).toBeUndefined();
    },
  );

  it('with very many members takes no time', async () => {
    const many = Object.fromEntries(Array.from({ length: 99_000 }, (_, at) => [`k${at}`, {}]));
    const text = JSON.stringify([
      { server: SERVER, _meta: { a: many } },
      { server: SERVER, _meta: many },
    ]);
    const value = await parseRegistryJson(text);
    const begun = performance.now();
    expect((await readRecordList(value))?.records).toHaveLength(2);
    expect(performance.now() - begun).toBeLessThan(timeBound(50));
  });
});

describe('a list', () => {
  it('is read without its invalid records, which are counted', async () => {
    const list = await readRecordList({ servers: [SERVER, null, {}, 'x', { server: SERVER }, [SERVER]] });
    expect(list).toMatchObject({ skipped: 4 });
    expect(list?.records.map(({ name }) => name)).toEqual([SERVER.name, SERVER.name]);
  });

  it('may be an array, or null for an empty one', async () => {
    expect((await readRecordList([SERVER]))?.records).toHaveLength(1);
    expect(await readRecordList({ servers: null })).toMatchObject({ records: [], skipped: 0 });
  });

  it.each([[undefined], [null], ['text'], [{ error: 'x' }], [{ servers: 'x' }], [{ servers: {} }]])(
    'is not %j',
    async (value) => {
      expect(await readRecordList(value)).toBeUndefined();
    },
  );

  it.each([[5], [''], ['x'.repeat(3_000)], [{}]])(
    'has no next page with the cursor %j',
    async (nextCursor) => {
      expect((await readRecordList({ servers: [], metadata: { nextCursor } }))?.next).toBeUndefined();
    },
  );
});

it('any JSON as a record never throws, and what is read is read again as the same', () => {
  const keys = [
    'server _meta name description version packages remotes repository registryType identifier transport type url',
    'headers variables environmentVariables packageArguments value default choices keywords engines node stars',
    'io.modelcontextprotocol.registry/official status updatedAt __proto__ constructor',
  ].flatMap((line) => line.split(' '));
  const texts = [
    'npm',
    'stdio',
    'sse',
    'positional',
    'named',
    'io.github.a/b',
    'https://a.example',
    '1.0.0',
    '\0',
  ];
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom(...texts),
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 6 }),
    ),
  })).value;
  const someRecord = fc.record({
    name: fc.constant('a.b/c'),
    description: fc.string(),
    packages: json,
    remotes: json,
    _meta: json,
  });
  fc.assert(
    fc.property(fc.oneof(json, fc.record({ server: fc.oneof(json, someRecord), _meta: json })), (value) => {
      const record = parseServerRecord(value);
      if (record !== undefined)
        expect(parseServerRecord(JSON.parse(JSON.stringify(toEntry(record))))).toEqual(record);
    }),
    { numRuns: 2_000 },
  );
});

const real = process.env.TURNBUCKLE_REGISTRY_RECORDS;
if (real !== undefined)
  it('the records in TURNBUCKLE_REGISTRY_RECORDS are all read', async () => {
    const list = await readRecordList(JSON.parse(readFileSync(real ?? '', 'utf8')));
    expect(list?.records.length).toBeGreaterThan(0);
    expect(list?.skipped).toBe(0);
    expect(list?.records.filter(({ packages, remotes }) => packages.length + remotes.length === 0)).toEqual(
      [],
    );
  });
