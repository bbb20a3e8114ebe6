import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@turnbuckle/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../src/database.js';
import { InvocationLog } from '../src/index.js';
import { record, TIME } from './record.js';

let home: Awaited<ReturnType<typeof temporaryDirectory>>;
let log: InvocationLog | undefined;

beforeEach(async () => {
  home = await temporaryDirectory();
});

afterEach(async () => {
  await log?.close();
  log = undefined;
  await home.remove();
});

const open = (options: Partial<ConstructorParameters<typeof InvocationLog>[0]> = {}): InvocationLog => {
  log = new InvocationLog({ directory: home.path, ...options });
  return log;
};

const ids = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>): unknown[] => rows.map((row) => row.id);

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

  it('filters, searches by words, and follows along', async () => {
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

  it('keeps the totals of servers it was told of', async () => {
    const kept = open();
    await kept.recordServer({
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
    await kept.recordServer({ name: 'github', config: '{"a":1}', enabled: false, at: 9, removed: false });
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

  it('takes in what an earlier process left, once, and skips what is no record', async () => {
    const journal = join(home.path, 'journal');
    mkdirSync(journal);
    const lines = `${JSON.stringify(record(1))}\nnot JSON\n{"id":7}\n${JSON.stringify(record(2))}\n`;
    writeFileSync(join(journal, '000000000000001-999999999-1.ndjson'), lines);
    // Died in the middle of a line: nobody was told that it is kept.
    writeFileSync(
      join(journal, '000000000000002-999999999-1.open'),
      `${JSON.stringify(record(3))}\n{"id":"call-4",`,
    );
    const kept = open();
    expect(await kept.flush()).toBe(2);
    expect(ids(await kept.find())).toEqual(['call-3', 'call-2', 'call-1']);
    expect(readdirSync(journal)).toEqual([]);
    await kept.close();
    expect(ids(await open().find())).toEqual(['call-3', 'call-2', 'call-1']);
  });

  it('goes on where it stopped when a segment has grown', async () => {
    const journal = join(home.path, 'journal');
    mkdirSync(journal);
    // The process of this test lives, so the segment stays open.
    const segment = join(journal, `000000000000001-${process.pid}-9.open`);
    writeFileSync(segment, `${JSON.stringify(record(1))}\n`);
    const kept = open();
    await kept.flush();
    appendFileSync(segment, `${JSON.stringify(record(2))}\n`);
    await kept.flush();
    expect(ids(await kept.find())).toEqual(['call-2', 'call-1']);
    expect(readdirSync(journal)).toHaveLength(1);
  });

  it('has a record larger than a batch', async () => {
    const kept = open();
    const result = JSON.stringify('x'.repeat(600_000));
    kept.append(record(1, { result }));
    kept.append(record(2));
    await kept.flush();
    expect((await kept.get('call-1'))?.result === result).toBe(true);
    expect(ids(await kept.find())).toEqual(['call-2', 'call-1']);
  });

  it('forgets what is too old, also from the search', async () => {
    const kept = open({ retention: { maxAgeMs: 3_600_000 } });
    kept.append(record(1, { startedAt: 1_000 }));
    kept.append(record(2, { startedAt: Date.now() }));
    await kept.flush();
    await kept.close();
    const again = open({ retention: { maxAgeMs: 3_600_000 } });
    await again.flush();
    expect(ids(await again.find())).toEqual(['call-2']);
    expect(ids(await again.find({ text: 'issue' }))).toEqual(['call-2']);
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

  it('refuses a database of a newer release', async () => {
    const database = await openDatabase(join(home.path, 'log.db'));
    database.exec('PRAGMA user_version = 99');
    database.close();
    await expect(open().find()).rejects.toThrow(/newer Turnbuckle/);
    log = undefined;
  });
});

describe('a process that is killed', () => {
  it('loses nothing that it acknowledged, and nothing comes twice', async () => {
    const journal = join(home.path, 'journal');
    let acknowledged = 0;
    for (let round = 0; round < 10; round += 1) acknowledged = await killAfterSome(journal, acknowledged + 1);
    const kept = open();
    await kept.flush();
    const [all] = await kept.serverAnalytics();
    // The one that was being said when it was killed may be there without having been acknowledged.
    expect(Number(all?.calls)).toBeGreaterThanOrEqual(acknowledged);
    expect(Number(all?.calls)).toBeLessThanOrEqual(acknowledged + 10 * 64);
    const rows = await kept.find({ limit: 1_000 });
    expect(new Set(ids(rows)).size).toBe(rows.length);
  });
});

/** The last number that the child said before it was killed. */
function killAfterSome(journal: string, first: number): Promise<number> {
  const script = fileURLToPath(new URL('append-until-killed.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, journal, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (part: Buffer) => {
    said += part;
    if (said.length > 1_000) child.kill('SIGKILL');
  });
  return new Promise((resolve) =>
    child.once('close', () => {
      const whole = said.slice(0, said.lastIndexOf('\n')).split('\n');
      resolve(Number(whole.at(-1)));
    }),
  );
}
