import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import {
  REGISTRY_RECORDS,
  type RegistryFault,
  registryEntry,
  startMcpRegistry,
  waitUntil,
} from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { namesFor, registryFixture } from './registry-fixture.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const busy: RegistryFault = { kind: 'status', status: 429, retryAfter: '2' };
const broken: RegistryFault = { kind: 'status', status: 500 };

// requirement E3
describe('a registry is read', () => {
  it('page by page, and only the latest versions', async () => {
    const { server, open } = await registryFixture({ pageSize: 4 });
    const registry = open();
    expect(await namesFor(registry, 'weather')).toContain('weather');
    expect(server.requests.length).toBe(8);
    expect(server.requests[0]?.query).toEqual({ limit: '100', version: 'latest' });
    const visible = REGISTRY_RECORDS.filter(
      ({ _meta }) => !/"isLatest":false|"deleted"/.test(JSON.stringify(_meta)),
    );
    expect(registry.status()).toMatchObject([
      { source: `${server.url}/`, records: visible.length, skipped: 0 },
    ]);
    expect(registry.status()[0]?.note).toBeUndefined();
  });

  it.each(['', '/', '/v0.1', '/v0.1/', '/v0.1/servers', '/v0'])(
    'by its base URL with "%s"',
    async (ending) => {
      const { server, open } = await registryFixture();
      await open([{ url: `${server.url}${ending}` }]).search('weather');
      expect(server.requests[0]?.path).toBe('/v0.1/servers');
    },
  );

  it('although records in it are invalid', async () => {
    const records = [null, 'x', { server: { name: 5 }, _meta: {} }, ...REGISTRY_RECORDS, { server: {} }];
    const { open } = await registryFixture({ records, pageSize: 7 });
    const registry = open();
    expect(await namesFor(registry, 'weather')).toContain('weather');
    expect(registry.status()).toMatchObject([{ skipped: 4 }]);
  });

  it('once for callers at the same time', async () => {
    const { server, open } = await registryFixture({ pageSize: 20 });
    const registry = open();
    const all = await Promise.all(['files', 'weather', 'slack'].map((purpose) => registry.search(purpose)));
    expect(all.every(({ length }) => length > 0)).toBe(true);
    expect(server.requests.length).toBe(2);
  });

  it('again only after an hour, and then only what has changed', async () => {
    const { server, move, open } = await registryFixture({ pageSize: 100 });
    const registry = open();
    await registry.search('weather');
    move(HOUR - 1);
    await registry.search('weather');
    expect(server.requests.length).toBe(1);
    const added = registryEntry({
      name: 'io.github.new/umbrella',
      title: 'Umbrella',
      description: 'Says whether to take an umbrella',
      packages: [{ registryType: 'npm', identifier: 'umbrella', transport: { type: 'stdio' } }],
      updatedAt: '2026-01-10T12:30:00Z',
    });
    const gone = REGISTRY_RECORDS.filter(({ server: { name } }) => name === 'io.github.skies/weather').map(
      (entry) => ({
        ...entry,
        _meta: {
          'io.modelcontextprotocol.registry/official': {
            status: 'deleted',
            isLatest: true,
            updatedAt: '2026-01-10T12:31:00Z',
          },
        },
      }),
    );
    server.records = [added, ...gone];
    move(1);
    expect(await namesFor(registry, 'umbrella')).toEqual(['umbrella']);
    expect(await namesFor(registry, 'weather')).not.toContain('weather');
    expect(await namesFor(registry, 'slack')).toContain('slack-mcp-server');
    // The latest change that it has seen, less five minutes.
    expect(server.requests[1]?.query.updated_since).toBe('2025-11-02T09:55:00.000Z');
    expect(server.requests.length).toBe(2);
  });

  it('wholly again after a week, and when it does not support changes', async () => {
    const { server, move, open } = await registryFixture({ pageSize: 100 });
    const registry = open();
    await registry.search('weather');
    move(2 * HOUR);
    server.faults.push({ kind: 'status', status: 400 });
    expect(await namesFor(registry, 'weather')).toContain('weather');
    expect(server.requests.map(({ query }) => query.updated_since !== undefined)).toEqual([
      false,
      true,
      false,
    ]);
    move(8 * DAY);
    server.records = REGISTRY_RECORDS.slice(0, 1);
    expect(await namesFor(registry, 'slack')).toEqual([]);
    expect(server.requests[3]?.query.updated_since).toBeUndefined();
  });

  it('wholly again if a record from the future would hide its changes', async () => {
    const future = registryEntry({
      name: 'a.b/future',
      title: 'F',
      description: 'Future',
      updatedAt: '2999-01-01T00:00:00Z',
    });
    const { server, move, open } = await registryFixture({ records: [future] });
    const registry = open();
    await registry.search('weather');
    move(2 * HOUR);
    await registry.search('weather');
    expect(server.requests[1]?.query.updated_since).toBe('2026-01-10T11:55:00.000Z');
  });
});

