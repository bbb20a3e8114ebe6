import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { editConfig } from '../../src/config/edit/config-editor.js';
import { setKey } from '../../src/config/edit/edit-servers.js';
import { startWriter } from './writer-process.js';

const KILLS = Number(process.env.TURNBUCKLE_EDIT_KILLS ?? 40);
const LANES = 2;
/** Long enough that a partial write would be observed. */
const padding = Array.from({ length: 3_000 }, (_, line) => `  // ${line} is a line that stays\n`).join('');
const content = (counter: number): string => `{\n${padding}  "counter": ${counter}, // counts\n${padding}}\n`;

interface Leftovers {
  locks: number;
  temporaries: number;
}

async function killAndRecover(directory: string, file: string, left: Leftovers): Promise<void> {
  const counter = async (): Promise<number> => {
    const text = await readFile(file, 'utf8');
    const value = Number(/"counter": (\d+)/.exec(text)?.[1]);
    // The whole file, byte for byte: the old content or the new one, never a mix.
    expect(text === content(value)).toBe(true);
    return value;
  };
  const before = await counter();
  const writer = startWriter('increments', file, ['victim', 100_000]);
  await once(writer.child.stdout ?? writer.child, 'data');
  await sleep(Math.random() * 25);
  writer.child.kill('SIGKILL');
  await writer.done;
  const after = await counter();
  const acknowledged = before + writer.acknowledged.length;
  expect([acknowledged, acknowledged + 1]).toContain(after);

  const names = await readdir(directory);
  left.locks += names.filter((name) => name.endsWith('.lock')).length;
  left.temporaries += names.filter((name) => name.endsWith('.tmp')).length;
  await editConfig(file, (text) => setKey(text, ['counter'], after + 1), { timeoutMs: 5_000 });
  expect(await counter()).toBe(after + 1);
  expect(await readdir(directory)).toEqual(['turnbuckle.jsonc']);
}

// requirement F4
it(`${KILLS} writers killed at random moments: old or new content, the lock is taken over, nothing is left behind`, {
  timeout: 20_000 + KILLS * 5_000,
}, async () => {
  const left: Leftovers = { locks: 0, temporaries: 0 };
  let kills = 0;
  // At least KILLS, and more (up to a bound) until a writer was killed while writing.
  const shouldContinue = (): boolean => kills < KILLS || (left.temporaries === 0 && kills < KILLS * 5);
  const lane = async (): Promise<void> => {
    const directory = await temporaryDirectory();
    const file = directory.file('turnbuckle.jsonc');
    await writeFile(file, content(0));
    while (shouldContinue()) {
      kills += 1;
      await killAndRecover(directory.path, file, left);
    }
    await directory.remove();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  // Otherwise no writer was killed while writing, and the test proves nothing.
  expect(left.locks).toBeGreaterThan(KILLS / 10);
  expect(left.temporaries).toBeGreaterThan(0);
});
