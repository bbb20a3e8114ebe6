import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { REGISTRY_RECORDS, registryEntry, temporaryDirectory } from '@turnbuckle/testing';
import fc from 'fast-check';
import { inSlices } from 'turnbuckle/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inspectMachine, missingFor } from '../../src/registry/machine.js';
import { type Candidate, prepareRecords, type RankOptions, rank } from '../../src/registry/ranking.js';
import { readRecordList } from '../../src/registry/record-list.js';
import { compareVersions, newestOf } from '../../src/registry/record-versions.js';
import { parseServerRecord, type ServerRecord } from '../../src/registry/server-record.js';
import { prepareSimilarNames } from '../../src/registry/similar-names.js';
import { verificationOf } from '../../src/registry/verified-namespace.js';
import { MACHINE, namesFor, registryFixture, START } from './registry-fixture.js';

const toRecord = (entry: unknown): ServerRecord => {
  const record = parseServerRecord(entry);
  if (record === undefined) throw new Error('The record of the test is invalid.');
  return record;
};
const RECORDS = REGISTRY_RECORDS.map(toRecord);

async function ranked(
  records: readonly ServerRecord[],
  options: Partial<RankOptions> = {},
): Promise<Candidate[]> {
  const all = { purpose: 'weather', limit: 50, machine: MACHINE, now: START, ...options };
  return rank(await prepareRecords(records), all);
}

const npm = (identifier: string) => ({
  registryType: 'npm',
  identifier,
  version: '1.0.0',
  transport: { type: 'stdio' },
});
const weather = (changes: Partial<Parameters<typeof registryEntry>[0]>): ServerRecord =>
  toRecord(
    registryEntry({
      name: 'io.github.a/weather',
      title: 'Weather',
      description: 'Weather',
      packages: [npm('w')],
      ...changes,
    }),
  );
const only = async (record: ServerRecord, options?: Partial<RankOptions>): Promise<Candidate> => {
  const [candidate] = await ranked([record], options);
  if (candidate === undefined) throw new Error('There is no candidate.');
  return candidate;
};

// requirement E3
describe('a search finds what is meant', () => {
  it.each([
    ['files', 'server-filesystem'],
    ['read spreadsheets', 'excel-mcp-server'],
    ['I need to edit an Excel workbook', 'excel-mcp-server'],
    ['read spreadsheets', 'google-sheets'],
    ['browse the web', 'playwright-mcp'],
    ['search the web', 'brave-search'],
    ['postgres database', 'postgres-mcp'],
    ['run SQL queries on PostgreSQL', 'postgres-mcp'],
    ['send an email', 'mail'],
    ['weather forecast', 'weather'],
    ['create a ticket in Jira', 'atlassian-mcp-server'],
    ['GitHub pull requests', 'github-mcp-server'],
    ['post messages to a Slack channel', 'slack-mcp-server'],
    ['schedule a meeting in my calendar', 'google-calendar-mcp'],
    ['refund a payment', 'mcp'],
    ['kubernetes pods', 'kubernetes-mcp-server'],
    ['extract text from a PDF', 'pdf-reader'],
    ['what errors does my application have', 'sentry-mcp'],
    ['a typo: kubernets', 'kubernetes-mcp-server'],
  ])('for "%s" %s is among the first three', async (purpose, expected) => {
    const { open } = await registryFixture();
    expect((await namesFor(open(), purpose)).slice(0, 3)).toContain(expected);
  });

  it.each(['', '   ', 'the a of', 'mcp server', '\0\u202e', '???', 'zzzzqqqq'])(
    'for %j nothing',
    async (purpose) => {
      expect(await ranked(RECORDS, { purpose })).toEqual([]);
    },
  );

  it('within limits', async () => {
    const { open } = await registryFixture();
    const registry = open();
    expect((await registry.search('server for files and data', { limit: 2 })).length).toBe(2);
    expect((await registry.search('files', { limit: -5 })).length).toBe(1);
    expect(Array.isArray(await registry.search('word '.repeat(100_000)))).toBe(true);
  });

  it('in the same order, whatever the order of the records', async () => {
    const names = (candidates: readonly Candidate[]) =>
      candidates.map(({ record, score }) => [record.name, score]);
    const purpose = 'read files and tables of a database';
    const expected = names(await ranked(RECORDS, { purpose }));
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(RECORDS, { minLength: RECORDS.length }), async (shuffled) => {
        expect(names(await ranked(shuffled, { purpose }))).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });

  it('and never throws for any purpose', async () => {
    const prepared = await prepareRecords(RECORDS);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (purpose) => {
        const found = await rank(prepared, { purpose, limit: 10, machine: MACHINE, now: START });
        expect(found.every(({ score, reasons }) => Number.isFinite(score) && reasons.length > 0)).toBe(true);
      }),
    );
  });
});