describe('the cache of a registry', () => {
  it('is used by the next process, and private', async () => {
    const { server, directory, open } = await registryFixture();
    await open().search('weather');
    const asked = server.requests.length;
    expect(await namesFor(open(), 'weather')).toContain('weather');
    expect(server.requests.length).toBe(asked);
    const [file = ''] = readdirSync(directory.file('cache'));
    expect(statSync(directory.file('cache')).mode & 0o777).toBe(0o700);
    expect(statSync(directory.file(`cache/${file}`)).mode & 0o777).toBe(0o600);
  });

  it('replaces a registry that cannot be reached, and says how old it is', async () => {
    const { server, move, open } = await registryFixture();
    await open().search('weather');
    await server.stop();
    move(3 * DAY + HOUR);
    const registry = open();
    expect(await namesFor(registry, 'weather')).toContain('weather');
    expect(registry.status()).toMatchObject([
      {
        readAt: '2026-01-10T12:00:00.000Z',
        note: `The registry at ${server.url}/v0.1/servers could not be reached. Using its list from 3 days ago.`,
      },
    ]);
    expect(await registry.get('io.github.skies/weather')).toMatchObject({ version: '2.1.0' });
  });

  it.each<[what: string, fault: RegistryFault]>([
    ['fails', broken],
    ['is busy', { kind: 'status', status: 429, retryAfter: '3600' }],
    ['answers without JSON', { kind: 'body', body: '<html>' }],
    ['answers with other JSON', { kind: 'body', body: '{"error":"x"}' }],
    ['requires a sign-in', { kind: 'status', status: 401 }],
    ['hangs up', { kind: 'hang-up' }],
    ['redirects elsewhere', { kind: 'redirect', to: 'https://evil.example/' }],
    ['never ends its answer', { kind: 'huge-body' }],
  ])('replaces a registry that %s; it is asked again a minute later', async (_what, fault) => {
    const { server, move, open } = await registryFixture();
    const registry = open();
    await registry.search('weather');
    server.fault = fault;
    move(2 * HOUR);
    expect(await namesFor(registry, 'weather')).toContain('weather');
    expect(registry.status()[0]?.note).toContain('Using its list from 2 hours ago.');
    const asked = server.requests.length;
    expect(await namesFor(registry, 'weather')).toContain('weather');
    expect(server.requests.length).toBe(asked);
    server.fault = undefined;
    move(60_000);
    await registry.search('weather');
    expect(registry.status()[0]?.note).toBeUndefined();
  });

  it('that is damaged is read again from the registry', async () => {
    const { server, directory, open } = await registryFixture();
    await open().search('weather');
    const [name = ''] = readdirSync(directory.file('cache'));
    const file = directory.file(`cache/${name}`);
    const text = readFileSync(file, 'utf8');
    const damages = [
      '',
      '{}',
      'null\n',
      text.slice(0, text.length / 2),
      `${text}{}\n`,
      text.replace('"name":', '"nme":'),
    ];
    for (const damaged of damages) {
      writeFileSync(file, damaged);
      const asked = server.requests.length;
      expect(await namesFor(open(), 'weather')).toContain('weather');
      expect(server.requests.length).toBeGreaterThan(asked);
    }
  });

  it('that cannot be written harms no search', async () => {
    const { directory, open } = await registryFixture();
    writeFileSync(directory.file('cache'), 'a file, not a directory');
    const registry = open();
    expect(await namesFor(registry, 'weather')).toContain('weather');
    expect(registry.status()[0]?.note).toContain('Cannot write the servers');
  });

  it('from the future is not trusted', async () => {
    const { server, move, open } = await registryFixture();
    await open().search('weather');
    const asked = server.requests.length;
    move(-DAY);
    await open().search('weather');
    expect(server.requests.length).toBeGreaterThan(asked);
  });
});

