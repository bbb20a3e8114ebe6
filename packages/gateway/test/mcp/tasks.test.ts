/** A task belongs to the caller and the tool that started it; an unknown method is authorized like a tool. */
import { statSync } from 'node:fs';
import { temporaryDirectory } from '@turnbuckle/testing';
import type { RuntimeEvents } from 'turnbuckle';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OWNER } from '../../src/identity/owner.js';
import { makeTaskKey, TaskIds } from '../../src/mcp/sealed/task-ids.js';
import { loadOrCreateTaskKey } from '../../src/mcp/sealed/task-key.js';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

const ALL = ['mcp_integration'];
let server: Upstream;
let stand: Stand;
const settled: Array<RuntimeEvents['call.settled']> = [];
const now = { status: 'working', createdAt: '2026-01-01T00:00:00Z', ttl: 60_000 };

beforeAll(async () => {
  server = await openUpstream({
    tools: ['slow', 'other', 'read'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    answers: {
      'tools/call': () => ({ task: { taskId: 'up-1', ...now } }),
      'tasks/get': ({ taskId }) => ({ taskId, ...now }),
      'tasks/result': ({ taskId }) => ({
        content: [{ type: 'text', text: 'done' }],
        _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
      }),
      'tasks/cancel': ({ taskId }) => ({ taskId, ...now, status: 'cancelled' }),
      'tasks/list': () => ({ tasks: [{ taskId: 'up-1', ...now }] }),
      'own/method': () => ({ done: true }),
    },
  });
  stand = await openStand({
    servers: {
      up: { url: server.url, labels: { slow: ['outbound'], read: ['private', 'untrusted'] } },
    },
    callers: {
      alice: { id: 'alice', capabilities: ALL },
      bob: { id: 'bob', capabilities: ALL },
      carol: { id: 'carol', capabilities: ALL },
      owner: { id: OWNER, capabilities: ALL },
    },
    views: { small: { tools: ['other'] } },
    options: { approvals: 'queue' },
  });
  stand.runtime.on('call.settled', (call) => settled.push(call));
});
afterAll(async () => {
  await stand.close();
  await server.close();
});
beforeEach(() => {
  settled.length = 0;
  stand.runtime.setRules([]);
});

const rule = (action: 'allow' | 'ask' | 'deny', tool: string, caller = '*') => [
  { rule: { action, tool, caller }, from: 'user' as const, position: 0 },
];

/** What a modern client declares if it supports tasks. */
const DECLARED = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

type Ask = (method: string, params: Record<string, unknown>) => Promise<RawAnswer>;

const over = {
  modern: async (token: string, path = '/mcp'): Promise<Ask> => {
    return (method, params) => {
      const headers = typeof params.taskId === 'string' ? { 'mcp-name': params.taskId } : {};
      const meta = { ...DECLARED, ...Object(params._meta) };
      return modern(stand, { method, params }, { path, token, headers, meta });
    };
  },
  legacy: async (token: string, path = '/mcp'): Promise<Ask> => {
    const headers = { 'mcp-session-id': await initialize(stand, { path, token }) };
    return (method, params) =>
      send(stand, { jsonrpc: '2.0', id: 1, method, params }, { path, token, headers });
  },
};

const arrived = (): string[] =>
  server.noted.map(({ method }) => method).filter((method) => /^(tasks|own)\//.test(method));
const taskOf = ({ body }: RawAnswer): string => {
  const task = body.result?.task as { taskId: string } | undefined;
  return task?.taskId ?? '';
};
const begin = async (ask: Ask): Promise<string> =>
  taskOf(await ask('tools/call', { name: 'up_slow', arguments: {}, task: { ttl: 60_000 } }));
const METHODS = {
  legacy: ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update'],
  // No result: it comes with the task.
  modern: ['tasks/get', 'tasks/cancel', 'tasks/update'],
};
const VENDORS = ['tasks/whatever', 'tasks/delete_everything', 'tasks/'];
/** What a careless server may take for methods of the protocol. */
const NEARLY = ['tasks/../tools/call', 'tasks/GET'];
const OTHERS = [...VENDORS, ...NEARLY];
/** Not the last one, which may have bits that do not count. */
const withOtherCharacter = (id: string): string =>
  `${id.slice(0, -3)}${id.at(-3) === 'A' ? 'B' : 'A'}${id.slice(-2)}`;
const pending = () => stand.runtime.approvals.pending();
/** Answers the one pending approval, and returns its tool. */
async function answerPending(answer: 'once' | 'deny'): Promise<string> {
  await expect.poll(() => pending().length).toBe(1);
  const [question] = pending();
  stand.runtime.approvals.answer(question?.id ?? '', answer);
  return question?.tool ?? '';
}

describe.each(['modern', 'legacy'] as const)('a client of the %s era', (era) => {
  it.each(['alice', 'owner'])('%s follows its own task', async (who) => {
    const ask = await over[era](who);
    const taskId = await begin(ask);
    expect(taskId).not.toContain('up-1');
    const got = await ask('tasks/get', { taskId });
    expect(got.body.result).toMatchObject({ status: 'working' });
    // The returned id works like the first one.
    const again = await ask('tasks/get', { taskId: got.body.result?.taskId });
    expect(again.body.result).toMatchObject({ status: 'working' });
    if (era === 'legacy') {
      const { body } = await ask('tasks/result', { taskId });
      expect(body.result).toMatchObject({ content: [{ text: 'done' }] });
      expect(JSON.stringify(body)).not.toContain('up-1');
    }
    expect((await ask('tasks/cancel', { taskId })).body.result).toMatchObject({ status: 'cancelled' });
    expect(server.noted.at(-1)?.params.taskId).toBe('up-1');
    expect(settled.at(-1)).toMatchObject({
      server: 'up',
      tool: 'slow',
      callerId: who === 'owner' ? undefined : who,
    });
  });

  it.each([...METHODS[era], ...OTHERS])(
    'cannot use a task of another caller, or a forged one: %s',
    async (method) => {
      const ask = await over[era]('alice');
      const taskId = await begin(ask);
      const before = arrived().length;
      const others = [
        [await over[era]('bob'), taskId],
        [await over[era]('owner'), taskId],
        [ask, 'up~up-1'],
        [ask, 'up-1'],
        [ask, withOtherCharacter(taskId)],
        [ask, new TaskIds(makeTaskKey()).seal({ server: 'up', tool: 'slow', id: 'up-1' }, 'alice')],
        [ask, ''],
        [ask, 7],
      ] as const;
      for (const [who, id] of others)
        expect((await who(method, { taskId: id })).body.error, String(id)).toMatchObject({ code: -32602 });
      expect(arrived().slice(before)).toEqual([]);
    },
  );

  it('cannot list tasks', async () => {
    const before = arrived().length;
    for (const who of ['alice', 'owner'])
      expect((await (await over[era](who))('tasks/list', {})).body.error).toMatchObject({ code: -32601 });
    expect(arrived().slice(before)).toEqual([]);
  });

  it.each(METHODS[era])('is subject to the rules of the tool that began the task: %s', async (method) => {
    const ask = await over[era]('alice');
    const taskId = await begin(ask);
    const before = arrived().length;
    stand.runtime.setRules(rule('deny', 'slow'));
    const { error: none } = (await ask(method, { taskId: 'none' })).body;
    expect(none?.data).toMatchObject({ code: 'TOOL_UNKNOWN' });
    expect((await ask(method, { taskId })).body.error).toEqual(none);
    expect(settled.at(-1)).toMatchObject({
      tool: 'slow',
      callerId: 'alice',
      error: { code: 'TOOL_UNKNOWN' },
    });
    stand.runtime.setRules(rule('ask', 'slow'));
    const asked = ask(method, { taskId });
    await expect.poll(() => stand.runtime.approvals.pending().length).toBe(1);
    const [question] = stand.runtime.approvals.pending();
    stand.runtime.approvals.answer(question?.id ?? '', 'deny');
    expect((await asked).body.error?.data).toMatchObject({ code: 'CALL_DENIED' });
    expect(arrived().slice(before)).toEqual([]);
    const inView = await over[era]('alice', '/mcp/small');
    stand.runtime.setRules([]);
    expect((await inView(method, { taskId })).body.error).toEqual(none);
    expect(arrived().slice(before)).toEqual([]);
  });

  it('requires no approval for the task of an approved call', async () => {
    stand.runtime.setRules(rule('ask', 'slow'));
    const ask = await over[era]('alice');
    const began = begin(ask);
    await expect.poll(() => stand.runtime.approvals.pending().length).toBe(1);
    const [question] = stand.runtime.approvals.pending();
    stand.runtime.approvals.answer(question?.id ?? '', 'once');
    const taskId = await began;
    expect((await ask('tasks/get', { taskId })).body.result).toMatchObject({ status: 'working' });
  });

  it.each(NEARLY)(
    'cannot send a method that resembles one of the protocol to the server: %s',
    async (method) => {
      stand.runtime.setRules(rule('allow', '*'));
      const ask = await over[era]('alice');
      const taskId = await begin(ask);
      const before = arrived().length;
      expect((await ask(method, { taskId })).body.error?.data).toMatchObject({ code: 'TOOL_UNKNOWN' });
      expect(arrived().slice(before)).toEqual([]);
    },
  );

  it.each(VENDORS)(
    "needs approval for a method that is not the protocol's, whatever was approved: %s",
    async (method) => {
      stand.runtime.setRules(rule('ask', '*'));
      const ask = await over[era]('alice');
      const began = begin(ask);
      await answerPending('once');
      const taskId = await began;
      const before = arrived().length;
      const asked = ask(method, { taskId, arguments: { command: 'x' } });
      expect(await answerPending('deny')).toBe(method);
      expect((await asked).body.error?.data).toMatchObject({ code: 'CALL_DENIED' });
      stand.runtime.setRules(rule('deny', method));
      expect((await ask(method, { taskId })).body.error?.data).toMatchObject({ code: 'TOOL_UNKNOWN' });
      expect(arrived().slice(before)).toEqual([]);
    },
  );

  it.each(METHODS[era])('forwards nothing that was not approved: %s', async (method) => {
    stand.runtime.setRules(rule('ask', 'slow'));
    const ask = await over[era]('alice');
    const began = begin(ask);
    await answerPending('once');
    await ask(method, { taskId: await began, name: 'x', arguments: { command: 'x' }, anything: 'more' });
    const sent = server.noted.at(-1);
    const { _meta, ...own }: Readonly<Record<string, unknown>> = sent?.params ?? {};
    expect([sent?.method, own]).toEqual([method, { taskId: 'up-1' }]);
  });

  it.each(METHODS[era])('requires approval again for a new reason: %s', async (method) => {
    const other = { action: 'ask' as const, tool: 's*', caller: 'alice', reason: 'another' };
    stand.runtime.setRules(rule('ask', 'slow'));
    const ask = await over[era]('alice');
    const began = begin(ask);
    await answerPending('once');
    const taskId = await began;
    const before = arrived().length;
    stand.runtime.setRules([{ rule: other, from: 'user', position: 0 }, ...rule('ask', 'slow')]);
    const asked = ask(method, { taskId });
    await answerPending('deny');
    expect((await asked).body.error?.data).toMatchObject({ code: 'CALL_DENIED' });
    expect(arrived().slice(before)).toEqual([]);
    // The approval was for the first reason, and is still valid for that.
    stand.runtime.setRules(rule('ask', 'slow'));
    await ask(method, { taskId });
    expect(arrived().slice(before)).toEqual([method]);
  });

  it.each(METHODS[era])('needs approval for _meta that the call did not send: %s', async (method) => {
    stand.runtime.setRules(rule('ask', 'slow'));
    const ask = await over[era]('alice');
    const began = begin(ask);
    await answerPending('once');
    const taskId = await began;
    const before = arrived().length;
    const asked = ask(method, { taskId, _meta: { 'evil/x': 'rm -rf' } });
    await expect.poll(() => pending()[0]?.alsoSent).toEqual({ _meta: { 'evil/x': 'rm -rf' } });
    await answerPending('deny');
    expect((await asked).body.error?.data).toMatchObject({ code: 'CALL_DENIED' });
    expect(arrived().slice(before)).toEqual([]);
    await ask(method, { taskId, _meta: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } });
    expect(arrived().slice(before)).toEqual([method]);
  });

  it('needs approval again when a flow has appeared in its run', async () => {
    const { runtime } = stand;
    runtime.setRules(rule('ask', 'slow'), { defaultDecision: 'allow', flows: 'off' });
    const ask = await over[era]('carol');
    const began = begin(ask);
    await answerPending('once');
    const taskId = await began;
    await ask('tools/call', { name: 'up_read', arguments: {} });
    expect((await ask('tasks/get', { taskId })).body.result).toMatchObject({ status: 'working' });
    runtime.setRules(rule('ask', 'slow'), { defaultDecision: 'allow', flows: 'ask' });
    const asked = ask('tasks/get', { taskId });
    await answerPending('deny');
    expect((await asked).body.error?.data).toMatchObject({ code: 'CALL_DENIED' });
  });

  it.each([{}, { taskId: 'up~x' }, { taskId: 'x' }])(
    'is authorized like a tool if its method is unknown, whatever its params answerPending: %j',
    async (params) => {
      const ask = await over[era]('alice');
      const before = arrived().length;
      stand.runtime.setRules(rule('deny', 'own/*'));
      expect((await ask('own/method', params)).body.error?.data).toMatchObject({ code: 'TOOL_UNKNOWN' });
      stand.runtime.setRules([{ rule: { action: 'deny', kind: 'tool' }, from: 'user', position: 0 }]);
      expect((await ask('own/method', params)).body.error?.data).toMatchObject({ code: 'TOOL_UNKNOWN' });
      expect(arrived().slice(before)).toEqual([]);
      stand.runtime.setRules([]);
      expect((await ask('own/method', params)).body.result).toMatchObject({ done: true });
      expect(settled.at(-1)).toMatchObject({ kind: 'tool', tool: 'own/method', callerId: 'alice' });
    },
  );
});

it('an approval in a task id is valid for a day, and one without its details never', () => {
  let now = 1_000_000;
  const ids = new TaskIds(makeTaskKey(), () => now);
  const permit = { hash: 'x', asking: ['y'], pin: undefined, flow: false };
  const task = { server: 'up', tool: 'slow', id: 'up-1' };
  const sealed = ids.seal({ ...task, approved: ids.createApproval(permit) }, 'alice');
  expect(ids.open(sealed, 'alice')?.approved).toEqual({ at: now, permit });
  now += 24 * 3_600_000;
  expect(ids.open(sealed, 'alice')).toEqual(task);
  const old = ids.seal({ ...task, approved: 'a mark' as never }, 'alice');
  expect(ids.open(old, 'alice')).toEqual(task);
});

it('a task is known after a restart, by a key that only the owner can read', async () => {
  const directory = await temporaryDirectory();
  const stateDir = directory.file('state');
  const task = { server: 'up', tool: 'slow', id: 'up-1' };
  const sealed = new TaskIds(loadOrCreateTaskKey(stateDir)).seal(task, 'alice');
  expect(new TaskIds(loadOrCreateTaskKey(stateDir)).open(sealed, 'alice')).toEqual(task);
  expect(statSync(directory.file('state/task-key')).mode & 0o077).toBe(0);
  await directory.remove();
});

it('tasks are an extension for modern clients: they must be declared, and have no method for the result', async () => {
  const ask = await over.modern('alice');
  const taskId = await begin(ask);
  const before = arrived();
  const headers = { 'mcp-name': taskId };
  const undeclared = await modern(
    stand,
    { method: 'tasks/get', params: { taskId } },
    { token: 'alice', headers },
  );
  expect(undeclared.body.error).toMatchObject({ code: -32021 });
  expect((await ask('tasks/result', { taskId })).body.error).toMatchObject({ code: -32601 });
  expect(arrived()).toEqual(before);
});

it('tasks keep the id that their client knows', async () => {
  const ask = await over.modern('alice');
  const taskId = await begin(ask);
  expect((await ask('tasks/get', { taskId })).body.result).toMatchObject({ taskId });
});
