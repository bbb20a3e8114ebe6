import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isAlive, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeRequest } from '../request-maker.js';
import { openPool, TEST_STEPS } from './open-pool.js';

// requirement E1
describe('a restart', () => {
  it('goes on with queued, waiting and running requests of a daemon that was killed', async () => {
    const { file, directory, queue, approvals, ...pool } = await openPool();
    const script = fileURLToPath(new URL('daemon.mjs', import.meta.url));
    const daemon = spawn(process.execPath, [script, file, directory, TEST_STEPS], { stdio: 'inherit' });
    onTestFinished(() => void daemon.kill('SIGKILL'));
    const enqueue = (changes: Record<string, unknown>): string =>
      queue.enqueue(makeRequest(changes), Date.now()).requestId;
    const parked = enqueue({ behaviour: 'approval' });
    await waitUntil(() => queue.status(parked)?.waitingFor === 'approval');
    const running = [enqueue({ behaviour: 'child' }), enqueue({ behaviour: 'child' })];
    for (const id of running) await pool.started(id, 'work');
    await waitUntil(() => running.every((id) => pool.hasEffect(id, 'pid')));
    const queued = enqueue({});
    daemon.kill('SIGKILL');
    const orphans = [...running.map((id) => pool.readPid(id)), ...pool.readLog().map(({ pid }) => pid)];
    // The steward works only while the daemon runs.
    await waitUntil(() => !orphans.some(isAlive), 2_000);
    expect(queue.status(queued)?.state).toBe('queued');
    pool.startPool(2);
    for (const id of running)
      await waitUntil(() => pool.readLog(id).filter(({ step }) => step === 'work').length === 2);
    for (const id of running) await pool.client.cancelRequest(id, '');
    const [asked] = approvals.pending().approvals;
    await pool.client.answerApproval(asked?.id ?? '', { answer: 'yes', answeredBy: 'owner' });
    for (const id of [parked, queued]) expect((await pool.ended(id)).state).toBe('completed');
    for (const id of running) expect((await pool.ended(id)).state).toBe('cancelled');
  });
});
