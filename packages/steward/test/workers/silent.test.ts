/** Workers that are stopped, such as by a debugger: others take their requests. */
import type { WorkDatabase } from '@turnbuckle/store';
import { isAlive, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { makeRequest } from '../request-maker.js';
import { openPool } from './open-pool.js';

function isWritable(database: WorkDatabase): boolean {
  try {
    return database.transaction(() => true);
  } catch {
    return false;
  }
}

// requirement E8
describe('a worker that sleeps for too long', () => {
  it('loses its request to another one, and records nothing for it afterwards', async () => {
    const { client, startPool, started, ended, readLog, queue, database } = await openPool();
    startPool(2, { leaseMs: 500 });
    const id = await client.sendRequest(makeRequest({ ms: 400 }));
    const { pid } = await started(id, 'work');
    await waitUntil(() => queue.status(id)?.progress === 50);
    // Not while it writes: it would keep the lock of the database.
    database.exec('PRAGMA busy_timeout = 20');
    await waitUntil(() => {
      process.kill(pid, 'SIGSTOP');
      if (isWritable(database)) return true;
      process.kill(pid, 'SIGCONT');
      return false;
    });
    database.exec('PRAGMA busy_timeout = 5000');
    expect((await ended(id)).state).toBe('completed');
    const others = readLog(id).filter((line) => line.pid !== pid);
    expect(others.map(({ step, what }) => `${step} ${what}`)).toEqual([
      'work start',
      'work end',
      'finish start',
      'finish end',
    ]);
    const spent = database.prepare('SELECT COUNT(*) AS count FROM energy_spent').all();
    process.kill(pid, 'SIGCONT');
    // It goes on with other requests.
    const next = await client.sendRequest(makeRequest());
    expect((await ended(next)).state).toBe('completed');
    expect(readLog(id).filter((line) => line.pid === pid && line.step === 'finish')).toEqual([]);
    expect(queue.messagesAfter(0, 100).filter(({ type }) => type === 'completion')).toHaveLength(2);
    const own = database
      .prepare("SELECT COUNT(*) AS count FROM energy_spent WHERE ref LIKE ? || ':%'")
      .all(id);
    expect(own).toEqual(spent);
  });

  it('is killed if it says nothing, since it may hold the lock of the database', async () => {
    const { client, startPool, started, ended, troubles } = await openPool();
    startPool(2, { maxSilenceMs: 1_500 });
    const id = await client.sendRequest(makeRequest({ ms: 100 }));
    const { pid } = await started(id, 'work');
    process.kill(pid, 'SIGSTOP');
    expect((await ended(id)).state).toBe('completed');
    expect(isAlive(pid)).toBe(false);
    // The other one, too, if it waited for that lock.
    expect(troubles.map(({ how }) => how)).toContain('SIGKILL');
  });
});
