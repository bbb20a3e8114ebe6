import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('killed-between-calls.mjs', import.meta.url));
const ROUNDS = 5;

it.skipIf(process.platform !== 'linux').each([
  { when: 'before the loss was noticed', pauseMs: 0 },
  { when: 'while the loss is being noticed', pauseMs: 1 },
  { when: 'after the loss was noticed', pauseMs: 200 },
])('a server killed between calls: the next call works and runs once, $when', async ({ pauseMs }) => {
  const directory = await temporaryDirectory();
  const file = directory.file('effects');
  const config = JSON.stringify(fixture('echo', '--counter-file', file));
  const args = [SCRIPT, config, directory.file('state'), String(ROUNDS), String(pauseMs)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual({
    outcomes: Array.from({ length: ROUNDS }, () => 'ok'),
    restarts: ROUNDS,
  });
  const effects = readFileSync(file, 'utf8').trim().split('\n');
  expect(effects).toEqual(Array.from({ length: ROUNDS }, (_, round) => `round ${round}`));
  await directory.remove();
});
