/** Following a resource is a call like reading it: decided, limited, metered and recorded. */
import { waitUntil } from '@turnbuckle/testing';
import {
  type Caller,
  createRuntime,
  type Runtime,
  type RuntimeEvents,
  type RuntimeOptions,
} from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StreamServer } from '../lifecycle/stream-server.js';
import { TinyServer, toolNamed } from '../policy/tiny-server.js';

const CALLER: Caller = { id: 'agent', capabilities: ['mcp:s'] };
const URI = 'x://watched/1';

type Follow = (caller?: Caller, uri?: string) => Promise<string>;

const SERVERS = {
  legacy: () => {
    const server = new TinyServer([toolNamed('slow')]);
    let arrived = 0;
    server.onRequest = (method) => {
      if (method === 'resources/subscribe') arrived += 1;
    };
    return {
      config: async (more: object) => server.config(more),
      arrived: () => arrived,
      /** Takes the only place in flight, until the promise resolves. */
      occupy: (until: Promise<void>, runtime: Runtime, _follow: Follow): Promise<unknown> => {
        server.held = until;
        return runtime.callTool('s', 'slow');
      },
    };
  },
  modern: () => {
    const server = new StreamServer();
    return {
      config: async (more: object) => ({ ...(await server.config('in-process')), ...more }),
      arrived: () => server.opened,
      occupy: (until: Promise<void>, _runtime: Runtime, follow: Follow): Promise<unknown> => {
        server.beforeAck = () => until;
        return follow(undefined, 'x://watched/2');
      },
    };
  },
} as const;

async function open(era: keyof typeof SERVERS, options: RuntimeOptions = {}, more: object = {}) {
  const server = SERVERS[era]();
  const runtime = await createRuntime({ servers: { s: (await server.config(more)) as never }, ...options });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  const settled: RuntimeEvents['call.settled'][] = [];
  runtime.on('call.settled', (call) => settled.push(call));
  const follow: Follow = (caller = CALLER, uri = URI) =>
    runtime
      .subscribeResource('s', uri, () => {}, { caller })
      .then(
        () => 'done',
        (thrown) => thrown.code as string,
      );
  return { runtime, server, settled, follow };
}

// requirement P5
describe.each(['legacy', 'modern'] as const)('a subscription at a server of the %s era', (era) => {
  it('is recorded with its decision and its energy', async () => {
    const { settled, follow } = await open(era, { energy: { costPerCall: 2 } });
    expect(await follow()).toBe('done');
    expect(settled).toMatchObject([
      { kind: 'resource', server: 's', tool: URI, callerId: 'agent', outcome: 'ok', decision: 'allow' },
    ]);
    expect(settled[0]?.energy).toBeGreaterThanOrEqual(2);
  });

  it.each([
    ['deny', 'RESOURCE_UNKNOWN'],
    ['ask', 'APPROVAL_NEEDED'],
  ] as const)(
    'that a rule decides with "%s" is recorded with %s, and sends nothing',
    async (action, code) => {
      const { server, settled, follow } = await open(era, {
        rules: [{ action, kind: 'resource' }],
        approvals: 'queue',
      });
      const before = server.arrived();
      expect(await follow()).toBe(code);
      expect(settled).toMatchObject([{ outcome: 'failed', error: { code }, callerId: 'agent', tool: URI }]);
      expect(server.arrived()).toBe(before);
    },
  );

  it('of a server that the caller may not know is recorded', async () => {
    const { settled, follow } = await open(era);
    expect(await follow({ id: 'other', capabilities: ['mcp:else'] })).toBe('RESOURCE_UNKNOWN');
    expect(settled).toMatchObject([{ error: { code: 'RESOURCE_UNKNOWN' }, callerId: 'other' }]);
  });

  it('counts against the budget of its caller', async () => {
    const energy = { costPerCall: 2, budgets: [{ caller: 'agent', limit: 3, everyMs: 60_000 }] };
    const { server, settled, follow } = await open(era, { energy: energy as never });
    expect(await follow()).toBe('done');
    const before = server.arrived();
    expect(await follow(CALLER, 'x://watched/2')).toBe('BUDGET_EXCEEDED');
    expect(settled.at(-1)).toMatchObject({ error: { code: 'BUDGET_EXCEEDED' } });
    expect(server.arrived()).toBe(before);
  });

  it('takes one of the places in flight', async () => {
    const { server, runtime, follow } = await open(era, {}, { maxInFlight: 1 });
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = server.occupy(held, runtime, follow);
    await waitUntil(() => runtime.status()[0]?.inFlight === 1);
    await waitUntil(() => era === 'legacy' || server.arrived() > 0);
    const arrived = server.arrived();
    const second = follow();
    await waitUntil(() => runtime.status()[0]?.queued === 1);
    expect(server.arrived()).toBe(arrived);
    release();
    await first;
    expect(await second).toBe('done');
    expect(server.arrived()).toBe(arrived + 1);
  });
});
