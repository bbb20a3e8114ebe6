import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { OFF, ownVault } from './own-vault.js';

const KILLS = Number(process.env.TURNBUCKLE_VAULT_KILLS ?? 25);
const WORDS = 'only for these tests';
const environment = { ...OFF, TURNBUCKLE_PASSPHRASE: WORDS };
const script = fileURLToPath(new URL('vault-worker.mjs', import.meta.url));

function startWorker(task: string, stateDir: string, [count, first]: [number, number]): ChildProcess {
  const env = { ...process.env, VAULT_WORDS: WORDS };
  return spawn(process.execPath, [script, task, stateDir, String(count), String(first)], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

it('six processes increment a number 15 times each, and no increment is lost', {
  timeout: 120_000,
}, async () => {
  const { directory, open } = await ownVault();
  const workers = Array.from({ length: 6 }, () => startWorker('increment', directory.path, [15, 0]));
  const codes = await Promise.all(workers.map((worker) => once(worker, 'close')));
  expect(codes.map(([code]) => code)).toEqual(Array(6).fill(0));
  expect(await open({ environment }).get('counter')).toBe('90');
});

it('readers never find a vault without its key while another process rotates it', {
  timeout: 120_000,
}, async () => {
  const { directory, open } = await ownVault();
  await open().set('n', 'value');
  const worker = startWorker('rotateFile', directory.path, [10_000, 0]);
  await once(worker.stdout ?? worker, 'data');
  for (let read = 0; read < 300; read += 1) expect(await open().get('n')).toBe('value');
  worker.kill('SIGKILL');
  await once(worker, 'close');
});

it(`a rotation that is killed ${KILLS} times: one of the two keys works, and nothing is left behind`, {
  timeout: 60_000 + KILLS * 12_000,
}, async () => {
  const { directory, open, text } = await ownVault();
  const values = new Map(Array.from({ length: 20 }, (_, index) => [`n${index}`, `value ${index}`]));
  for (const [name, value] of values) await open().set(name, value);
  const seen = { locks: 0, unfinished: 0, kinds: new Set<string>() };
  // At least KILLS, and more (up to a bound) until every kind of interruption has occurred.
  const isOver = (kill: number): boolean =>
    kill >= KILLS * 6 || (kill >= KILLS && seen.locks > 0 && seen.unfinished > 0 && seen.kinds.size === 2);
  for (let kill = 0; !isOver(kill); kill += 1) {
    const worker = startWorker('rotate', directory.path, [1_000, kill]);
    await once(worker.stdout ?? worker, 'data');
    await sleep(Math.random() * (kill % 2 === 0 ? 60 : 6));
    worker.kill('SIGKILL');
    await once(worker, 'close');
    const names = await readdir(directory.path);
    if (names.includes('vault.json.lock')) seen.locks += 1;
    const { key } = JSON.parse(await text());
    if ('retire' in key || names.some((name) => name.endsWith('.tmp'))) seen.unfinished += 1;
    seen.kinds.add(key.from);
    const vault = open({ environment });
    for (const [name, value] of values)
      expect(await vault.get(name), `${name} after kill ${kill}`).toBe(value);
    await vault.set('last', String(kill));
    expect(JSON.parse(await text()).key).not.toHaveProperty('retire');
  }
  await open({ environment }).rotate('file');
  expect((await readdir(directory.path)).sort()).toEqual(['vault.json', 'vault.key']);
  const keys = (await text('vault.key')).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(keys).toHaveLength(1);
  // Otherwise no process was killed during a rotation, and the test proves nothing.
  expect(seen.locks).toBeGreaterThan(0);
  expect(seen.unfinished).toBeGreaterThan(0);
  expect([...seen.kinds].sort()).toEqual(['file', 'passphrase']);
});
