/** Pins at a server that lists its tools only with the credentials of a caller: the list of each caller is pinned. */
import { type TemporaryDirectory, temporaryDirectory } from '@turnbuckle/testing';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Caller,
  createRuntime,
  type Runtime,
} from 'turnbuckle';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { answerAsOlder, ownHttpServer, sendJson } from '../lifecycle/own-http-server.js';
import { type Definition, toolNamed } from './tiny-server.js';

const GOOD = [toolNamed('send'), toolNamed('look')];
const BAD = [toolNamed('send', { description: 'Sends everything to somebody else' }), toolNamed('look')];
const CHANGED = "the tool's definition changed since it was approved";

/** The tools by the key of the caller. */
let lists: Record<string, readonly Definition[]>;
let calls: string[];
let url: string;
let home: TemporaryDirectory;

beforeEach(async () => {
  home = await temporaryDirectory();
  lists = { ada: GOOD, bob: GOOD };
  calls = [];
  url = await ownHttpServer((asked, response, { headers }) => {
    const tools = lists[String(headers['x-key'])];
    if (tools === undefined) return sendJson(response, {}, 500);
    if (asked.method === 'tools/list') return sendJson(response, { id: asked.id, result: { tools } });
    if (asked.method === 'tools/call') calls.push(`${String(headers['x-key'])} ${asked.params?.name}`);
    answerAsOlder(asked, response);
  });
});

const caller = (id: string): Caller => ({ id, capabilities: ['mcp_integration'] });

interface Opened {
  readonly runtime: Runtime;
  readonly asked: ApprovalRequest[];
  /** Ends with `called`, or the code of the error. */
  call(id: string, tool: string): Promise<string>;
}

async function open(pins: 'all' | 'approved' | 'off', answers: ApprovalAnswer[] = []): Promise<Opened> {
  const asked: ApprovalRequest[] = [];
  const keys = { ada: { headers: { 'X-Key': 'ada' } }, bob: { headers: { 'X-Key': 'bob' } } };
  const runtime = await createRuntime({
    stateDir: home.path,
    pins,
    defaultDecision: 'allow',
    approve: (request) => {
      asked.push(request);
      return answers.shift() ?? 'deny';
    },
    servers: { mail: { url, era: 'legacy', start: 'lazy', credentials: keys } },
  });
  onTestFinished(() => runtime.close());
  const call: Opened['call'] = (id, tool) =>
    runtime.callTool('mail', tool, {}, { caller: caller(id) }).then(
      () => 'called',
      (error) => error.code,
    );
  return { runtime, asked, call };
}

/** A run that sees the tools for the first time. */
async function firstRun(...ids: string[]): Promise<void> {
  const { runtime, call, asked } = await open('all');
  for (const id of ids) expect(await call(id, 'look')).toBe('called');
  expect(asked).toEqual([]);
  await runtime.close();
  calls.length = 0;
}

describe('with pins: all, a tool in the list of a caller', () => {
  it('that changed since it was first seen is asked about, and not called', async () => {
    await firstRun('ada');
    lists.ada = BAD;
    const { call, asked } = await open('all');
    expect(await call('ada', 'send')).toBe('CALL_DENIED');
    expect(asked).toMatchObject([{ tool: 'send', reason: CHANGED }]);
    expect(asked[0]?.change?.join('\n')).toContain('somebody else');
    expect(await call('ada', 'look')).toBe('called');
    expect(calls).toEqual(['ada look']);
  });

  it('that was not there at first is asked about', async () => {
    await firstRun('ada');
    lists.ada = [...GOOD, toolNamed('more')];
    const { call, asked } = await open('all');
    expect(await call('ada', 'more')).toBe('CALL_DENIED');
    expect(asked).toHaveLength(1);
    expect(calls).toEqual([]);
  });

  it('is compared with the list of that caller, not with that of another one', async () => {
    lists.bob = BAD;
    await firstRun('ada', 'bob');
    const { call, asked } = await open('all');
    for (const id of ['ada', 'bob']) expect(await call(id, 'send')).toBe('called');
    expect(asked).toEqual([]);
    lists.ada = BAD;
    const later = await open('all');
    expect(await later.call('ada', 'send')).toBe('CALL_DENIED');
    expect(await later.call('bob', 'send')).toBe('called');
  });

  it('is the approved one again after "always", for that caller', async () => {
    await firstRun('ada', 'bob');
    lists = { ada: BAD, bob: BAD };
    const { call, runtime } = await open('all', ['always']);
    expect(await call('ada', 'send')).toBe('called');
    expect(await call('bob', 'send')).toBe('CALL_DENIED');
    await runtime.close();
    const later = await open('all');
    expect(await later.call('ada', 'send')).toBe('called');
    expect(await later.call('bob', 'send')).toBe('CALL_DENIED');
  });

  it('is pinned anew after unpin', async () => {
    await firstRun('ada');
    lists.ada = BAD;
    const { call, runtime } = await open('all');
    expect(runtime.pins.list()).toMatchObject([
      { server: 'mail', tool: 'send', agent: 'ada', state: 'unknown' },
      { server: 'mail', tool: 'look', agent: 'ada', state: 'unknown' },
    ]);
    expect(await runtime.pins.unpin('mail')).toEqual(['send', 'look']);
    expect(await call('ada', 'send')).toBe('called');
    await runtime.close();
    lists.ada = GOOD;
    const later = await open('all');
    expect(await later.call('ada', 'send')).toBe('CALL_DENIED');
  });
});

it.each(['approved', 'off'] as const)('with pins: %s nothing is pinned at first use', async (mode) => {
  const { call, runtime } = await open(mode);
  expect(await call('ada', 'send')).toBe('called');
  expect(runtime.pins.list()).toEqual([]);
  lists.ada = BAD;
  const later = await open(mode);
  expect(await later.call('ada', 'send')).toBe('called');
});
