import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Journal, LogReader } from '../src/index.js';
import { record } from './record.js';

const UNSHARE = 'unshare';
const NAMESPACE_FLAGS = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare =
  process.platform === 'linux' && spawnSync(UNSHARE, [...NAMESPACE_FLAGS, 'true']).status === 0;
const reason = canUnshare ? '' : ' (skipped: it needs unshare, and the right to use it)';
const HOUR_MS = 3_600_000;

interface Written {
  readonly directory: string;
  readonly journal: string;
  readonly writer: Journal;
  append(number: number): void;
  /** The ids that a reader of this process finds. */
  found(): Promise<unknown[]>;
}

async function open(now: () => number = Date.now): Promise<Written> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const journal = home.file('journal');
  const writer = new Journal({ directory: journal, durability: 'process', now });
  return {
    directory: home.path,
    journal,
    writer,
    append: (number) => writer.append(JSON.stringify(record(number))),
    found: async () => {
      const reader = await LogReader.open(home.path);
      const rows = reader?.find({ limit: 1_000 }).map(({ id }) => id) ?? [];
      reader?.close();
      return rows.sort();
    },
  };
}

const readElsewhere = (directory: string): Promise<unknown> => {
  const url = new URL('../dist/index.js', import.meta.url).href;
  const code = `
    const { LogReader } = await import(${JSON.stringify(url)});
    const reader = await LogReader.open(${JSON.stringify(directory)});
    console.log(JSON.stringify({ pid: process.pid, calls: reader?.find().length }));
    reader?.close();`;
  return promisify(execFile)(UNSHARE, [
    ...NAMESPACE_FLAGS,
    process.execPath,
    '--input-type=module',
    '--eval',
    code,
  ]).then(({ stdout }) => JSON.parse(stdout));
};

describe.skipIf(!canUnshare)(`a reader in another PID namespace${reason}`, () => {
  it('takes nothing from a writer that lives outside', async () => {
    const { directory, journal, append, found } = await open();
    for (let number = 1; number <= 3; number += 1) {
      append(number);
      expect(await readElsewhere(directory)).toMatchObject({ pid: 1, calls: number });
      expect(readdirSync(journal)).toHaveLength(1);
    }
    append(4);
    expect(await found()).toEqual([1, 2, 3, 4].map((number) => `call-${number}`));
  });
});

describe('a segment whose writer cannot be checked', () => {
  const ofHost = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
  // A pid that does not exist: the largest of Linux is smaller.
  it.each([`4194305-${ofHost}`, '4194305-ffffffff', `${process.pid}-00000000`])(
    'is imported, and stays while it may be written to: %s',
    async (owner) => {
      const { journal, append, found } = await open();
      append(1);
      const foreign = join(journal, `000000000000001-${owner}-1.open`);
      writeFileSync(foreign, `${JSON.stringify(record(2))}\n`);
      expect(await found()).toEqual(['call-1', 'call-2']);
      writeFileSync(foreign, `${JSON.stringify(record(3))}\n`, { flag: 'a' });
      expect(await found()).toEqual(['call-1', 'call-2', 'call-3']);
      const long = (Date.now() - 25 * HOUR_MS) / 1_000;
      utimesSync(foreign, long, long);
      await found();
      expect(readdirSync(journal)).toHaveLength(1);
    },
  );
});

describe('a writer that was idle for long', () => {
  it('loses nothing if its segment was treated as abandoned', async () => {
    let now = Date.now();
    const { journal, append, writer, found } = await open(() => now);
    append(1);
    expect(await found()).toEqual(['call-1']);
    now += 25 * HOUR_MS;
    for (const file of readdirSync(journal)) rmSync(join(journal, file));
    append(2);
    now += 2 * HOUR_MS;
    append(3);
    writer.rotate();
    expect(await found()).toEqual(['call-1', 'call-2', 'call-3']);
    expect(readdirSync(journal)).toEqual([]);
  });
});
