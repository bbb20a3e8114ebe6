/** Workers that are killed at random points: requests go on or are rolled back, and energy is counted once for each step. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRandom, isAlive, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { makeRequest } from '../request-maker.js';
import { type OpenPool, openPool } from './open-pool.js';

const SEED = 8_020;
const CASES = 12;
const WORKERS = 4;
const STEP_MS = 60;

interface KilledRequest {
  readonly id: string;
  readonly isCancelled: boolean;
}

/** Kills the owner of a new request some time after its first step began; some requests are cancelled then. */
async function killOwner(pool: OpenPool, random: () => number): Promise<KilledRequest> {
  const [delayMs, isCancelled] = [random() * 3.5 * STEP_MS, random() < 0.4];
  const id = await pool.client.sendRequest(makeRequest({ ms: STEP_MS }));
  const { pid } = await pool.started(id, 'prepare');
  // Not a wait for something: the point at which it is killed.
  await pause(delayMs);
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  if (isCancelled) await pool.client.cancelRequest(id, 'after the kill');
  return { id, isCancelled };
}

// requirement E1, E8
describe('a worker that is killed', () => {
  it(`at ${CASES} random points loses no request, and counts no step twice`, async () => {
    const pool = await openPool();
    const { queue, database, ended, hasEffect, readLog } = pool;
    pool.startPool(WORKERS);
    const random = createRandom(SEED);
    let taken = 0;
    const taker = setInterval(() => (taken += queue.takeEnergy()), 20);
    const killed: KilledRequest[] = [];
    for (let round = 0; round < CASES / WORKERS; round += 1)
      killed.push(...(await Promise.all(Array.from({ length: WORKERS }, () => killOwner(pool, random)))));
    const states = await Promise.all(killed.map(async ({ id }) => (await ended(id)).state));
    for (const [at, { id, isCancelled }] of killed.entries()) {
      // A cancel may come after the end.
      expect(isCancelled ? ['cancelled', 'completed'] : ['completed']).toContain(states[at]);
      const expected = states[at] === 'completed';
      expect([hasEffect(id, 'prepared'), hasEffect(id, 'effect')]).toEqual([expected, expected]);
    }
    expect(states).toContain('completed');
    expect(states).toContain('cancelled');
    expect(readLog().filter(({ what }) => what === 'undo')).not.toEqual([]);
    clearInterval(taker);
    taken += queue.takeEnergy();
    const entries = database.prepare('SELECT ref, amount FROM energy_spent').all();
    const total = entries.reduce((sum, { amount }) => sum + Number(amount), 0);
    expect(taken).toBeCloseTo(total / 1_000, 6);
    for (const [at, { id }] of killed.entries()) {
      const own = entries.filter(({ ref }) => String(ref).startsWith(`${id}:`));
      const spent = own.reduce((sum, { amount }) => sum + Number(amount), 0);
      expect(queue.status(id)?.energyConsumed).toBeCloseTo(spent / 1_000, 6);
      const steps = own.map(({ ref }) => String(ref).split(':')[1]);
      expect(new Set(steps).size).toBe(steps.length);
      if (states[at] === 'completed') expect(steps.sort()).toEqual(['base', 'finish', 'prepare', 'work']);
    }
  });

  it('leaves no child process', async () => {
    const { client, startPool, started, hasEffect, readPid, readLog } = await openPool();
    startPool(1);
    const id = await client.sendRequest(makeRequest({ behaviour: 'child' }));
    const { pid } = await started(id, 'work');
    await waitUntil(() => hasEffect(id, 'pid'));
    const child = readPid(id);
    process.kill(pid, 'SIGKILL');
    await waitUntil(() => !isAlive(child), 1_000);
    await waitUntil(() => readLog(id).filter(({ step }) => step === 'work').length === 2);
  });

  it('leaves no program that still runs when the step is repeated', async () => {
    const { client, directory, startPool, started, readLog } = await openPool();
    const pool = startPool(2);
    const id = await client.sendRequest(makeRequest({ behaviour: 'program' }));
    const pids = (): string[] => {
      const file = join(directory, `${id}.programs`);
      return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ') : [];
    };
    const { pid } = await started(id, 'work');
    await waitUntil(() => pids().length > 3);
    process.kill(pid, 'SIGKILL');
    await waitUntil(() => readLog(id).filter(({ step }) => step === 'work').length === 2);
    const first = Number(pids()[0]);
    await waitUntil(() => pids().at(-1) !== String(first));
    const from = pids().findIndex((one) => one !== String(first));
    await waitUntil(() => pids().length > from + 20);
    expect(pids().slice(from)).not.toContain(String(first));
    expect(isAlive(first)).toBe(false);
    await pool.close();
    await waitUntil(() => !isAlive(Number(pids().at(-1))));
  });
});
