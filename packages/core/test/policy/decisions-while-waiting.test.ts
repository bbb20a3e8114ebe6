/** A decision is made again if anything changed before the call is sent. */
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { type ApprovalAnswer, type Caller, createRuntime, type Rule, type RuntimeOptions } from 'turnbuckle';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { continueWithInput } from '../../src/connection/server-requests/input-rounds.js';
import type { RequestGuard } from '../../src/connection/server-requests/request-guard.js';
import { CallClock } from '../../src/resilience/call-clock.js';
import { placed } from './decision-world.js';
import { TinyServer, toolNamed } from './tiny-server.js';

const home = await temporaryDirectory();
afterAll(() => home.remove());
const agent: Caller = { id: 'agent', capabilities: ['mcp_integration'] };

async function open(options: RuntimeOptions = {}, server = new TinyServer([toolNamed('write')]), more = {}) {
  const directory = await temporaryDirectory();
  const runtime = await createRuntime({
    stateDir: directory.path,
    servers: { files: server.config(more) },
    approvals: 'queue',
    ...options,
  });
  const ran: string[] = [];
  runtime.registerTool({
    name: 'own',
    inputSchema: { type: 'object' },
    run: () => {
      ran.push('own');
      return 'done';
    },
  });
  onTestFinished(async () => {
    await runtime.close();
    await directory.remove();
  });
  await runtime.connectAll();
  const pending = async (): Promise<string> => {
    await waitUntil(() => runtime.approvals.pending().length > 0);
    return runtime.approvals.pending()[0]?.id ?? '';
  };
  const answer = async (given: ApprovalAnswer): Promise<void> => {
    runtime.approvals.answer(await pending(), given);
  };
  return { runtime, server, ran, pending, answer };
}

const CALLS = {
  tool: ({ runtime }: Opened) => runtime.callTool('files', 'write', {}, { caller: agent }),
  resource: ({ runtime }: Opened) => runtime.readResource('files', 'notes://a', { caller: agent }),
  prompt: ({ runtime }: Opened) => runtime.getPrompt('files', 'hello', {}, { caller: agent }),
  native: ({ runtime }: Opened) => runtime.call({ tool: 'own', caller: agent }),
} as const;
type Opened = Awaited<ReturnType<typeof open>>;
const KINDS = Object.keys(CALLS) as (keyof typeof CALLS)[];
const code = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );
const reached = ({ server, ran }: Opened): number => server.requests.length + ran.length;

describe.each(KINDS)('a %s', (kind) => {
  const ask: Rule[] = [{ action: 'ask' }];

  it('that is denied by the time it is approved does not run', async () => {
    for (const given of ['once', 'session', 'always'] as const) {
      const opened = await open({ rules: ask });
      const called = code(CALLS[kind](opened));
      await opened.pending();
      opened.runtime.setRules(placed([{ action: 'deny', arguments: { x: 'y' } }, { action: 'deny' }]));
      await opened.answer(given);
      expect(await called).toMatch(/CALL_DENIED|_UNKNOWN/);
      expect(reached(opened)).toBe(0);
    }
  });

  it('that needs approval for another reason by then needs it again, but not for the same reason', async () => {
    const opened = await open({ rules: ask });
    const called = code(CALLS[kind](opened));
    await opened.pending();
    opened.runtime.setRules(placed([{ action: 'ask', reason: 'another' }]));
    await opened.answer('once');
    await waitUntil(() => opened.runtime.approvals.pending()[0]?.rule?.reason === 'another');
    expect(reached(opened)).toBe(0);
    // Equal rules in a new list are the same reason.
    opened.runtime.setRules(placed([{ action: 'ask', reason: 'another' }]));
    await opened.answer('once');
    expect(await called).toBe('ok');
    expect(reached(opened)).toBe(1);
  });

  it('is denied if it needs a new approval again and again', async () => {
    const opened = await open({ rules: ask });
    const called = code(CALLS[kind](opened));
    for (let round = 0; round < 3; round += 1) {
      await opened.pending();
      opened.runtime.setRules(placed([{ action: 'ask', reason: `reason ${round}` }]));
      await opened.answer('once');
    }
    expect(await called).toBe('CALL_DENIED');
    expect(reached(opened)).toBe(0);
  });
});

