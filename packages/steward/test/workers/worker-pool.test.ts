import { timeBound, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeRequest } from '../request-maker.js';
import { type LogLine, openPool } from './open-pool.js';

/** Steps of one request that ran at the same time in two processes. One that was killed has no end. */
function overlaps(lines: readonly LogLine[]): LogLine[] {
  return lines.filter((start, at) => {
    if (start.what !== 'start') return false;
    const after = lines.slice(at + 1);
    const end = after.findIndex(({ what, pid }) => what === 'end' && pid === start.pid);
    return after.slice(0, Math.max(0, end)).some(({ pid }) => pid !== start.pid);
  });
}

// requirement E1, E8
describe('workers', () => {
  it('run the steps of a request in order, with progress, messages and energy', async () => {
    const { client, startPool, ended, readLog, queue } = await openPool();
    process.env.TURNBUCKLE_TEST_SECRET = 'secret';
    onTestFinished(() => void delete process.env.TURNBUCKLE_TEST_SECRET);
    const pool = startPool(1);
    const id = await client.sendRequest(makeRequest({ ms: 50 }));
    const status = await ended(id);
    expect(status).toMatchObject({ state: 'completed', progress: 100, result: { id } });
    expect(readLog().map(({ step, what }) => `${step} ${what}`)).toEqual([
      'prepare start',
      'prepare end',
      'work start',
      'work end',
      'finish start',
      'finish end',
    ]);
    // A base of 2, and 2 a second for at least 150 ms.
    expect(status.energyConsumed).toBeGreaterThan(2.25);
    expect(status.energyConsumed).toBeLessThan(timeBound(10));
    expect(queue.takeEnergy()).toBeCloseTo(status.energyConsumed, 6);
    const messages = queue.messagesAfter(0, 100);
    expect(messages.map(({ data }) => (data as { progress?: number }).progress)).toEqual([
      33,
      50,
      66,
      undefined,
    ]);
    expect(messages.at(-1)?.type).toBe('completion');
    // It gets none of the daemon's own variables.
    expect((status.result as { environment: string[] }).environment).not.toContain('TURNBUCKLE_TEST_SECRET');
    await pool.close();
    expect([...pool.pids]).toEqual([]);
  });

  it('charge a long step while it runs, and its time once', async () => {
    const { client, startPool, started, ended, queue } = await openPool();
    startPool(1);
    const begun = performance.now();
    const id = await client.sendRequest(makeRequest({ ms: 5_000 }));
    await started(id, 'prepare');
    // A base of 2, and 2 a second for the first two seconds.
    await waitUntil(() => (queue.status(id)?.energyConsumed ?? 0) > 5);
    expect(queue.status(id)).toMatchObject({ state: 'in_progress', progress: 0 });
    const early = queue.takeEnergy();
    await client.cancelRequest(id, 'seen enough');
    const { energyConsumed } = await ended(id);
    expect(early + queue.takeEnergy()).toBeCloseTo(energyConsumed, 6);
    expect(energyConsumed).toBeLessThan(2 + (performance.now() - begun) / 500);
  });

  it('share requests: each has one owner at a time and one effect, although one worker is killed', async () => {
    const { queue, startPool, ended, readLog, hasEffect, troubles } = await openPool();
    const requests = Array.from({ length: 60 }, () => makeRequest({ ms: 5 }));
    for (const request of requests) queue.enqueue(request, Date.now());
    const pool = startPool(3);
    await waitUntil(() => new Set(readLog().map(({ pid }) => pid)).size === 3 && readLog().length > 60);
    const victim = readLog().at(-1)?.pid ?? Number.NaN;
    expect([...pool.pids.values()]).toContain(victim);
    process.kill(victim, 'SIGKILL');
    for (const { id } of requests) {
      expect(await ended(id)).toMatchObject({ state: 'completed', result: { id } });
      expect(hasEffect(id, 'effect')).toBe(true);
      expect(overlaps(readLog(id))).toEqual([]);
    }
    expect(troubles.map(({ how }) => how)).toEqual(['SIGKILL']);
    // How much of it the victim had done before it was killed depends on the machine.
    expect(readLog().filter(({ pid, at }) => pid !== victim && at > 0).length).toBeGreaterThan(100);
    const completions = queue.messagesAfter(0, 1_000).filter(({ type }) => type === 'completion');
    expect(new Set(completions.map(({ requestId }) => requestId)).size).toBe(60);
    expect(completions).toHaveLength(60);
  });

  it('undo the steps of a request that fails, in reverse', async () => {
    const { client, startPool, ended, readLog, hasEffect } = await openPool();
    startPool(1);
    const id = await client.sendRequest(makeRequest({ behaviour: 'fail' }));
    expect(await ended(id)).toMatchObject({
      state: 'failed',
      error: { code: 'INTERNAL', message: 'Internal error: it is broken' },
    });
    const undone = readLog().flatMap(({ what, step }) => (what === 'undo' ? [step] : []));
    expect(undone).toEqual(['work', 'prepare']);
    expect([hasEffect(id, 'prepared'), hasEffect(id, 'effect')]).toEqual([false, false]);
    const half = await client.sendRequest(makeRequest({ behaviour: 'fail', undo: 'fail' }));
    const { error } = await ended(half);
    expect(error?.message).toContain('These steps could not be undone: "prepare" (Internal error: it stays)');
    expect(hasEffect(half, 'effect')).toBe(false);
  });

  it('are restarted when a request ends them, until the request is given up', async () => {
    const { queue, startPool, ended, troubles, hasEffect } = await openPool();
    const { id } = makeRequest();
    queue.enqueue(makeRequest({ behaviour: 'crash' }, { id }), 0);
    startPool(2);
    expect(await ended(id)).toMatchObject({ state: 'failed', error: { code: 'INTERNAL' } });
    expect(troubles).toHaveLength(5);
    expect(hasEffect(id, 'effect')).toBe(false);
  });

  it('free themselves while a request waits for a person', async () => {
    const { client, startPool, ended, approvals, queue } = await openPool();
    startPool(1);
    const parked = await client.sendRequest(makeRequest({ behaviour: 'approval' }));
    await waitUntil(() => queue.status(parked)?.waitingFor === 'approval');
    const other = await client.sendRequest(makeRequest());
    expect((await ended(other)).state).toBe('completed');
    expect(await client.countApprovals()).toBe(1);
    const [asked] = approvals.pending().approvals;
    await client.answerApproval(asked?.id ?? '', { answer: 'yes', answeredBy: 'owner' });
    expect((await ended(parked)).state).toBe('completed');
  });
});
