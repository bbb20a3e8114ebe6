import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { prune } from '../../src/queue/prune.js';
import { makeRequest } from '../request-maker.js';
import { LEASE_MS, openQueue } from './open-queue.js';

const ERROR = { code: 'CONNECT_FAILED', message: 'It did not start.', hint: 'Start it.' } as const;

// requirement E1
describe('the queue', () => {
  it('gives the most urgent request first, then the oldest', async () => {
    const { queue, claim } = await openQueue();
    const [a, b, c, d] = (['low', 'medium', 'high', 'medium'] as const).map((priority) => {
      const request = makeRequest({}, { priority });
      queue.enqueue(request, 0);
      return request.id;
    });
    const order = [claim(), claim(), claim(), claim(), claim()].map((one) => one?.request.id);
    expect(order).toEqual([c, b, d, a, undefined]);
  });

  it('gives a worker only the kinds that it takes', async () => {
    const { queue } = await openQueue();
    queue.enqueue(makeRequest({}, { type: 'search_servers', priority: 'high' }), 0);
    const wanted = makeRequest({}, { type: 'test_server' });
    queue.enqueue(wanted, 0);
    const claim = (): string | undefined =>
      queue.claim({ worker: 'w', kinds: ['test_server'], leaseMs: 1, now: 0 })?.request.id;
    expect([claim(), claim()]).toEqual([wanted.id, undefined]);
  });

  it('takes a request with the same id once, and no different one', async () => {
    const { queue } = await openQueue();
    const request = makeRequest({ a: 1 }, { requestedBy: 'agent' });
    const status = queue.enqueue(request, 0);
    expect(status).toEqual({
      requestId: request.id,
      type: 'modify_server',
      priority: 'medium',
      timestamp: request.timestamp,
      requestedBy: 'agent',
      state: 'queued',
      progress: 0,
      message: 'Waiting for a worker.',
      energyConsumed: 0,
    });
    expect(queue.enqueue(request, 1)).toEqual(status);
    expect(queue.list()).toHaveLength(1);
    expect(() => queue.enqueue({ ...request, params: {} }, 1)).toThrow(
      expect.objectContaining({ code: 'NAME_TAKEN' }),
    );
  });

  it('refuses more than 1,000 open requests', async () => {
    const { queue, mustClaim } = await openQueue();
    for (let count = 0; count < 1_000; count += 1) queue.enqueue(makeRequest(), 0);
    const full = expect.objectContaining({ code: 'OVERLOADED', retryable: true });
    expect(() => queue.enqueue(makeRequest(), 0)).toThrow(full);
    const { claim } = mustClaim();
    expect(() => queue.enqueue(makeRequest(), 0)).toThrow(full);
    queue.complete(claim, { now: 0 });
    expect(queue.enqueue(makeRequest(), 0).state).toBe('queued');
  });

  it('leaves room for others and for the owner', async () => {
    const { queue, database } = await openQueue();
    database.exec('PRAGMA synchronous = OFF');
    const send = (requestedBy?: string): void =>
      void queue.enqueue(makeRequest({}, { ...(requestedBy && { requestedBy }) }), 0);
    for (let count = 0; count < 100; count += 1) send('eager');
    expect(() => send('eager')).toThrow(
      expect.objectContaining({ code: 'OVERLOADED', message: expect.stringContaining('"eager" has 100') }),
    );
    for (let count = 0; count < 800; count += 1) send(`other-${count % 8}`);
    expect(() => send('late')).toThrow(
      expect.objectContaining({ code: 'OVERLOADED', message: expect.stringContaining('900 open requests') }),
    );
    for (let count = 0; count < 100; count += 1) send();
    expect(() => send()).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  });

  it('serves callers in turn', async () => {
    const { queue, claim } = await openQueue();
    const callers = ['eager', 'eager', 'eager', 'eager', 'modest', undefined, 'modest'];
    for (const requestedBy of callers)
      queue.enqueue(makeRequest({}, { ...(requestedBy && { requestedBy }) }), 0);
    const served = callers.map(() => claim()?.request.requestedBy);
    expect(served).toEqual(['eager', 'modest', undefined, 'eager', 'modest', 'eager', 'eager']);
  });

  it('serves a request of low priority in the end, however many urgent ones another caller sends', async () => {
    const { queue, mustClaim } = await openQueue();
    const { requestId } = queue.enqueue(makeRequest({}, { requestedBy: 'modest', priority: 'low' }), 0);
    const minute = 60_000;
    let servedAt = 0;
    for (let now = 0; servedAt === 0 && now < 60 * minute; now += minute) {
      for (let count = 0; count < 2; count += 1)
        queue.enqueue(makeRequest({}, { requestedBy: 'eager', priority: 'high' }), now);
      const { claim, request } = mustClaim('w', now);
      queue.complete(claim, { now });
      if (request.id === requestId) servedAt = now;
    }
    expect(servedAt).toBe(20 * minute);
  });

  it('records a step, its energy and its messages together, and the result at the end', async () => {
    const { queue, mustClaim } = await openQueue();
    const { id } = makeRequest();
    queue.enqueue(makeRequest({}, { id }), 0);
    const { claim, step, data } = mustClaim();
    expect({ step, data }).toEqual({ step: undefined, data: {} });
    const energy = [{ ref: `${id}:one:1`, amount: 2_500 }];
    const done = { next: 'two', data: { found: 1 }, progress: 50, message: 'Half.', energy, now: 1 };
    expect(queue.recordStep(claim, done)).toBe('recorded');
    // Recorded twice, such as after an answer that was lost: counted once.
    expect(queue.recordStep(claim, { ...done, data: { more: 2 } })).toBe('recorded');
    expect(queue.status(id)).toMatchObject({ progress: 50, message: 'Half.', energyConsumed: 2.5 });
    queue.release(claim, { now: 2 });
    const again = mustClaim('w2');
    expect(again).toMatchObject({ step: 'two', data: { found: 1, more: 2 }, claim: { attempt: 2 } });
    queue.complete(again.claim, {
      now: 3,
      result: { tools: 4 },
      messages: [{ type: 'tool_available', data: 1 }],
    });
    expect(queue.status(id)).toMatchObject({ state: 'completed', progress: 100, result: { tools: 4 } });
    const messages = queue.messagesAfter(0, 100);
    expect(messages.map(({ type }) => type)).toEqual([
      'status_update',
      'status_update',
      'tool_available',
      'completion',
    ]);
    expect(messages.at(-1)).toMatchObject({ requestId: id, data: { result: { tools: 4 } } });
    expect(queue.messagesAfter(messages.at(-2)?.number ?? 0, 100)).toEqual(messages.slice(-1));
  });

  it('records nothing for a claim that has ended', async () => {
    const { queue, mustClaim } = await openQueue();
    queue.enqueue(makeRequest({}, { id: 'r' }), 0);
    const old = mustClaim('w1', 0).claim;
    const { claim } = mustClaim('w2', LEASE_MS);
    const energy = [{ ref: 'r:one:1', amount: 1_000 }];
    expect(queue.recordStep(old, { next: 'x', progress: 1, message: '', energy, now: 0 })).toBe('lost');
    expect(queue.complete(old, { now: 0 })).toBe('lost');
    expect(queue.fail(old, { now: 0, error: ERROR })).toBe('lost');
    expect(queue.park(old, { now: 0 })).toBe('lost');
    expect(queue.finishCancel(old, { now: 0 })).toBe('lost');
    expect(queue.renew(old, 1)).toBe(false);
    expect(queue.check(old).isOwned).toBe(false);
    expect(queue.renew(claim, 1)).toBe(true);
    expect(queue.takeEnergy()).toBe(0);
    expect(queue.messagesAfter(0, 10)).toEqual([]);
  });

  it('keeps a claim that is renewed, and gives up one that is not', async () => {
    const { queue, claim, mustClaim } = await openQueue();
    queue.enqueue(makeRequest(), 0);
    const held = mustClaim('w1', 0).claim;
    expect(claim('w2', LEASE_MS - 1)).toBeUndefined();
    expect(queue.renew(held, 2 * LEASE_MS)).toBe(true);
    expect(claim('w2', 2 * LEASE_MS - 1)).toBeUndefined();
    expect(queue.releaseExpired(2 * LEASE_MS)).toBe(1);
    expect(claim('w2', 2 * LEASE_MS)?.claim.owner).toBe('w2');
  });

  it('releases the requests of a worker that has ended, at once', async () => {
    const { queue, mustClaim } = await openQueue();
    queue.enqueue(makeRequest(), 0);
    mustClaim('w1');
    expect(queue.releaseOwner('w2', 0)).toBe(0);
    expect(queue.releaseOwner('w1', 0)).toBe(1);
    expect(mustClaim('w2').claim.attempt).toBe(2);
  });

  it('gives up a request that ends every worker: it is undone first, if that is possible', async () => {
    const { queue, mustClaim, claim } = await openQueue();
    const { requestId } = queue.enqueue(makeRequest(), 0);
    for (let loss = 1; loss <= 8; loss += 1) {
      expect(mustClaim(`w${loss}`).ending).toBe(loss <= 5 ? undefined : 'fail');
      queue.releaseOwner(`w${loss}`, 0);
    }
    expect(claim()).toBeUndefined();
    expect(queue.status(requestId)).toMatchObject({ state: 'failed', error: { code: 'INTERNAL' } });
    expect(queue.messagesAfter(0, 10).map(({ type }) => type)).toEqual(['error']);
  });

  it('does not count workers that ended in steps before', async () => {
    const { queue, mustClaim } = await openQueue();
    queue.enqueue(makeRequest(), 0);
    for (const next of ['two', 'three']) {
      for (let loss = 1; loss <= 4; loss += 1) {
        mustClaim('w');
        queue.releaseOwner('w', 0);
      }
      const { claim } = mustClaim('w');
      queue.recordStep(claim, { next, progress: 1, message: '', now: 0 });
      queue.release(claim, { now: 0 });
    }
    expect(mustClaim('w')).toMatchObject({ step: 'three', ending: undefined });
  });

  it('fails a request with its error, after its steps were undone', async () => {
    const { queue, mustClaim } = await openQueue();
    const { requestId } = queue.enqueue(makeRequest(), 0);
    const first = mustClaim();
    expect(queue.beginUndo(first.claim, { now: 0, error: ERROR })).toBe('recorded');
    expect(queue.recordStep(first.claim, { next: 'x', progress: 1, message: '', now: 0 })).toBe('ending');
    expect(queue.status(requestId)).toMatchObject({ state: 'in_progress' });
    expect(queue.status(requestId)).not.toHaveProperty('error');
    // A worker that goes on after a killed one knows it.
    queue.releaseOwner('w1', 0);
    const second = mustClaim('w2');
    expect(second).toMatchObject({ ending: 'fail', error: ERROR });
    queue.fail(second.claim, { now: 1, error: ERROR });
    expect(queue.status(requestId)).toMatchObject({ state: 'failed', error: ERROR, message: ERROR.message });
  });

  it('cancels a request that never started at once, and no other one twice', async () => {
    const { queue, claim } = await openQueue();
    const { requestId } = queue.enqueue(makeRequest(), 0);
    expect(queue.requestCancel(requestId, 'not needed', 1)).toMatchObject({
      state: 'cancelled',
      message: 'Cancelled: not needed',
    });
    expect(claim()).toBeUndefined();
    expect(queue.requestCancel(requestId, 'again', 2).message).toBe('Cancelled: not needed');
    expect(queue.messagesAfter(0, 10)).toHaveLength(1);
    expect(() => queue.requestCancel('unknown', '', 0)).toThrow(
      expect.objectContaining({ code: 'PATH_UNKNOWN' }),
    );
  });

  it('lets the owner undo a request that is cancelled while it runs', async () => {
    const { queue, mustClaim } = await openQueue();
    const { requestId } = queue.enqueue(makeRequest(), 0);
    const { claim } = mustClaim();
    expect(queue.requestCancel(requestId, '', 1).state).toBe('in_progress');
    expect(queue.check(claim)).toMatchObject({ isOwned: true, ending: 'cancel' });
    expect(queue.complete(claim, { now: 2 })).toBe('ending');
    expect(queue.finishCancel(claim, { now: 3, energy: [{ ref: 'x', amount: 500 }] })).toBe('recorded');
    expect(queue.status(requestId)).toMatchObject({ state: 'cancelled', energyConsumed: 0.5 });
  });

  it('gives out nothing while it is paused or stopped, except what has to be undone', async () => {
    const { queue, mustClaim, claim } = await openQueue();
    const [running, waiting] = [queue.enqueue(makeRequest(), 0), queue.enqueue(makeRequest(), 0)];
    queue.release(mustClaim().claim, { now: 0 });
    queue.setMode('paused', true);
    expect(queue.mode()).toEqual({ paused: true, stopped: false });
    expect(claim()).toBeUndefined();
    queue.requestCancel(running.requestId, '', 0);
    queue.setMode('stopped', true);
    expect(claim()).toBeUndefined();
    queue.setMode('stopped', false);
    expect(claim()?.request.id).toBe(running.requestId);
    expect(claim()).toBeUndefined();
    queue.setMode('paused', false);
    expect(claim()?.request.id).toBe(waiting.requestId);
  });

  it('gives out no request of an agent that has paused its own, and all others', async () => {
    const { queue, mustClaim, claim } = await openQueue();
    const [running, held] = ['agent', 'agent'].map((requestedBy) =>
      queue.enqueue(makeRequest({}, { requestedBy, priority: 'high' }), 0),
    );
    const first = mustClaim('w1');
    const [mine, other] = [undefined, 'other'].map(
      (requestedBy) => queue.enqueue(makeRequest({}, { ...(requestedBy && { requestedBy }) }), 0).requestId,
    );
    queue.holdCaller('agent');
    expect(queue.mode()).toEqual({ paused: false, stopped: false, heldCaller: 'agent' });
    expect(queue.check(first.claim).isHalted).toBe(true);
    queue.release(first.claim, { now: 0 });
    const second = mustClaim('w2');
    expect(second.request.id).toBe(mine);
    expect(queue.check(second.claim).isHalted).toBe(false);
    expect(mustClaim('w3').request.id).toBe(other);
    expect(claim()).toBeUndefined();
    // What has to be undone is.
    queue.requestCancel(String(running?.requestId), '', 0);
    expect(claim()).toMatchObject({ request: { id: running?.requestId }, ending: 'cancel' });
    queue.holdCaller(undefined);
    expect(claim()?.request.id).toBe(held?.requestId);
  });

  it('lists requests by state, kind and caller, the newest first', async () => {
    const { queue, mustClaim } = await openQueue();
    const kinds = ['search_servers', 'test_server', 'test_server'] as const;
    const ids = kinds.map((type, at) => {
      const request = makeRequest({}, { type, ...(at === 1 ? { requestedBy: 'agent' } : {}) });
      return queue.enqueue(request, 0).requestId;
    });
    queue.complete(mustClaim().claim, { now: 0 });
    const found = (...filter: Parameters<typeof queue.list>): string[] =>
      queue.list(...filter).map(({ requestId }) => requestId);
    expect(found()).toEqual(ids.toReversed());
    expect(found({ limit: 1 })).toEqual(ids.slice(2));
    expect(found({ states: ['completed'] })).toEqual(ids.slice(0, 1));
    expect(found({ types: ['test_server'], states: ['queued'] })).toEqual(ids.slice(1).toReversed());
    expect(found({ requestedBy: 'agent' })).toEqual(ids.slice(1, 2));
  });

  it('is the same after a restart', async () => {
    const directory = await temporaryDirectory();
    onTestFinished(directory.remove);
    const file = directory.file('work.db');
    const first = await openQueue(file);
    const { requestId } = first.queue.enqueue(makeRequest(), 0);
    const { claim } = first.mustClaim();
    first.queue.recordStep(claim, { next: 'two', data: { a: 1 }, progress: 10, message: 'One.', now: 0 });
    first.queue.setMode('paused', true);
    const second = await openQueue(file);
    expect(second.queue.mode().paused).toBe(true);
    expect(second.queue.status(requestId)).toEqual(first.queue.status(requestId));
    second.queue.setMode('paused', false);
    expect(second.mustClaim('w2', LEASE_MS)).toMatchObject({ step: 'two', data: { a: 1 } });
  });

  it('refuses data that is too large or no JSON, and keeps what it had', async () => {
    const { queue, mustClaim } = await openQueue();
    const { requestId } = queue.enqueue(makeRequest(), 0);
    const { claim } = mustClaim();
    const step = { next: 'two', progress: 1, message: '', now: 0, energy: [{ ref: 'x', amount: 9 }] };
    expect(() => queue.recordStep(claim, { ...step, data: { big: 'x'.repeat(2 ** 21) } })).toThrow(
      expect.objectContaining({ code: 'RESPONSE_TOO_LARGE' }),
    );
    expect(() => queue.recordStep(claim, { ...step, data: { big: 1n } })).toThrow(
      expect.objectContaining({ code: 'INTERNAL' }),
    );
    expect(queue.takeEnergy()).toBe(0);
    queue.complete(claim, { now: 0, result: 'x'.repeat(100_000) });
    expect(queue.messagesAfter(0, 10)[0]?.data).toEqual({ truncated: true });
    expect(queue.status(requestId)?.result).toHaveLength(100_000);
  });

  it('forgets what is old, and energy that nobody has taken after a week', async () => {
    const { queue, mustClaim, database } = await openQueue();
    const day = 24 * 60 * 60 * 1_000;
    const old = queue.enqueue(makeRequest(), 0).requestId;
    queue.complete(mustClaim().claim, { now: 0, energy: [{ ref: `${old}:a:1`, amount: 7_000 }] });
    const open = queue.enqueue(makeRequest(), 0).requestId;
    const spent = { now: 0, energy: [{ ref: `${open}:a:1`, amount: 2_000 }] };
    queue.spend(mustClaim().claim, spent);
    expect(prune(database, 1)).toBe(0);
    expect(prune(database, 7 * day)).toBe(0);
    // That of an open request stays.
    expect(prune(database, 7 * day + 1)).toBe(1);
    expect(prune(database, 31 * day)).toBe(2);
    expect(queue.list().map(({ requestId }) => requestId)).toEqual([open]);
    expect(queue.messagesAfter(0, 10)).toEqual([]);
    expect(queue.takeEnergy()).toBe(2);
  });
});

describe('energy', () => {
  it('is taken once', async () => {
    const { queue, mustClaim } = await openQueue();
    queue.enqueue(makeRequest(), 0);
    const { claim } = mustClaim();
    const spend = (ref: string, amount: number): unknown =>
      queue.recordStep(claim, { next: 'n', progress: 0, message: '', now: 0, energy: [{ ref, amount }] });
    spend('a', 1_500);
    spend('b', 250);
    expect([queue.takeEnergy(), queue.takeEnergy()]).toEqual([1.75, 0]);
    spend('b', 9_000);
    spend('c', 1);
    expect([queue.takeEnergy(), queue.takeEnergy()]).toEqual([0.001, 0]);
  });
});
