import { isAlive, timeBound, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { makeRequest } from '../request-maker.js';
import { openPool } from './open-pool.js';

const INTERRUPT_MS = timeBound(1_000);

// requirement E1
describe.each(['child', 'stuck'])('a step with a child process (%s)', (behaviour) => {
  it('ends within a second of a cancel, with the child', async () => {
    const { client, startPool, ended, started, readPid, hasEffect } = await openPool();
    startPool(1);
    const id = await client.sendRequest(makeRequest({ behaviour }));
    await started(id, 'work');
    await waitUntil(() => hasEffect(id, 'pid'));
    const before = performance.now();
    await client.cancelRequest(id, 'too slow');
    await waitUntil(() => !isAlive(readPid(id)));
    expect(performance.now() - before).toBeLessThan(INTERRUPT_MS);
    expect(await ended(id)).toMatchObject({ state: 'cancelled', message: 'Cancelled: too slow' });
    expect([hasEffect(id, 'prepared'), hasEffect(id, 'effect')]).toEqual([false, false]);
  });

  it('ends within a second of a pause, with the child, and is repeated after it', async () => {
    const { client, startPool, started, readPid, hasEffect, readLog, queue } = await openPool();
    startPool(1);
    const id = await client.sendRequest(makeRequest({ behaviour }));
    await started(id, 'work');
    await waitUntil(() => hasEffect(id, 'pid'));
    const child = readPid(id);
    const before = performance.now();
    await client.pause();
    await waitUntil(() => !isAlive(child));
    expect(performance.now() - before).toBeLessThan(INTERRUPT_MS);
    expect(queue.status(id)?.state).toBe('in_progress');
    await client.resume();
    await waitUntil(() => readLog(id).filter(({ step }) => step === 'work').length === 2);
    expect(readLog(id).filter(({ step }) => step === 'prepare')).toHaveLength(2);
  });

  it('ends with the pool, within two seconds', async () => {
    const { client, startPool, started, readPid, hasEffect, queue, claim } = await openPool();
    const pool = startPool(1);
    const id = await client.sendRequest(makeRequest({ behaviour }));
    await started(id, 'work');
    await waitUntil(() => hasEffect(id, 'pid'));
    const workers = [...pool.pids.values()];
    const before = performance.now();
    await pool.close();
    expect(performance.now() - before).toBeLessThan(timeBound(2_000));
    expect([...workers, readPid(id)].filter(isAlive)).toEqual([]);
    // The next pool can go on at once.
    expect(queue.status(id)?.state).toBe('in_progress');
    expect(claim('next', Date.now())).toMatchObject({ step: 'work', request: { id } });
  });
});