describe('a pinned tool', () => {
  it('that changed while its server was down does not run without approval', async () => {
    const opened = await open({ rules: [{ action: 'allow' }] });
    const { runtime, server } = opened;
    await runtime.pins.pin('files', 'write');
    expect(await code(CALLS.tool(opened))).toBe('ok');
    await runtime.disconnect('files');
    server.tools = [toolNamed('write', { description: 'Something else now' })];
    const called = code(CALLS.tool(opened));
    await opened.pending();
    expect(server.calls).toEqual(['write']);
    expect(runtime.approvals.pending()[0]).toMatchObject({
      reason: "the tool's definition changed since it was approved",
      change: expect.any(Array),
    });
    await opened.answer('once');
    expect(await called).toBe('ok');
    expect(server.calls).toEqual(['write', 'write']);
  });

  it('that changed while the call was queued does not run without approval', async () => {
    const server = new TinyServer([toolNamed('write'), toolNamed('slow')]);
    const opened = await open({ rules: [{ action: 'allow' }] }, server, { maxInFlight: 1 });
    const { runtime } = opened;
    await runtime.pins.pin('files', 'write');
    let free = (): void => {};
    server.held = new Promise((resolve) => {
      free = resolve;
    });
    const first = code(runtime.callTool('files', 'slow'));
    await waitUntil(() => server.calls.length === 1);
    const called = code(CALLS.tool(opened));
    await waitUntil(() => runtime.serverStatus('files').queued === 1);
    server.tools = [toolNamed('write', { description: 'Another' }), toolNamed('slow')];
    await runtime.refresh('files');
    server.held = undefined;
    free();
    expect(await first).toBe('ok');
    await opened.answer('deny');
    expect(await called).toBe('CALL_DENIED');
    expect(server.calls).toEqual(['slow']);
  });

  it('that is missing after a reconnect is unknown, and arguments are checked against its new schema', async () => {
    const opened = await open({ rules: [{ action: 'allow' }] });
    const { runtime, server } = opened;
    await runtime.disconnect('files');
    server.tools = [toolNamed('other')];
    expect(await code(CALLS.tool(opened))).toBe('TOOL_UNKNOWN');
    server.tools = [toolNamed('write')];
    await runtime.reconnect('files');
    await runtime.disconnect('files');
    server.tools = [toolNamed('write', { inputSchema: { type: 'object', required: ['path'] } })];
    expect(await code(CALLS.tool(opened))).toBe('ARGUMENTS_INVALID');
    expect(server.calls).toEqual([]);
  });
});

it('an approval for one call applies to the definition that was shown', async () => {
  const opened = await open({ pins: 'off' });
  const { runtime, server } = opened;
  const called = code(CALLS.tool(opened));
  await opened.pending();
  await runtime.disconnect('files');
  server.tools = [toolNamed('write', { description: 'Another' })];
  await opened.answer('once');
  await opened.pending();
  expect(server.calls).toEqual([]);
  await opened.answer('deny');
  expect(await called).toBe('CALL_DENIED');
  expect(server.calls).toEqual([]);
});

it('each further round of a server request is checked too', async () => {
  const sent: unknown[] = [];
  const lane = {
    request: async ({ params }: { params: unknown }) => {
      sent.push(params);
      return { resultType: 'input_required', inputRequests: {}, requestState: 1 };
    },
  };
  let allowed = 2;
  const confirm = (): undefined => {
    allowed -= 1;
    if (allowed === 0) throw new Error('not any more');
  };
  const guard = { server: 'x' } as RequestGuard;
  const request = { method: 'tools/call', params: {}, timeoutMs: 1_000, maxTotalMs: 1_000 };
  await expect(
    continueWithInput(lane as never, request, {
      result: await lane.request(request),
      options: { guard, passThrough: false, confirm, clock: new CallClock({}) },
    }),
  ).rejects.toThrow('not any more');
  expect(sent).toHaveLength(2);
});

it('no call reaches a server while it is denied, whatever changes at any time', async () => {
  let random = 7;
  const next = (below: number): number => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((random / 2_147_483_648) * below);
  };
  const server = new TinyServer([toolNamed('write', { description: '0' })]);
  const shown = new Set<string>();
  let version = 0;
  const wrong: string[] = [];
  const { runtime } = await open(
    {
      rules: [{ action: 'ask' }],
      approve: async () => {
        const seen = `${version}`;
        await delay(next(4));
        shown.add(seen);
        return 'once' as const;
      },
    },
    server,
  );
  server.onRequest = (method) => {
    if (method !== 'tools/call') return;
    const { action } = runtime.decide({ server: 'files', tool: 'write', caller: agent });
    if (action === 'deny') wrong.push(`denied at ${version}`);
    // If it needs approval, exactly this version must have been shown.
    if (action === 'ask' && !shown.has(`${version}`)) wrong.push(`not shown at ${version}`);
  };
  const actions = ['allow', 'ask', 'deny'] as const;
  const change = async (): Promise<void> => {
    const what = next(4);
    if (what === 0) runtime.setRules(placed([{ action: actions[next(3)] ?? 'ask' }]));
    else if (what === 1) await runtime.disconnect('files');
    else if (what === 2) {
      await runtime.disconnect('files');
      version += 1;
      server.tools = [toolNamed('write', { description: `${version}` })];
    } else await delay(next(3));
  };
  let made = 0;
  for (let round = 0; round < 150; round += 1) {
    const calls = Array.from({ length: 3 }, () =>
      code(runtime.callTool('files', 'write', {}, { caller: agent })),
    );
    await change();
    await change();
    made += (await Promise.all(calls)).filter((one) => one === 'ok').length;
    runtime.setRules(placed([{ action: actions[next(2)] ?? 'ask' }]));
  }
  expect(wrong).toEqual([]);
  expect(made).toBeGreaterThan(50);
});
