/** A process may open the database more than once: what it holds open stays locked for other processes. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../src/database.js';

const OTHER_PROCESS = `
  import { openDatabase } from ${JSON.stringify(new URL('../dist/database.js', import.meta.url).href)};
  const database = await openDatabase(process.argv[1]);
  database.exec('INSERT INTO numbers VALUES (2)');
  database.close();
`;

it('another process that comes and goes does not take the journal of an open database', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const path = directory.file('some.db');
  const first = await openDatabase(path);
  first.exec('CREATE TABLE numbers (number)');
  first.exec('INSERT INTO numbers VALUES (1)');
  for (let count = 0; count < 3; count += 1) (await openDatabase(path)).close();
  execFileSync(process.execPath, ['--input-type=module', '--eval', OTHER_PROCESS, path]);
  expect(existsSync(`${path}-wal`)).toBe(true);
  first.exec('INSERT INTO numbers VALUES (3)');
  const second = await openDatabase(path);
  expect(second.prepare('SELECT number FROM numbers ORDER BY number').all()).toEqual([
    { number: 1 },
    { number: 2 },
    { number: 3 },
  ]);
  first.close();
  second.close();
});
