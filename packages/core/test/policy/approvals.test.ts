import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Caller,
  createRuntime,
  type RuntimeEvents,
  type RuntimeOptions,
} from 'turnbuckle';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { TinyServer, toolNamed } from './tiny-server.js';

const home = await temporaryDirectory();
afterAll(() => home.remove());

const agent = (id = 'agent'): Caller => ({ id, capabilities: ['mcp_integration'] });

async function open(options: RuntimeOptions = {}) {
  const server = new TinyServer([
    toolNamed('write', { annotations: { destructiveHint: true } }),
    toolNamed('other'),
  ]);
  const runtime = await createRuntime({
    stateDir: home.path,
    pins: 'off',
    servers: { files: server.config() },
    ...options,
  });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  const call = (caller: Caller | undefined = agent(), args: Record<string, unknown> = {}, tool = 'write') =>
    runtime.callTool('files', tool, args, { caller });
  return { runtime, server, call };
}

/** A runtime whose approver gives these answers, one after the other, and records the requests. */
async function openWithAnswers(answers: unknown[], options: RuntimeOptions = {}) {
  const asked: ApprovalRequest[] = [];
  const opened = await open({
    approve: (request) => {
      asked.push(request);
      return answers.shift() as ApprovalAnswer;
    },
    ...options,
  });
  return { ...opened, asked };
}

it('the wait for approval is not part of the duration of the call', async () => {
  const { call, runtime } = await open({
    approve: async () => {
      const asked = performance.now();
      // On a busy machine, a timer may end early: it counts from the start of its turn.
      while (performance.now() - asked < 60) await new Promise((resolve) => setTimeout(resolve, 10));
      return 'once' as const;
    },
  });
  const settled: RuntimeEvents['call.settled'][] = [];
  runtime.on('call.settled', (event) => settled.push(event));
  const from = performance.now();
  await call();
  const tookMs = performance.now() - from;
  const { durationMs = tookMs, waitedMs = 0 } = settled[0] ?? {};
  expect(waitedMs).toBeGreaterThan(50);
  expect(durationMs + waitedMs).toBeLessThanOrEqual(tookMs);
});

describe('an approval request', () => {
  it('is JSON data without secrets', async () => {
    const { call, asked } = await openWithAnswers(['once'], {
      rules: [{ action: 'ask', tool: 'write', reason: 'it writes' }],
      now: () => Date.UTC(2026, 0, 2),
      approvalTimeoutMs: 60_000,
    });
    await call(agent(), { path: '/tmp/x', password: 'hunter2-hunter2', list: [{ apiKey: 'k-123456' }] });
    const [request] = asked;
    expect(JSON.parse(JSON.stringify(request))).toEqual(request);
    expect(request).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      requestId: expect.any(String),
      kind: 'tool',
      server: 'files',
      tool: 'write',
      toolName: 'mcp__files__write',
      callerId: 'agent',
      arguments: expect.objectContaining({ path: '/tmp/x' }),
      annotations: { destructiveHint: true },
      trusted: false,
      reason: 'a rule requires approval with the reason "it writes"',
      rule: { index: 0, action: 'ask', from: 'options', reason: 'it writes' },
      answers: ['once', 'session', 'deny'],
      createdAt: '2026-01-02T00:00:00.000Z',
      expiresAt: '2026-01-02T00:01:00.000Z',
    });
    expect(JSON.stringify(request)).not.toMatch(/hunter2|k-123456/);
  });

  it('is an event, and so is its answer, with its author and the waiting time', async () => {
    let time = 1_000;
    const { runtime, call } = await open({
      now: () => time,
      approve: () => {
        time += 250;
        return 'once';
      },
    });
    const told: unknown[] = [];
    runtime.on('approval.asked', ({ id, tool }) => told.push({ asked: tool, id }));
    runtime.on('approval.answered', ({ id, answer, by, waitedMs, callerId }) =>
      told.push({ id, answer, by, waitedMs, callerId }),
    );
    await call();
    const id = expect.any(String);
    expect(told).toEqual([
      { asked: 'write', id },
      { id, answer: 'once', by: 'approver', waitedMs: 250, callerId: 'agent' },
    ]);
  });
});

