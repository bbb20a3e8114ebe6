import { readdirSync } from 'node:fs';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CallLog, Journal, LogReader } from '../src/index.js';
import { toLine } from '../src/journal-entry.js';
import { record, TIME } from './record.js';

async function start(): Promise<{ path: string; journal: string }> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  return { path: home.path, journal: home.file('journal') };
}

async function read(directory: string): Promise<unknown[] | undefined> {
  const reader = await LogReader.open(directory);
  const ids = reader?.find().map(({ id }) => id);
  reader?.close();
  return ids;
}

describe('a reader of the log', () => {
  it('finds nothing if there is no log, and creates no files', async () => {
    const { path } = await start();
    expect(await read(path)).toBeUndefined();
    expect(await read(`${path}/nowhere`)).toBeUndefined();
    expect(readdirSync(path)).toEqual([]);
  });

  it('imports what an ended process left', async () => {
    const { path, journal } = await start();
    const left = new Journal({ directory: journal, durability: 'process' });
    left.append(toLine(record(1)));
    left.rotate();
    expect(await read(path)).toEqual(['call-1']);
    expect(readdirSync(journal)).toEqual([]);
    expect(await read(path)).toEqual(['call-1']);
  });

  it('reads while another instance writes, and does not remove its segment', async () => {
    const { path, journal } = await start();
    const log = new CallLog({ directory: path });
    log.append(record(1));
    await log.flush();
    expect(await read(path)).toEqual(['call-1']);
    expect(readdirSync(journal)).toHaveLength(1);
    log.append(record(2));
    await log.flush();
    expect(await read(path)).toEqual(['call-2', 'call-1']);
    await log.close();
  });

  it('returns the same as the log itself', async () => {
    const { path } = await start();
    const log = new CallLog({ directory: path });
    const server = { config: '{}', enabled: true, at: TIME, removed: false };
    log.recordServer({ ...server, name: 'github' });
    log.recordServer({ ...server, name: 'idle', toolTokens: 500 });
    log.recordServer({ ...server, name: 'gone', removed: true });
    log.append(record(1, { durationMs: 500 }));
    log.append(record(2, { tool: 'slow', durationMs: 5_000 }));
    log.append(record(3, { tool: 'sad', outcome: 'failed', run: 'c' }));
    await log.flush();
    const reader = await LogReader.open(path);
    if (reader === undefined) throw new Error('there is no log');
    const tools = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>): unknown[] =>
      rows.map(({ tool }) => tool);
    expect(tools(reader.toolAnalytics(0, 'slowest'))).toEqual(['slow', 'search', 'sad']);
    expect(tools(reader.toolAnalytics(0, 'failing'))[0]).toBe('sad');
    expect(reader.toolAnalytics(0, 'failing')[0]).toMatchObject({ failure_rate: 1, calls: 1 });
    expect(tools(reader.find({ failed: true }))).toEqual(['sad']);
    expect(tools(reader.find({ failed: false }))).toEqual(['slow', 'search']);
    expect(tools(reader.find({ run: 'c' }))).toEqual(['sad']);
    expect(tools(reader.find({ before: 2 }))).toEqual(['search']);
    expect(tools(reader.find({ tool: 'mcp__github__search', limit: 1 }))).toEqual(['sad']);
    expect(reader.unusedServers(TIME)).toMatchObject([{ name: 'idle', tool_tokens: 500 }]);
    for (const ask of [
      () => [reader.servers(), log.servers()],
      () => [reader.serverAnalytics(), log.serverAnalytics()],
      () => [reader.toolAnalytics(0, 'slowest'), log.toolAnalytics(0, 'slowest')],
      () => [
        reader.callsOverTime(0, 1_000, { server: 'github' }),
        log.callsOverTime(0, 1_000, { server: 'github' }),
      ],
      () => [reader.unusedServers(TIME), log.unusedServers(TIME)],
    ]) {
      const [here, there] = await Promise.all(ask());
      expect(here).toEqual(there);
      expect(here?.length).toBeGreaterThan(0);
    }
    reader.close();
    await log.close();
  });
});
