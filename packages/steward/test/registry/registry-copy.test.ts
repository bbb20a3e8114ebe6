import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { REGISTRY_RECORDS, type RegistryEntry, timeBound } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { namesFor, registryFixture } from './registry-fixture.js';

const HOUR = 3_600_000;

// requirement E3
describe('a copy in a file', () => {
  it.each<[what: string, text: (records: readonly RegistryEntry[]) => unknown]>([
    ['an answer of the API', (servers) => ({ servers, metadata: { count: servers.length } })],
    ['a list of entries', (servers) => servers],
    ['a list of bare records', (servers) => servers.map(({ server }) => server)],
  ])('may be %s', async (_what, write) => {
    const { directory, server, open } = await registryFixture();
    const file = directory.file('copy.json');
    writeFileSync(file, JSON.stringify(write(REGISTRY_RECORDS)));
    const registry = open([{ file }]);
    expect((await namesFor(registry, 'weather'))[0]).toBe('weather');
    expect(await registry.get('io.github.skies/weather')).toMatchObject({ version: '2.1.0' });
    expect(await registry.get('io.github.skies/weather', '1.9.0')).toMatchObject({ version: '1.9.0' });
    expect(await registry.get('io.github.skies/nothing')).toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  it('is read again when it changes', async () => {
    const { directory, open } = await registryFixture();
    const file = directory.file('copy.json');
    writeFileSync(file, JSON.stringify(REGISTRY_RECORDS));
    const registry = open([{ file }]);
    expect(await namesFor(registry, 'slack')).not.toEqual([]);
    writeFileSync(file, JSON.stringify(REGISTRY_RECORDS.slice(0, 1)));
    expect(await namesFor(registry, 'slack')).toEqual([]);
  });

  it('that is one page of many says so', async () => {
    const { directory, open } = await registryFixture();
    const file = directory.file('copy.json');
    writeFileSync(file, JSON.stringify({ servers: REGISTRY_RECORDS, metadata: { nextCursor: 'more' } }));
    const registry = open([{ file }]);
    await registry.search('weather');
    expect(registry.status()[0]?.note).toContain('contains only part of a registry');
  });

  it.each<[why: string, make: (file: string) => void]>([
    ['it does not exist', () => {}],
    ['it is a directory', (file) => mkdirSync(file)],
    ['its symbolic links form a loop', (file) => symlinkSync(file, file)],
    ['it is not JSON', (file) => writeFileSync(file, '{"servers":[')],
    ['it is not JSON', (file) => writeFileSync(file, '')],
    ['it is not JSON', (file) => writeFileSync(file, `[${'{'.repeat(300_000)}`)],
    ['it is not a list of servers', (file) => writeFileSync(file, '{"mcpServers":{}}')],
  ])('is rejected because %s', async (why, make) => {
    const { directory, open } = await registryFixture();
    const file = directory.file('copy.json');
    make(file);
    await expect(open([{ file }]).search('weather')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `The registry copy ${file} cannot be used: ${why}.`,
    });
    rmSync(file, { recursive: true, force: true });
  });

  it('that is large does not block the event loop', async () => {
    const { directory, open } = await registryFixture();
    const file = directory.file('copy.json');
    const [entry] = REGISTRY_RECORDS;
    const many = Array.from({ length: 12_000 }, (_, at) => ({
      ...entry,
      server: {
        ...entry?.server,
        name: `io.github.user${at}/server-w${at % 997}-${at}`,
        _meta: { a: { keywords: [`k${at}`] } },
      },
    }));
    writeFileSync(file, JSON.stringify(many));
    const registry = open([{ file }]);
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const purpose =
      'find the files and directories that a person needs to read and write spreadsheets in databases';
    expect((await registry.search(purpose)).length).toBe(10);
    await new Promise((resolve) => setTimeout(resolve, 6));
    clearInterval(timer);
    expect(longest).toBeLessThan(timeBound(250));
  });
});

describe('a copy at a URL', () => {
  it('is read once an hour, and not sent again if it is the same', async () => {
    const { server, move, open } = await registryFixture();
    const source = { url: `${server.url}/copy.json` };
    const registry = open([source]);
    expect((await namesFor(registry, 'weather'))[0]).toBe('weather');
    await registry.search('weather');
    expect(server.requests.map(({ path }) => path)).toEqual(['/copy.json']);
    move(2 * HOUR);
    expect((await namesFor(open([source]), 'weather'))[0]).toBe('weather');
    expect(server.requests[1]?.headers['if-none-match']).toMatch(/^"\d+"$/);
    server.records = REGISTRY_RECORDS.slice(0, 1);
    move(4 * HOUR);
    expect(await namesFor(registry, 'slack')).toEqual([]);
    expect(await registry.get('io.github.modelcontextprotocol/server-filesystem')).toBeDefined();
  });

  it('survives without its server', async () => {
    const { server, move, open } = await registryFixture();
    const source = { url: `${server.url}/copy.json` };
    await open([source]).search('weather');
    await server.stop();
    move(2 * HOUR);
    const registry = open([source]);
    expect((await namesFor(registry, 'weather'))[0]).toBe('weather');
    expect(registry.status()[0]?.note).toContain('list from 2 hours ago');
  });

  it('is reported if it is missing', async () => {
    const { server, open } = await registryFixture();
    await expect(open([{ url: `${server.url}/other.json` }]).search('weather')).rejects.toMatchObject({
      code: 'SERVER_ERROR',
      data: { status: 404 },
    });
  });
});