// requirement P2
describe('an answer', () => {
  it('"once" is for one call', async () => {
    const { call, asked } = await openWithAnswers(['once', 'once']);
    await call();
    await call();
    expect(asked).toHaveLength(2);
  });

  it('"session" is for this caller, tool and definition until the runtime closes', async () => {
    const { runtime, call, asked, server } = await openWithAnswers(['session', 'session', 'once', 'once']);
    const decided: RuntimeEvents['call.decided'][] = [];
    runtime.on('call.decided', (event) => decided.push(event));
    await call();
    await call(agent(), { other: 'arguments' });
    expect(asked).toHaveLength(1);
    expect(decided.map(({ decision, remembered }) => [decision, remembered])).toEqual([
      ['ask', false],
      ['ask', true],
    ]);
    await call(agent('second'));
    expect(asked).toHaveLength(2);
    await call(agent(), {}, 'other');
    expect(asked).toHaveLength(3);
    server.tools = [toolNamed('write', { description: 'Another one' }), toolNamed('other')];
    await runtime.refresh('files');
    await call();
    expect(asked).toHaveLength(4);
  });

  it('"session" for one reason does not apply to another reason', async () => {
    const { call, asked } = await openWithAnswers(['session', 'deny'], {
      rules: [{ action: 'ask', arguments: { path: '/etc/**' } }],
    });
    await call(agent(), { path: '/tmp/x' });
    await call(agent(), { path: '/tmp/y' });
    await expect(call(agent(), { path: '/etc/x' })).rejects.toMatchObject({ code: 'CALL_DENIED' });
    expect(asked).toHaveLength(2);
  });

  it('"session" also approves waiting calls of the same kind', async () => {
    const { runtime, call } = await open({ approvals: 'queue' });
    const calls = [call(), call(), call(agent('second'))];
    const last = calls[2]?.catch((error) => error.code);
    await waitUntil(() => runtime.approvals.pending().length === 3);
    const [first] = runtime.approvals.pending();
    expect(runtime.approvals.answer(first?.id ?? '', 'session')).toBe(true);
    await Promise.all(calls.slice(0, 2));
    const [left, ...more] = runtime.approvals.pending();
    expect([left?.callerId, more]).toEqual(['second', []]);
    runtime.approvals.answer(left?.id ?? '', 'deny');
    expect(await last).toBe('CALL_DENIED');
  });

  it.each(['allow', 'yes', true, undefined, null, { answer: 'once' }])(
    '%j counts as deny',
    async (answer) => {
      const { call, server } = await openWithAnswers([answer]);
      await expect(call()).rejects.toMatchObject({ code: 'CALL_DENIED' });
      expect(server.calls).toEqual([]);
    },
  );

  it('of an approver that throws, immediately or later, counts as deny', async () => {
    for (const approve of [
      () => {
        throw new Error('at once');
      },
      async () => Promise.reject(new Error('later')),
    ]) {
      const { call, server } = await open({ approve });
      await expect(call()).rejects.toMatchObject({ code: 'CALL_DENIED', cause: expect.any(Error) });
      expect(server.calls).toEqual([]);
    }
  });

  it('that does not arrive in time counts as deny, and is ignored afterwards', async () => {
    let signal: AbortSignal | undefined;
    const { runtime, call, server } = await open({
      approvalTimeoutMs: 30,
      approve: (_, ended) => {
        signal = ended;
        return new Promise(() => {});
      },
    });
    const told: string[] = [];
    let id = '';
    runtime.on('approval.asked', (request) => {
      id = request.id;
    });
    runtime.on('approval.answered', ({ by, answer }) => told.push(`${by} ${answer}`));
    await expect(call()).rejects.toMatchObject({ code: 'CALL_DENIED' });
    expect(told).toEqual(['expiry deny']);
    expect(signal?.aborted).toBe(true);
    expect(runtime.approvals.answer(id, 'always')).toBe(false);
    expect(runtime.approvals.pending()).toEqual([]);
    expect(server.calls).toEqual([]);
  });

  it('is not awaited by a cancelled call', async () => {
    const { runtime } = await open({ approvals: 'queue' });
    const abort = new AbortController();
    const call = runtime.callTool('files', 'write', {}, { caller: agent(), signal: abort.signal });
    const failed = call.catch((error) => error.code);
    await waitUntil(() => runtime.approvals.pending().length === 1);
    abort.abort();
    expect(await failed).toBe('CALL_CANCELLED');
    expect(runtime.approvals.pending()).toEqual([]);
  });

  it.each([
    ['of the host, for as long as its own limit', undefined, { approvalWaitMs: 20 }, undefined],
    ['of an agent, for as long as its own limit', agent(), { approvalWaitMs: 20 }, 600_000],
    ['of an agent, no longer than the limit for agents', agent(), { approvalWaitMs: 600_000 }, 20],
  ])('is awaited by a call %s', async (_, caller, limits, approvalWaitMs) => {
    const rules = [{ action: 'ask' as const }];
    const { runtime, server } = await open({ approvals: 'queue', rules, approvalWaitMs });
    const again = () => runtime.callTool('files', 'write', {}, { caller, ...limits });
    const error = await again().catch((thrown) => thrown);
    const [asked] = runtime.approvals.pending();
    expect(error).toMatchObject({ code: 'APPROVAL_PENDING', data: { approval: asked?.id } });
    expect(runtime.approvals.answer(asked?.id ?? '', 'once')).toBe(true);
    await again();
    expect(server.calls).toHaveLength(1);
  });

  it('counts as deny when the runtime closes', async () => {
    const { runtime, call } = await open({ approvals: 'queue' });
    const failed = call().catch((error) => error.code);
    await waitUntil(() => runtime.approvals.pending().length === 1);
    await runtime.close();
    expect(await failed).toBe('CALL_DENIED');
  });

  it('applies to the definition that was shown, not to a changed one', async () => {
    const { runtime, call, server } = await open({ approvals: 'queue' });
    const failed = call().catch((error) => error);
    await waitUntil(() => runtime.approvals.pending().length === 1);
    server.tools = [toolNamed('write', { description: 'Something else now' })];
    await runtime.refresh('files');
    const [request] = runtime.approvals.pending();
    runtime.approvals.answer(request?.id ?? '', 'session');
    expect(await failed).toMatchObject({ code: 'CALL_DENIED', message: expect.stringMatching(/changed/) });
    expect(server.calls).toEqual([]);
  });
});

