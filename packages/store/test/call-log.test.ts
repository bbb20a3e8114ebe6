import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@turnbuckle/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CallLog } from '../src/index.js';
import { createSegmentName } from '../src/segment.js';
import { record, TIME } from './record.js';

let home: Awaited<ReturnType<typeof temporaryDirectory>>;
let log: CallLog | undefined;

beforeEach(async () => {
  home = await temporaryDirectory();
});

afterEach(async () => {
  await log?.close();
  log = undefined;
  await home.remove();
});

const open = (options: Partial<ConstructorParameters<typeof CallLog>[0]> = {}): CallLog => {
  log = new CallLog({ directory: home.path, ...options });
  return log;
};

/** The name of a segment of a process of this machine that has ended. */
const deadSegment = (stamp: string): string =>
  `${stamp}-999999999-${createSegmentName(1).split('-').slice(2).join('-')}.open`;

const ids = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>): unknown[] => rows.map((row) => row.id);

// requirement D5
describe('the log of calls', () => {
  it('finds what was appended, the newest first', async () => {
    const kept = open();
    for (let number = 1; number <= 5; number += 1) kept.append(record(number));
    expect(await kept.flush()).toBe(0);
    expect(ids(await kept.find({ limit: 3 }))).toEqual(['call-5', 'call-4', 'call-3']);
    expect(await kept.get('call-2')).toMatchObject({
      server: 'github',
      tool: 'search',
      success: 1,
      caller: 'agent-1',
    });
    expect(await kept.get('nobody')).toBeUndefined();
  });

  it('filters, searches by words, and pages forward', async () => {
    const kept = open();
    kept.append(record(1, { server: 'files', tool: 'read', arguments: '{"path":"/etc/hosts"}' }));
    kept.append(record(2, { outcome: 'failed', code: 'CALL_TIMEOUT', error: 'It did not answer.' }));
    kept.append(record(3, { caller: 'agent-2' }));
    await kept.flush();
    expect(ids(await kept.find({ server: 'files' }))).toEqual(['call-1']);
    expect(ids(await kept.find({ outcome: 'failed' }))).toEqual(['call-2']);
    expect(ids(await kept.find({ caller: 'agent-2' }))).toEqual(['call-3']);
    expect(ids(await kept.find({ text: 'etc hosts' }))).toEqual(['call-1']);
    expect(ids(await kept.find({ text: 'answer' }))).toEqual(['call-2']);
    expect(ids(await kept.find({ text: 'timeout' }))).toEqual(['call-2']);
    expect(ids(await kept.find({ text: 'NEAR(" OR * ^' }))).toEqual([]);
    expect(ids(await kept.find({ after: 1 }))).toEqual(['call-2', 'call-3']);
    expect(ids(await kept.find({ since: TIME + 2, until: TIME + 3 }))).toEqual(['call-2']);
  });

  it('counts and ranks by tool and by server', async () => {
    const kept = open();
    for (let number = 1; number <= 100; number += 1)
      kept.append(record(number, { durationMs: number, outcome: number % 10 === 0 ? 'tool-error' : 'ok' }));
    kept.append(record(200, { server: 'files', tool: 'read', durationMs: 7 }));
    await kept.flush();
    expect(await kept.toolAnalytics()).toMatchObject([
      { server: 'github', tool: 'search', calls: 100, failures: 10, p50_ms: 50, p95_ms: 95, max_ms: 100 },
      { server: 'files', tool: 'read', calls: 1, failures: 0, p50_ms: 7, p95_ms: 7 },
    ]);
    expect(await kept.serverAnalytics(TIME + 200)).toMatchObject([{ server: 'files', calls: 1 }]);
    const spans = await kept.callsOverTime(0, 1_000);
    expect(spans.reduce((sum, span) => sum + Number(span.calls), 0)).toBe(101);
  });

  it('keeps the totals of recorded servers', async () => {
    const kept = open();
    kept.recordServer({
      name: 'github',
      config: '{}',
      enabled: true,
      at: 5,
      removed: false,
      tools: 3,
      toolTokens: 900,
    });
    kept.append(record(1, { durationMs: 10 }));
    kept.append(record(2, { durationMs: 30, outcome: 'failed' }));
    await kept.flush();
    kept.recordServer({ name: 'github', config: '{"a":1}', enabled: false, at: 9, removed: false });
    await kept.flush();
    expect(await kept.servers()).toMatchObject([
      {
        name: 'github',
        config: '{"a":1}',
        enabled: 0,
        added_at: 5,
        calls: 2,
        failures: 1,
        total_ms: 40,
        tools: 3,
        tool_tokens: 900,
      },
    ]);
  });

  it('imports what an earlier process left, once, and skips invalid records', async () => {
    const journal = join(home.path, 'journal');
    mkdirSync(journal);
    const lines = `${JSON.stringify(record(1))}\nnot JSON\n{"id":7}\n${JSON.stringify(record(2))}\n`;
    writeFileSync(join(journal, '000000000000001-999999999-0-1.ndjson'), lines);
    // The process died in the middle of a line, which was never acknowledged.
    writeFileSync(
      join(journal, deadSegment('000000000000002')),
      `${JSON.stringify(record(3))}\n{"id":"call-4",`,
    );
    const kept = open();
    expect(await kept.flush()).toBe(2);
    expect(ids(await kept.find())).toEqual(['call-3', 'call-2', 'call-1']);
    expect(readdirSync(journal)).toEqual([]);
    await kept.close();
    expect(ids(await open().find())).toEqual(['call-3', 'call-2', 'call-1']);
  });

  it('continues where it stopped when a segment has grown', async () => {
    const journal = join(home.path, 'journal');
    mkdirSync(journal);
    // The process of this test is alive, so the segment stays open.
    const segment = join(journal, `${createSegmentName(1)}.open`);
    writeFileSync(segment, `${JSON.stringify(record(1))}\n`);
    const kept = open();
    await kept.flush();
    appendFileSync(segment, `${JSON.stringify(record(2))}\n`);
    await kept.flush();
    expect(ids(await kept.find())).toEqual(['call-2', 'call-1']);
    expect(readdirSync(journal)).toHaveLength(1);
  });

  it('stores a record larger than a batch', async () => {
    const kept = open();
    const result = JSON.stringify('x'.repeat(600_000));
    kept.append(record(1, { result }));
    kept.append(record(2));
    await kept.flush();
    expect((await kept.get('call-1'))?.result === result).toBe(true);
    expect(ids(await kept.find())).toEqual(['call-2', 'call-1']);
  });

  it('is not blocked by lines that the database would reject', async () => {
    const journal = join(home.path, 'journal');
    mkdirSync(journal);
    const lines = [
      { ...record(1), durationMs: 'soon' },
      { ...record(2), startedAt: null },
      { ...record(3), arguments: { not: 'text' } },
      { ...record(4), server: undefined },
      { kind: 'server', server: { name: 'x' } },
      { kind: 'server' },
      [],
      null,
      record(5),
    ].map((line) => JSON.stringify(line));
    writeFileSync(join(journal, '000000000000001-999999999-0-1.ndjson'), `${lines.join('\n')}\n`);
    const kept = open();
    expect(await kept.flush()).toBe(8);
    expect(ids(await kept.find())).toEqual(['call-5']);
  });

  it('stores hostile texts unchanged', async () => {
    const kept = open();
    const odd = `'; DROP TABLE invocations; -- \ud800 \u{1f600} "`;
    kept.append(record(1, { server: odd, tool: odd, caller: odd, error: odd, outcome: 'failed' }));
    await kept.flush();
    const [row] = await kept.find({ server: odd });
    expect(String(row?.caller).replace('\ufffd', '\ud800')).toBe(odd);
  });

  it('is consistent when two instances write and import at once', async () => {
    const first = open();
    const second = new CallLog({ directory: home.path });
    for (let number = 0; number < 2_000; number += 1)
      (number % 2 === 0 ? first : second).append(record(number));
    await Promise.all([first.flush(), second.flush()]);
    await second.close();
    await first.flush();
    const [all] = await first.serverAnalytics();
    expect(all).toMatchObject({ calls: 2_000 });
    expect(new Set(ids(await first.find({ limit: 1_000 }))).size).toBe(1_000);
  });

  it('continues after a failure of the file system', async () => {
    const failures: string[] = [];
    const kept = open({ onFailure: ({ message }) => failures.push(message) });
    kept.append(record(1));
    await kept.flush();
    const journal = join(home.path, 'journal');
    renameSync(journal, `${journal}-away`);
    writeFileSync(journal, 'in the way');
    await expect(kept.flush()).rejects.toThrow(/ENOTDIR/);
    rmSync(journal);
    renameSync(`${journal}-away`, journal);
    kept.append(record(2));
    await kept.flush();
    expect(ids(await kept.find())).toEqual(['call-2', 'call-1']);
    expect(kept.counts).toEqual({ kept: 2, bare: 0, dropped: 0, refused: 0 });
  });

  it('takes in what it can read when a segment is unreadable', async () => {
    const kept = open();
    mkdirSync(join(home.path, 'journal', '0.ndjson'), { recursive: true });
    for (let number = 1; number <= 3; number += 1) kept.append(record(number));
    expect(await kept.flush()).toBe(0);
    expect(ids(await kept.find())).toEqual(['call-3', 'call-2', 'call-1']);
    rmSync(join(home.path, 'journal', '0.ndjson'), { recursive: true });
    kept.append(record(4));
    await kept.flush();
    expect(ids(await kept.find())).toEqual(['call-4', 'call-3', 'call-2', 'call-1']);
  });

  it('counts sizes of any number of calls', async () => {
    const kept = open();
    for (let number = 1; number <= 1_100; number += 1)
      kept.append(record(number, { argumentsBytes: Number.MAX_SAFE_INTEGER, resultBytes: 1 }));
    await kept.flush();
    expect(await kept.toolAnalytics()).toHaveLength(1);
  });

  it('finds a record that was appended with the durability "power"', async () => {
    const kept = open({ durability: 'power' });
    kept.append(record(1));
    await kept.flush();
    expect(ids(await kept.find())).toEqual(['call-1']);
  });

  it('is readable by its owner alone', async () => {
    const kept = open();
    kept.append(record(1));
    const journal = join(home.path, 'journal');
    expect(statSync(journal).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(journal)) expect(statSync(join(journal, file)).mode & 0o777).toBe(0o600);
    await kept.flush();
    expect(statSync(join(home.path, 'log.db')).mode & 0o077).toBe(0);
  });
});