describe('a candidate', () => {
  it('is the newest version that is active and can be run', async () => {
    const found = await ranked([
      weather({ version: '1.10.0', isLatest: false }),
      weather({ version: '1.9.0', isLatest: false }),
      weather({ name: 'io.github.b/weather', status: 'deprecated' }),
      weather({ name: 'io.github.c/weather', status: 'deleted' }),
      weather({ name: 'io.github.d/weather', packages: [] }),
      weather({ name: 'io.github.e/weather', version: '2.0.0', status: 'deleted' }),
      weather({ name: 'io.github.e/weather', version: '1.0.0', isLatest: false }),
      weather({ name: 'io.github.f/weather', version: '2.0.0', status: 'deprecated' }),
      weather({ name: 'io.github.f/weather', version: '1.0.0', isLatest: false }),
    ]);
    expect(found.map(({ record: { name, version } }) => `${name} ${version}`)).toEqual([
      'io.github.a/weather 1.10.0',
      'io.github.e/weather 1.0.0',
    ]);
  });

  it('says why it is where it is', async () => {
    const record = weather({
      stars: 99,
      repository: 'https://github.com/A/weather',
      packages: [{ registryType: 'pypi', identifier: 'w', transport: { type: 'stdio' } }],
      publishedAt: new Date(START - 2 * 86_400_000).toISOString(),
    });
    const candidate = await only(record, { machine: { commands: new Set(), node: 22 } });
    expect(candidate).toEqual({
      record,
      score: 100 + 6 + 4 + 0 - 15 - 5,
      reasons: [
        'matches weather',
        'its source repository belongs to the owner in its name',
        '99 stars, according to the registry',
        'a package (pypi)',
        'needs uvx, which is not installed',
        'published 2 days ago',
      ],
      missing: ['uvx'],
      verified: true,
    });
  });

  it('that is popular, verified or runs here comes before an equal one', async () => {
    const names = ['plain', 'stars', 'verified', 'docker'];
    const found = await ranked([
      weather({ name: 'io.github.plain/weather' }),
      weather({ name: 'io.github.stars/weather', stars: 5 }),
      weather({ name: 'io.github.verified/weather', repository: 'https://github.com/verified/x' }),
      weather({
        name: 'io.github.docker/weather',
        packages: [{ registryType: 'nuget', identifier: 'w', transport: { type: 'stdio' } }],
      }),
    ]);
    expect(found.map(({ record }) => names.find((name) => record.name.includes(name)))).toEqual([
      'verified',
      'stars',
      'plain',
      'docker',
    ]);
  });

  it('that fits better comes before a popular one', async () => {
    const found = await ranked(
      [
        weather({
          name: 'io.github.a/tides',
          title: 'Tides',
          description: 'Tides and weather of the sea',
          stars: 1e6,
        }),
        weather({ name: 'io.github.b/weather' }),
      ],
      { purpose: 'weather' },
    );
    expect(found[0]?.record.name).toBe('io.github.b/weather');
  });
});