describe('the queue of approvals', () => {
  it('is empty, and calls fail immediately, if there is no approver', async () => {
    const { runtime, call } = await open();
    await expect(call()).rejects.toMatchObject({
      code: 'APPROVAL_NEEDED',
      data: { reason: 'agent calls require approval by default' },
    });
    expect(runtime.approvals.pending()).toEqual([]);
  });

  it('can be answered in addition to an approver, by name, and the first answer counts', async () => {
    const { runtime, call } = await open({ approve: () => new Promise(() => {}) });
    const by: string[] = [];
    runtime.on('approval.answered', (event) => by.push(event.by));
    const call1 = call();
    await waitUntil(() => runtime.approvals.pending().length === 1);
    const [request] = runtime.approvals.pending();
    expect(runtime.approvals.answer(request?.id ?? '', 'once', 'ada at the console')).toBe(true);
    await call1;
    expect(runtime.approvals.answer(request?.id ?? '', 'deny')).toBe(false);
    expect(by).toEqual(['ada at the console']);
  });

  it('ignores unknown ids', async () => {
    const { runtime } = await open({ approvals: 'queue' });
    expect(runtime.approvals.answer('nonesuch', 'once')).toBe(false);
  });

  it('is limited for each caller, and a flood by one does not block others', async () => {
    const { runtime, call } = await open({ approvals: 'queue' });
    const flood = Array.from({ length: 120 }, () => call().catch((error) => error.code));
    await waitUntil(() => runtime.approvals.pending().length === 100);
    const polite = call(agent('polite'));
    await waitUntil(() => runtime.approvals.pending().length === 101);
    const own = runtime.approvals.pending().find(({ callerId }) => callerId === 'polite');
    runtime.approvals.answer(own?.id ?? '', 'once');
    await polite;
    await runtime.close();
    const codes = await Promise.all(flood);
    expect(codes.filter((code) => code === 'OVERLOADED')).toHaveLength(20);
    expect(codes.filter((code) => code === 'CALL_DENIED')).toHaveLength(100);
  });
});

