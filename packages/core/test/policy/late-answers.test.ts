/** An answer that arrives when its call has stopped waiting is for the next repetition of that call, and for no other. */
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { type ApprovalAnswer, type Caller, createRuntime, type RuntimeOptions } from 'turnbuckle';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { TinyServer, toolNamed } from './tiny-server.js';

const home = await temporaryDirectory();
afterAll(() => home.remove());

const caller: Caller = { id: 'agent', capabilities: ['mcp_integration'] };

async function open(options: RuntimeOptions = {}) {
  const server = new TinyServer([toolNamed('write')]);
  const runtime = await createRuntime({
    stateDir: home.path,
    pins: 'off',
    approvals: 'queue',
    servers: { files: server.config() },
    ...options,
  });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  const settled: unknown[] = [];
  runtime.on('call.settled', ({ approval }) => void settled.push(approval));
  /** The error code; undefined if the call was made. */
  const call = async (path = '/a', approvalWaitMs = 1): Promise<string | undefined> => {
    const { failure } = await runtime.execute('mcp__files__write', { path }, { caller, approvalWaitMs });
    return failure?.code;
  };
  const answerAll = (answer: ApprovalAnswer): void => {
    for (const { id } of runtime.approvals.pending()) runtime.approvals.answer(id, answer, 'ada');
  };
  return { runtime, server, settled, call, answerAll };
}

// requirement P2
it.each([
  ['deny', 'CALL_DENIED'],
  ['once', undefined],
] as const)('"%s" leads to %s, once', async (answer, code) => {
  const { runtime, server, settled, call, answerAll } = await open();
  expect(await call()).toBe('APPROVAL_PENDING');
  answerAll(answer);
  // Another call requires its own approval.
  expect(await call('/b')).toBe('APPROVAL_PENDING');
  expect(await call()).toBe(code);
  expect(runtime.approvals.pending()).toHaveLength(1);
  expect(server.calls).toHaveLength(answer === 'once' ? 1 : 0);
  expect(await call()).toBe('APPROVAL_PENDING');
  expect(settled).toEqual([undefined, undefined, { answer, by: 'ada' }, undefined]);
});

it.each(['deny', 'once'] as const)('"%s" is kept for ten minutes', async (answer) => {
  let time = 1_000;
  const { call, answerAll } = await open({ now: () => time });
  await call();
  answerAll(answer);
  time += 600_001;
  expect(await call()).toBe('APPROVAL_PENDING');
});

it('is recorded with the repetition that waits for it', async () => {
  const { runtime, settled, call, answerAll } = await open();
  await call();
  let isDecided = false;
  runtime.on('call.decided', () => {
    isDecided = true;
  });
  const again = call('/a', 60_000);
  await waitUntil(() => isDecided);
  answerAll('once');
  expect(await again).toBeUndefined();
  expect(settled).toEqual([undefined, { answer: 'once', by: 'ada' }]);
});

it('is asked for in the words of the caller: the host approves its own calls', async () => {
  const { runtime } = await open({ rules: [{ action: 'ask' }] });
  const hintFor = async (who: Caller | undefined): Promise<string | undefined> => {
    const options = { approvalWaitMs: 1, ...(who && { caller: who }) };
    return (await runtime.execute('mcp__files__write', {}, options)).failure?.hint;
  };
  expect(await hintFor(undefined)).toMatch(
    /^Approve it, then repeat the same call\. To approve it: turnbuckle approvals answer /,
  );
  expect(await hintFor(caller)).toMatch(/^Ask the user to approve it, then repeat the same call\. /);
});

it('is not an approval request that expires, or that cannot be answered: the next repetition asks again', async () => {
  const { runtime, call } = await open({ approvalTimeoutMs: 20 });
  await call();
  await waitUntil(() => runtime.approvals.pending().length === 0);
  expect(await call()).toBe('APPROVAL_PENDING');
  runtime.approvals.abandon(runtime.approvals.pending()[0]?.id ?? '');
  expect(await call()).toBe('APPROVAL_PENDING');
});