describe('a namespace', () => {
  const remote = (...urls: string[]) => urls.map((url) => ({ type: 'streamable-http', url }));
  it.each<[name: string, changes: Parameters<typeof weather>[0], verification: string | undefined]>([
    ['io.github.user/a', { repository: 'https://github.com/User/repo' }, 'owner'],
    ['io.github.user/a', { repository: 'https://www.github.com/user/repo' }, 'owner'],
    ['io.github.user/a', { repository: 'https://github.com/other/user' }, undefined],
    ['io.github.user/a', { repository: 'https://github.com.evil.example/user/repo' }, undefined],
    ['io.github.user/a', { repository: 'https://github.com@evil.example/user/repo' }, undefined],
    ['io.github.user/a', { repository: 'https://user:x@github.com/user/repo' }, undefined],
    ['io.github.user/a', { repository: 'http://github.com/user/repo' }, undefined],
    ['io.github.user/a', {}, undefined],
    ['io.github.user.more/a', { repository: 'https://github.com/user/repo' }, undefined],
    ['io.github/a', { repository: 'https://github.com/a/b' }, undefined],
    ['com.example/a', { remotes: remote('https://example.com/mcp') }, 'domain'],
    ['com.example/a', { remotes: remote('https://mcp.EXAMPLE.com/mcp') }, 'domain'],
    ['com.example/a', { remotes: remote('https://notexample.com/mcp') }, undefined],
    ['com.example/a', { remotes: remote('https://example.com.evil.example') }, undefined],
    ['com.example/a', { remotes: remote('https://example.com', 'https://evil.example') }, undefined],
    ['com.example/a', { remotes: remote('https://{tenant}.example.com/mcp') }, undefined],
    ['com.example/a', { remotes: remote('https://mcp.example.com/{tenant}') }, 'domain'],
    ['com.example/a', { remotes: remote('http://example.com/mcp') }, undefined],
    ['com.example/a', { repository: 'https://git.example.com/a' }, 'domain'],
    ['com.example/a', { repository: 'https://github.com/example/a' }, undefined],
    ['org.bitbucket/a', { repository: 'https://bitbucket.org/anybody/a' }, undefined],
    ['com/a', { remotes: remote('https://example.com') }, undefined],
    ['com..example/a', { remotes: remote('https://example.com') }, undefined],
  ])('%s with %j is verified by %s', (name, changes, verification) => {
    expect(verificationOf(weather({ name, ...changes }))).toBe(verification);
  });
});

const similarIn = async (known: readonly ServerRecord[], record: ServerRecord): Promise<string | undefined> =>
  (await inSlices(prepareSimilarNames(known)))(record);

describe('a name that resembles a much better known one', () => {
  const known = weather({
    name: 'io.github.skies/forecaster-pro',
    repository: 'https://github.com/skies/x',
    stars: 5_000,
    packages: [npm('@skies/forecaster-pro')],
  });
  const similarTo = (name: string, identifier = 'other', more = {}) =>
    similarIn([known], weather({ name, packages: [npm(identifier)], ...more }));

  it.each([
    ['one letter less', 'io.github.evil/forecastr-pro', 'other'],
    ['swapped letters', 'io.github.evil/foreacster-pro', 'other'],
    ['a digit for a letter', 'io.github.evil/f0recaster-pr0', 'other'],
    ['another separator', 'io.github.evil/forecaster_pro', 'other'],
    ['the same name', 'io.github.evil/forecaster-pro', 'other'],
    ['capital letters', 'io.github.evil/Forecaster-Pro', 'other'],
    ['a package of nearly the same name', 'io.github.evil/other', 'forecaster-por'],
    ['the same package of another scope', 'io.github.evil/other', '@skles/forecaster-pro'],
  ])('by %s is marked', async (_what, name, identifier) => {
    expect(await similarTo(name, identifier)).toBe(known.name);
  });

  it.each([
    ['another name', 'io.github.evil/forecasting', 'other', {}],
    ['the same publisher', 'io.github.skies/forecaster-prod', 'other', {}],
    [
      'its own domain',
      'com.example/forecaster-pro',
      'other',
      { remotes: [{ type: 'sse', url: 'https://example.com' }] },
    ],
    ['as many stars', 'io.github.rival/forecaster-pro', 'other', { stars: 4_000 }],
  ])('but has %s is not marked', async (_what, name, identifier, more) => {
    expect(await similarTo(name, identifier, more)).toBeUndefined();
  });

  it('is not marked if it is short, like most names', async () => {
    const git = weather({ name: 'io.github.modelcontextprotocol/server-git', packages: [npm('server-git')] });
    expect(await similarIn([git], weather({ name: 'io.github.a/server-gis' }))).toBeUndefined();
    expect(await similarIn([git], weather({ name: 'io.github.a/mcp-git' }))).toBeUndefined();
  });

  it('comes far behind it in a search, and says so', async () => {
    const found = await ranked(RECORDS, { purpose: 'files in directories' });
    const original = 'io.github.modelcontextprotocol/server-filesystem';
    const imitations = found.filter(({ record }) => /protocl|filesystm/.test(record.name));
    expect(found[0]?.record.name).toBe(original);
    expect(imitations.length).toBe(2);
    for (const { reasons, score } of imitations) {
      expect(reasons).toContain(`similar to ${original}`);
      expect(score).toBeLessThan((found[0]?.score ?? 0) - 40);
    }
  });
});