describe('a registry that fails', () => {
  it('is asked again after the time that it names', async () => {
    const { waits, open } = await registryFixture({
      pageSize: 20,
      faults: [busy, { ...busy, status: 503 }, undefined, broken],
    });
    expect(await namesFor(open(), 'weather')).toContain('weather');
    expect(waits).toEqual([2_000, 2_000, 500]);
  });

  it('is asked three more times at most, with longer and longer pauses', async () => {
    const { server, waits, open } = await registryFixture();
    server.fault = broken;
    await expect(open().search('weather')).rejects.toMatchObject({
      code: 'SERVER_ERROR',
      data: { status: 500 },
    });
    expect(waits).toEqual([500, 1_000, 2_000]);
    expect(server.requests.length).toBe(4);
  });

  it('is not waited for too long', async () => {
    const { server, waits, open } = await registryFixture({ faults: [{ ...busy, retryAfter: '21' }] });
    await expect(open().search('weather')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      hint: 'Try again in 21 s.',
      data: { retryAfterMs: 21_000 },
    });
    expect([waits, server.requests.length]).toEqual([[], 1]);
  });

  it('gets a limited number of retries for all its pages', async () => {
    const faults = Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? broken : undefined));
    const { waits, open } = await registryFixture({ pageSize: 1, faults });
    await expect(open().search('weather')).rejects.toMatchObject({ code: 'SERVER_ERROR' });
    expect(waits.length).toBe(12);
  });

  it.each<[what: string, fault: RegistryFault, code: string]>([
    ['hangs up', { kind: 'hang-up' }, 'CONNECT_FAILED'],
    ['answers without JSON', { kind: 'body', body: 'x' }, 'PROTOCOL_VIOLATION'],
    ['answers with a page', { kind: 'body', body: '<p>', type: 'text/html' }, 'FETCH_REFUSED'],
    ['answers with a text', { kind: 'body', body: '"x"' }, 'PROTOCOL_VIOLATION'],
    ['is another API', { kind: 'status', status: 404 }, 'SERVER_ERROR'],
    ['redirects to another host', { kind: 'redirect', to: 'http://127.0.0.1:9/' }, 'FETCH_REFUSED'],
    ['never ends its answer', { kind: 'huge-body' }, 'FETCH_REFUSED'],
  ])('because it %s is reported with a code and a hint', async (_what, fault, code) => {
    const { server, open } = await registryFixture();
    server.fault = fault;
    const error = await open()
      .search('weather')
      .catch((thrown) => thrown);
    expect(error).toMatchObject({ name: 'TurnbuckleError', code });
    expect(error.message).toContain(fault.kind === 'redirect' ? 'origin http://127.0.0.1:9 ' : server.url);
  });

  it('is left when nobody waits for it any more', async () => {
    const { server, open } = await registryFixture();
    server.fault = { kind: 'silent' };
    const registry = open();
    const [first, second] = [new AbortController(), new AbortController()];
    const outcomes = [first, second].map(({ signal }) =>
      registry.search('weather', { signal }).catch((reason) => reason),
    );
    await waitUntil(() => server.requests.length === 1);
    first.abort('first');
    expect(await outcomes[0]).toBe('first');
    server.fault = undefined;
    second.abort('second');
    expect(await outcomes[1]).toBe('second');
    expect(await namesFor(registry, 'weather')).toContain('weather');
  });

  it('does not stop a caller that stays', async () => {
    const { server, open } = await registryFixture({ pageSize: 20, faults: [undefined, { kind: 'silent' }] });
    const registry = open();
    const leaving = new AbortController();
    const left = registry.search('weather', { signal: leaving.signal }).catch((reason) => reason);
    await waitUntil(() => server.requests.length === 2);
    const staying = registry
      .search('weather', { signal: AbortSignal.timeout(300) })
      .catch(({ name }) => name);
    leaving.abort('left');
    expect(await left).toBe('left');
    expect(await staying).toBe('TimeoutError');
  });

  it('is not asked for a caller that has left', async () => {
    const { server, open } = await registryFixture();
    const registry = open();
    await expect(registry.search('a', { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
    expect(server.requests.length).toBe(0);
  });
});

describe('a list without an end', () => {
  it.each<[what: RegistryFault['kind'] & string, pages: number]>([
    ['endless-pages', 20],
    ['cyclic-cursor', 2],
    ['empty-pages', 3],
  ])('by %s is cut', async (kind, pages) => {
    const { server, move, open } = await registryFixture();
    server.fault = { kind } as RegistryFault;
    const registry = open(undefined, { maxPages: 20 });
    await registry.search('weather');
    expect(server.requests.length).toBe(pages);
    expect(registry.status()[0]?.note).toContain('lists too many servers');
    // What was cut is no base for changes.
    move(2 * HOUR);
    await registry.search('weather');
    expect(server.requests.at(-1)?.query.updated_since).toBeUndefined();
  });
});

describe('one server', () => {
  it('is asked for alone, in any version', async () => {
    const { server, open } = await registryFixture();
    const registry = open();
    expect(await registry.get('io.github.skies/weather')).toMatchObject({ version: '2.1.0' });
    expect(await registry.get('io.github.skies/weather', '1.9.0')).toMatchObject({ version: '1.9.0' });
    expect(await registry.get('io.github.skies/weather', '9.9.9')).toBeUndefined();
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v0.1/servers/io.github.skies%2Fweather/versions/latest',
      '/v0.1/servers/io.github.skies%2Fweather/versions/1.9.0',
      '/v0.1/servers/io.github.skies%2Fweather/versions/9.9.9',
    ]);
  });

  it('is asked for once by callers at the same time', async () => {
    const { server, open } = await registryFixture();
    const registry = open();
    const ask = () => registry.get('io.github.skies/weather');
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(first).toBe(second);
    expect(server.requests.length).toBe(1);
    await ask();
    expect(server.requests.length).toBe(2);
  });

  it('comes from the cache while that is fresh', async () => {
    const { server, move, open } = await registryFixture();
    const registry = open();
    await registry.search('weather');
    const asked = server.requests.length;
    expect(await registry.get('io.github.skies/weather', '2.1.0')).toBeDefined();
    expect(server.requests.length).toBe(asked);
    move(2 * HOUR);
    expect(await registry.get('io.github.skies/weather')).toBeDefined();
    expect(server.requests.length).toBe(asked + 1);
  });

  it.each([
    ['weather', undefined],
    ['../servers', undefined],
    ['io.github.skies/weather/..', undefined],
    ['io.github.skies/weather', '..'],
    ['io.github.skies/weather', '1.0.0/../2.0.0'],
    ['io.github.skies/weather', ''],
  ])('%s in the version %s is not asked for', async (name, version) => {
    const { server, open } = await registryFixture();
    expect(await open().get(name, version)).toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  it('is the one that was asked for', async () => {
    const { server, open } = await registryFixture();
    const other = JSON.stringify(REGISTRY_RECORDS[0]);
    server.fault = { kind: 'body', body: other };
    await expect(open().get('io.github.skies/weather')).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION' });
    await expect(open().get(REGISTRY_RECORDS[0]?.server.name ?? '', '7.0.0')).rejects.toMatchObject({
      code: 'PROTOCOL_VIOLATION',
    });
  });

  it('that was deleted is not found', async () => {
    const { open } = await registryFixture();
    expect(await open().get('io.github.gone/weather-free')).toBeUndefined();
    expect(await open().get('io.github.oldsky/weather-classic')).toMatchObject({ status: 'deprecated' });
  });
});

describe('several registries', () => {
  it('are searched together; the first one decides about a server that both have', async () => {
    const { server, open } = await registryFixture();
    const second = await startMcpRegistry({
      records: [
        registryEntry({
          name: 'io.github.skies/weather',
          title: 'Forged',
          description: 'weather',
          version: '99.0.0',
          remotes: [{ type: 'sse', url: 'https://evil.example' }],
        }),
        registryEntry({
          name: 'com.other/barometer',
          title: 'Barometer',
          description: 'weather and pressure',
          remotes: [{ type: 'sse', url: 'https://other.com' }],
        }),
      ],
    });
    onTestFinished(() => second.stop());
    const registry = open([{ url: server.url }, { url: second.url }]);
    const found = await registry.search('weather');
    expect(found.find(({ record }) => record.name === 'io.github.skies/weather')?.record.version).toBe(
      '2.1.0',
    );
    expect(found.some(({ record }) => record.name === 'com.other/barometer')).toBe(true);
    expect(await registry.get('io.github.skies/weather')).toMatchObject({ version: '2.1.0' });
    expect(await registry.get('com.other/barometer')).toBeDefined();
  });

  it('are searched although one fails, which is said', async () => {
    const { server, directory, open } = await registryFixture();
    const missing = directory.file('missing.json');
    const registry = open([{ file: missing }, { url: server.url }]);
    expect(await namesFor(registry, 'weather')).toContain('weather');
    expect(registry.status()).toMatchObject([
      {
        source: missing,
        records: 0,
        note: `The registry copy ${missing} cannot be used: it does not exist.`,
      },
      { skipped: 0 },
    ]);
    // A later registry could offer something else under the same name.
    await expect(registry.get('io.github.skies/weather')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('must be at least one, with a usable URL', async () => {
    const { open } = await registryFixture();
    await expect(open([]).search('weather')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(open([]).get('a.b/c')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    for (const url of ['registry', 'file:///etc/passwd', 'https://user:key@registry.example'])
      expect(() => open([{ url }])).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });
});