describe('decisions', () => {
  it('are events, every one, with reason and rule', async () => {
    const { runtime, call } = await openWithAnswers(['once'], {
      rules: [
        { action: 'deny', tool: 'other', caller: 'second' },
        { action: 'deny', arguments: { path: '/etc/**' }, reason: 'system files' },
        { action: 'allow', tool: 'other' },
      ],
    });
    const told: unknown[] = [];
    runtime.on('call.decided', ({ tool, callerId, decision, reason, rule, kind, requestId }) =>
      told.push([kind, tool, callerId, decision, reason, rule?.index, typeof requestId]),
    );
    await call();
    await call(agent(), {}, 'other');
    await call(agent('second'), {}, 'other').catch(() => {});
    await call(agent(), { path: '/etc/x' }).catch(() => {});
    await runtime.callTool('files', 'write');
    await runtime.readResource('files', 'a:b', { caller: agent() });
    await runtime.readResource('files', 'a:b', { caller: { id: 'none', capabilities: [] } }).catch(() => {});
    expect(told).toEqual([
      ['tool', 'write', 'agent', 'ask', 'agent calls require approval by default', undefined, 'string'],
      ['tool', 'other', 'agent', 'allow', 'a rule allows it', 2, 'string'],
      ['tool', 'other', 'second', 'deny', 'a rule denies it', 0, 'string'],
      ['tool', 'write', 'agent', 'deny', 'a rule denies it with the reason "system files"', 1, 'string'],
      ['tool', 'write', undefined, 'allow', 'calls by the host are allowed', undefined, 'string'],
      [
        'resource',
        'a:b',
        'agent',
        'allow',
        'reading is allowed for callers with access to the server',
        undefined,
        'string',
      ],
      ['resource', 'a:b', 'none', 'deny', 'the caller has no capability for it', undefined, 'string'],
    ]);
  });

  it('can be queried without a call', async () => {
    const { runtime, server } = await open({
      rules: [
        { action: 'allow', tool: 'write', arguments: { path: '/tmp/**' } },
        { action: 'deny', tool: 'write', caller: 'second' },
      ],
    });
    const request = { server: 'files', tool: 'write', arguments: { path: '/etc/x' } };
    expect(runtime.decide({ ...request, caller: agent() })).toMatchObject({ action: 'ask' });
    const { decision, passed, unsure } = runtime.explain({ ...request, caller: agent('second') });
    expect(decision).toMatchObject({ action: 'deny', rule: { index: 1 } });
    expect(passed.map(({ index, because }) => [index, because])).toEqual([[0, 'arguments']]);
    expect(unsure).toBe(false);
    expect(server.calls).toEqual([]);
  });

  it('cannot be made by invalid rules', async () => {
    const rules = [{ action: 'alow', tool: 'x' }] as never;
    await expect(createRuntime({ stateDir: home.path, rules })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('rules[0].action'),
    });
  });
});