describe('what a server needs', () => {
  const stdio = { type: 'stdio' };
  const needs = (packages: readonly unknown[], more = {}, commands: readonly string[] = [], node = 20) =>
    missingFor(weather({ packages, ...more }), { commands: new Set(commands), node });

  it('is found in PATH', async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    for (const name of ['uvx', 'docker']) writeFileSync(directory.file(name), '');
    chmodSync(directory.file('uvx'), 0o755);
    chmodSync(directory.file('docker'), 0o644);
    mkdirSync(directory.file('empty/podman'), { recursive: true });
    const isWindows = process.platform === 'win32';
    expect((await inspectMachine(`${directory.file('empty')}:relative::${directory.path}`)).commands).toEqual(
      new Set(isWindows ? [] : ['uvx']),
    );
    expect((await inspectMachine('')).commands).toEqual(new Set());
    expect((await inspectMachine()).node).toBe(Number(process.versions.node.split('.')[0]));
  });

  it('depends on its packages; the one that needs least counts', () => {
    const oci = { registryType: 'oci', identifier: 'a/b:1', transport: stdio };
    const pypi = { registryType: 'pypi', identifier: 'a', transport: stdio };
    const nuget = { registryType: 'nuget', identifier: 'a', transport: stdio };
    expect(needs([oci])).toEqual(['docker or podman']);
    expect(needs([oci], {}, ['podman'])).toEqual([]);
    expect(needs([pypi, oci])).toEqual(['uvx']);
    expect(needs([pypi, oci], {}, ['docker'])).toEqual([]);
    expect(needs([nuget])).toEqual(['dnx']);
    expect(needs([pypi, npm('a')])).toEqual([]);
    expect(needs([pypi], { remotes: [{ type: 'sse', url: 'https://a.example' }] })).toEqual([]);
  });

  it.each([
    ['>=22', ['Node 22']],
    ['^22.1.0', ['Node 22']],
    ['>= 18.0', []],
    ['20', []],
    ['<30 || x', []],
    [7, []],
  ])('for the Node versions %s is %j', (node, missing) => {
    const { server } = registryEntry({ name: 'a.b/c', title: 'C', description: 'C', packages: [npm('c')] });
    const record = toRecord({ server: { ...server, _meta: { a: { engines: { node } } } }, _meta: {} });
    expect(missingFor(record, { commands: new Set(), node: 20 })).toEqual(missing);
  });
});

describe('versions', () => {
  it('are ordered', () => {
    const ordered = [
      '0.9',
      '1.0.0-alpha',
      '1.0.0-alpha.2',
      '1.0.0-beta',
      '1.0.0',
      '1.0.1',
      '1.2.0',
      '1.10.0',
      '2025.1.1',
    ];
    for (let at = 1; at < ordered.length; at += 1) {
      expect(compareVersions(ordered[at - 1] ?? '', ordered[at] ?? '')).toBeLessThan(0);
      expect(compareVersions(ordered[at] ?? '', ordered[at - 1] ?? '')).toBeGreaterThan(0);
    }
    expect(compareVersions('v1.0', '1.0.0+build')).toBe(0);
    expect(compareVersions(`1.${'9'.repeat(40)}`, `1.${'9'.repeat(41)}`)).toBeLessThan(0);
  });

  it('that the registry calls the latest are the newest', () => {
    const old = weather({ version: '1.0.0', isLatest: true });
    expect(newestOf([weather({ version: '2.0.0', isLatest: false }), old])).toBe(old);
    expect(newestOf([])).toBeUndefined();
  });
});

const real = process.env.TURNBUCKLE_REGISTRY_RECORDS;
if (real !== undefined)
  it('the records in TURNBUCKLE_REGISTRY_RECORDS can be searched', async () => {
    const list = await readRecordList(JSON.parse(readFileSync(real ?? '', 'utf8')));
    const first = async (purpose: string) =>
      (await ranked(list?.records ?? [], { purpose })).slice(0, 3).map(({ record }) => record.name);
    expect((await first('files')).join()).toContain('filesystem');
    expect((await first('postgres database')).join()).toContain('postgres');
  });
