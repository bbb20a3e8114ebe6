import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory, timeBound, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { QueueClient } from '../../src/queue/queue-client.js';
import type { StewardMessage } from '../../src/requests/request-status.js';
import { makeRequest } from '../request-maker.js';
import { type OpenQueue, openQueue } from './open-queue.js';

interface OpenClient extends OpenQueue {
  readonly client: QueueClient;
  readonly file: string;
  readonly changes: () => number;
  reopen(): QueueClient;
}

async function openClient(): Promise<OpenClient> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const file = home.file('work.db');
  const opened = await openQueue(file);
  let changes = 0;
  const onChange = (): void => {
    changes += 1;
  };
  const reopen = (): QueueClient => {
    const client = new QueueClient({ file, refreshMs: 10, onChange });
    onTestFinished(() => client.close());
    return client;
  };
  return { ...opened, client: reopen(), reopen, file, changes: () => changes };
}

/** Holds the write lock in another process. */
async function holdLock(file: string, ms: number): Promise<{ readonly released: Promise<unknown> }> {
  const script = fileURLToPath(new URL('hold-lock.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, file, String(ms)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const released = once(child, 'exit');
  await once(child.stdout, 'data');
  return { released };
}

async function pollUntil(client: QueueClient, count: number): Promise<StewardMessage[]> {
  const messages: StewardMessage[] = [];
  await waitUntil(() => messages.push(...client.pollMessages()) >= count);
  return messages;
}

// requirement E1, E2
describe('the client of the queue', () => {
  it('stores requests, tells their status and cancels them', async () => {
    const { client, queue, changes } = await openClient();
    const request = makeRequest({}, { priority: 'high' });
    expect(await client.sendRequest(request)).toBe(request.id);
    expect(queue.status(request.id)?.state).toBe('queued');
    expect(await client.getStatus(request.id)).toEqual(queue.status(request.id));
    expect(await client.getStatus('unknown')).toBeUndefined();
    expect(await client.listRequests({ states: ['queued'] })).toHaveLength(1);
    expect(changes()).toBe(1);
    expect(await client.cancelRequest(request.id, 'changed my mind')).toMatchObject({ state: 'cancelled' });
    await expect(client.cancelRequest('unknown', '')).rejects.toMatchObject({ code: 'PATH_UNKNOWN' });
    expect(changes()).toBe(2);
  });

  it('refuses what it cannot store', async () => {
    const { client, queue, database } = await openClient();
    await expect(client.sendRequest({ ...makeRequest(), id: '' })).rejects.toMatchObject({
      code: 'ARGUMENTS_INVALID',
    });
    // A thousand writes to the disk take seconds.
    database.exec('PRAGMA synchronous = OFF');
    for (let count = 0; count < 1_000; count += 1) queue.enqueue(makeRequest(), 0);
    const request = makeRequest();
    await expect(client.sendRequest(request)).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(await client.getStatus(request.id)).toBeUndefined();
  });

  it('hands over each message once and in order, also after a restart', async () => {
    const { client, queue, mustClaim, reopen } = await openClient();
    const count = 1_500;
    const { requestId } = queue.enqueue(makeRequest(), 0);
    const { claim } = mustClaim('w', Date.now());
    for (let number = 0; number < count; number += 500) {
      const messages = Array.from(
        { length: 499 },
        (_, at) => ({ type: 'tool_available', data: at }) as const,
      );
      queue.recordStep(claim, { next: 'n', progress: 1, message: '', now: Date.now(), messages });
    }
    const first = await pollUntil(client, 1_000);
    await client.close();
    const second = await pollUntil(reopen(), count - first.length);
    const all = [...first, ...second];
    expect(all.map(({ number }) => number)).toEqual(Array.from({ length: count }, (_, at) => at + 1));
    expect(all[0]).toMatchObject({ type: 'tool_available', requestId, data: 0 });
    expect(queue.messagesAfter(count - 1, 10)).toHaveLength(1);
  });

  it('keeps at most 1,000 messages in memory', async () => {
    const { client, queue, mustClaim } = await openClient();
    queue.enqueue(makeRequest(), 0);
    const messages = Array.from(
      { length: 1_200 },
      (_, at) => ({ type: 'tool_available', data: at }) as const,
    );
    queue.complete(mustClaim('w', Date.now()).claim, { now: Date.now(), messages });
    await waitUntil(() => !client.hasActiveWork());
    await waitUntil(async () => (await client.getStatus('none')) === undefined);
    const first = client.pollMessages().length;
    expect(first).toBeLessThanOrEqual(1_000);
    expect(await pollUntil(client, 1_201 - first)).toHaveLength(1_201 - first);
  });

  it('counts energy once', async () => {
    const { client, queue, mustClaim } = await openClient();
    queue.enqueue(makeRequest(), 0);
    const { claim } = mustClaim('w', Date.now());
    let sum = 0;
    for (let step = 1; step <= 20; step += 1) {
      const energy = [{ ref: `s${step}`, amount: 1_500 }];
      queue.recordStep(claim, { next: 'n', progress: 1, message: '', now: Date.now(), energy });
      sum += client.getSubAgentEnergyConsumption();
    }
    await waitUntil(() => {
      sum += client.getSubAgentEnergyConsumption();
      return sum >= 30;
    });
    expect(sum).toBe(30);
  });

  it('pauses, resumes, stops and starts the steward for good', async () => {
    const { client, queue, reopen } = await openClient();
    await client.pause();
    expect(queue.mode()).toEqual({ paused: true, stopped: false });
    await client.stop();
    await client.close();
    const next = reopen();
    await waitUntil(() => next.mode().paused && next.mode().stopped);
    await next.start();
    await next.resume();
    expect(queue.mode()).toEqual({ paused: false, stopped: false });
  });

  it('knows whether there is work', async () => {
    const { client, queue, mustClaim } = await openClient();
    expect(client.hasActiveWork()).toBe(false);
    queue.enqueue(makeRequest(), 0);
    await waitUntil(() => client.hasActiveWork());
    queue.complete(mustClaim('w', Date.now()).claim, { now: 0 });
    await waitUntil(() => !client.hasActiveWork());
  });

  it('lets approvals and claims expire', async () => {
    const { queue, approvals, mustClaim } = await openClient();
    const { requestId } = queue.enqueue(makeRequest(), 0);
    const { claim } = mustClaim('w', Date.now() - 60_000);
    await waitUntil(() => !queue.check(claim).isOwned);
    const second = mustClaim('w2', Date.now());
    approvals.ask({ requestId, step: 's', subject: 1, fields: [], now: 0, expiresAt: Date.now() });
    queue.park(second.claim, { now: 0 });
    await waitUntil(() => approvals.pending().approvals.length === 0);
    expect(mustClaim('w3', Date.now()).ending).toBe('fail');
  });

  it('reports that the database cannot be read, once', async () => {
    const home = await temporaryDirectory();
    onTestFinished(home.remove);
    const failures: string[] = [];
    const file = home.file('missing/work.db');
    const client = new QueueClient({
      file,
      refreshMs: 1,
      onFailure: ({ message }) => failures.push(message),
    });
    onTestFinished(() => client.close());
    await waitUntil(() => failures.length > 0);
    await expect(client.sendRequest(makeRequest())).rejects.toThrow(/ENOENT/);
    expect(failures).toHaveLength(1);
    expect(client.pollMessages()).toEqual([]);
  });
});

// requirement E2
describe('the loop of the agent', () => {
  it('goes on while another process holds the lock of the database', async () => {
    const { client, file } = await openClient();
    await client.sendRequest(makeRequest());
    const { released } = await holdLock(file, 1_000);
    let [longest, last, ticks] = [0, performance.now(), 0];
    let isStored = false;
    const request = makeRequest();
    const stored = client.sendRequest(request).then(() => (isStored = true));
    const timer = setInterval(() => {
      const now = performance.now();
      [longest, last, ticks] = [Math.max(longest, now - last), now, ticks + 1];
      client.pollMessages();
      client.getSubAgentEnergyConsumption();
      client.hasActiveWork();
    }, 10);
    await waitUntil(() => ticks >= 30);
    expect(isStored).toBe(false);
    await released;
    await stored;
    clearInterval(timer);
    expect(longest).toBeLessThan(timeBound(250));
    expect(await client.getStatus(request.id)).toMatchObject({ state: 'queued' });
  });
});
