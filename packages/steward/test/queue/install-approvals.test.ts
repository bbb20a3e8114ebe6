import { describe, expect, it } from 'vitest';
import type { InstallApproval } from '../../src/queue/install-approvals.js';
import { makeRequest } from '../request-maker.js';
import { type OpenQueue, openQueue } from './open-queue.js';

const QUESTION = { step: 'approve', subject: { command: ['node', 'x.js'] }, fields: [{ name: 'ROOT' }] };

async function openParked(): Promise<OpenQueue & { readonly id: string; readonly asked: InstallApproval }> {
  const opened = await openQueue();
  const { requestId: id } = opened.queue.enqueue(makeRequest(), 0);
  const { claim } = opened.mustClaim();
  const asked = opened.approvals.ask({ ...QUESTION, requestId: id, now: 1, expiresAt: 100 });
  expect(opened.queue.park(claim, { now: 2, data: { plan: 1 } })).toBe('recorded');
  return { ...opened, id, asked };
}

// requirement E1
describe('a request that waits for an approval', () => {
  it('frees its worker, is no active work, and goes on with the answer', async () => {
    const { queue, approvals, claim, mustClaim, id, asked } = await openParked();
    expect(queue.status(id)).toMatchObject({ state: 'in_progress', waitingFor: 'approval' });
    expect(claim()).toBeUndefined();
    expect(queue.hasActiveWork()).toBe(false);
    expect(approvals.pending().approvals).toEqual([asked]);
    const reply = { answer: 'yes', answeredBy: 'owner', values: { ROOT: '/srv' }, now: 50 } as const;
    expect(approvals.answer(asked.id, reply)).toMatchObject({ ...QUESTION, answer: 'yes', answeredAt: 50 });
    expect(approvals.pending().approvals).toEqual([]);
    expect(queue.status(id)).not.toHaveProperty('waitingFor');
    expect(mustClaim('w2').data).toEqual({ plan: 1 });
    // The step asks again, and gets the answer.
    const again = approvals.ask({ ...QUESTION, requestId: id, now: 60, expiresAt: 200 });
    expect(again).toMatchObject({
      id: asked.id,
      answer: 'yes',
      answeredBy: 'owner',
      values: { ROOT: '/srv' },
    });
  });

  it('is not parked if the answer came before the step ended', async () => {
    const { queue, approvals, mustClaim } = await openQueue();
    const { requestId } = queue.enqueue(makeRequest(), 0);
    const { claim } = mustClaim();
    const { id } = approvals.ask({ ...QUESTION, requestId, now: 1, expiresAt: 100 });
    approvals.answer(id, { answer: 'no', answeredBy: 'owner', now: 2 });
    queue.park(claim, { now: 3 });
    expect(mustClaim('w2').request.id).toBe(requestId);
  });

  it('waits for all of its approvals', async () => {
    const { approvals, claim, id, asked } = await openParked();
    const second = approvals.ask({ ...QUESTION, step: 'other', requestId: id, now: 1, expiresAt: 100 });
    approvals.answer(asked.id, { answer: 'yes', answeredBy: 'owner', now: 2 });
    expect(claim()).toBeUndefined();
    approvals.answer(second.id, { answer: 'yes', answeredBy: 'owner', now: 2 });
    expect(claim()?.request.id).toBe(id);
  });

  it('fails when nobody answers in time', async () => {
    const { queue, approvals, mustClaim, id, asked } = await openParked();
    expect(approvals.expire(99)).toBe(0);
    expect(approvals.expire(100)).toBe(1);
    expect(() => approvals.answer(asked.id, { answer: 'yes', answeredBy: 'owner', now: 101 })).toThrow(
      /has expired/,
    );
    const { claim, ending, error } = mustClaim('w2');
    expect(ending).toBe('fail');
    expect(error).toMatchObject({ code: 'APPROVAL_NEEDED', message: expect.stringContaining('expired') });
    if (error !== undefined) queue.fail(claim, { now: 102, error });
    expect(queue.status(id)).toMatchObject({ state: 'failed', error: { code: 'APPROVAL_NEEDED' } });
  });

  it('needs no answer any more when it is cancelled', async () => {
    const { queue, approvals, mustClaim, id, asked } = await openParked();
    queue.requestCancel(id, '', 5);
    expect(approvals.pending().approvals).toEqual([]);
    expect(() => approvals.answer(asked.id, { answer: 'yes', answeredBy: 'owner', now: 6 })).toThrow(
      /its request has finished/,
    );
    expect(mustClaim('w2').ending).toBe('cancel');
  });
});

describe('an install approval', () => {
  it('is answered once, in time, and only if it exists', async () => {
    const { approvals, asked } = await openParked();
    const reply = { answer: 'no', answeredBy: 'owner' } as const;
    expect(() => approvals.answer(asked.id, { ...reply, now: 100 })).toThrow(
      expect.objectContaining({ code: 'ARGUMENTS_INVALID', message: expect.stringContaining('has expired') }),
    );
    approvals.answer(asked.id, { ...reply, now: 99 });
    expect(() => approvals.answer(asked.id, { ...reply, answer: 'yes', now: 99 })).toThrow(
      /was already answered with "no"/,
    );
    expect(() => approvals.answer('unknown', { ...reply, now: 0 })).toThrow(
      expect.objectContaining({ code: 'PATH_UNKNOWN' }),
    );
  });

  it('is refused if it is too large to be shown, and stored nowhere', async () => {
    const { queue, approvals, mustClaim } = await openQueue();
    const { requestId } = queue.enqueue(makeRequest(), 0);
    mustClaim();
    const question = { requestId, step: 's', fields: [], now: 0, expiresAt: 9 };
    const subject = { details: ['x'.repeat(64 * 1_024)] };
    expect(() => approvals.ask({ ...question, subject })).toThrow(
      expect.objectContaining({ code: 'RESPONSE_TOO_LARGE', message: expect.stringContaining('65536') }),
    );
    expect(approvals.countPending()).toBe(0);
  });

  it('is refused for a caller with too many open ones, and for no other one', async () => {
    const { queue, approvals } = await openQueue();
    const ask = (requestedBy?: string): InstallApproval => {
      const { requestId } = queue.enqueue(makeRequest({}, { ...(requestedBy && { requestedBy }) }), 0);
      return approvals.ask({ ...QUESTION, requestId, now: 0, expiresAt: 9 });
    };
    const [first] = Array.from({ length: 20 }, () => ask('eager'));
    expect(() => ask('eager')).toThrow(
      expect.objectContaining({ code: 'OVERLOADED', message: expect.stringContaining('"eager" has 20') }),
    );
    // The same question again is no other one.
    const again = { ...QUESTION, requestId: String(first?.requestId), now: 1, expiresAt: 9 };
    expect(approvals.ask(again).id).toBe(first?.id);
    ask('other');
    ask();
    approvals.answer(String(first?.id), { answer: 'no', answeredBy: 'owner', now: 1 });
    ask('eager');
    expect(approvals.countPending()).toBe(22);
  });
});
