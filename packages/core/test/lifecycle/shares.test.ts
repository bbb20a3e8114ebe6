/** Each agent has a share of the call slots, no agent has all of them, and some are reserved for the host. */
import { waitUntil } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Limiter } from '../../src/resilience/limiter.js';
import { TinyServer, toolNamed } from '../policy/tiny-server.js';
import { openRuntime } from './open-runtime.js';

const agent = (id: string) => ({ id, capabilities: ['mcp_integration'] });
const rules = [{ action: 'allow' as const }];
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

async function open(names: readonly string[], limits: object, more: object = {}) {
  const servers = new Map(names.map((name) => [name, new TinyServer([toolNamed('work')])]));
  let free = (): void => {};
  const held = new Promise<void>((resolve) => {
    free = resolve;
  });
  const runtime = await openRuntime({
    servers: Object.fromEntries([...servers].map(([name, server]) => [name, server.config(more)])),
    rules,
    limits,
  });
  await runtime.connectAll();
  return { runtime, servers, held, free };
}

it('slow servers do not take the places of a healthy one', async () => {
  const slow = ['s1', 's2', 's3', 's4'];
  const { runtime, servers, held, free } = await open([...slow, 'good'], {
    maxInFlight: 300,
    maxQueued: 256,
  });
  for (const name of slow) (servers.get(name) as TinyServer).held = held;
  // Calls of the host itself, which has no share limit.
  const stuck = slow.flatMap((name) =>
    Array.from({ length: 320 }, () => codeOf(runtime.callTool(name, 'work'))),
  );
  await waitUntil(() => slow.every((name) => runtime.serverStatus(name).queued === 256));
  expect(await codeOf(runtime.callTool('good', 'work', {}, { caller: agent('polite') }))).toBe('ok');
  free();
  expect((await Promise.all(stuck)).every((code) => code === 'ok')).toBe(true);
});

it('an agent that floods a server does not block another agent or the host', async () => {
  const { runtime, servers, held, free } = await open(['one'], {}, { maxInFlight: 8 });
  const server = servers.get('one') as TinyServer;
  server.held = held;
  const flood = Array.from({ length: 1_000 }, () =>
    codeOf(runtime.callTool('one', 'work', {}, { caller: agent('greedy') })),
  );
  await waitUntil(() => runtime.serverStatus('one').queued > 0);
  const before = server.calls.length;
  expect(before).toBeLessThan(8);
  const others = [
    runtime.callTool('one', 'work', {}, { caller: agent('polite') }),
    runtime.callTool('one', 'work'),
  ];
  await waitUntil(() => server.calls.length === before + 2);
  free();
  await Promise.all(others);
  const codes = await Promise.all(flood);
  expect(codes.filter((code) => code === 'OVERLOADED').length).toBeGreaterThan(800);
  expect(codes.filter((code) => code === 'ok').length).toBeGreaterThan(100);
});

describe('the limiter', () => {
  const who = fc.constantFrom(undefined, 'a', 'b', 'c');
  const step = fc.record({ who, what: fc.constantFrom('enter', 'enter', 'leave', 'cancel') });
  const bounds = fc.record({
    maxInFlight: fc.integer({ min: 1, max: 20 }),
    maxQueued: fc.integer({ min: 0, max: 20 }),
  });

  it('keeps its limits and shares, and serves every caller eventually', async () => {
    await fc.assert(
      fc.asyncProperty(bounds, fc.array(step, { maxLength: 120 }), async (options, steps) => {
        const limiter = new Limiter(options);
        const inside: (string | undefined)[] = [];
        const waiting: { who: string | undefined; abort: AbortController; done: Promise<void> }[] = [];
        for (const { who: one, what } of steps) {
          if (what === 'leave' && inside.includes(one)) {
            inside.splice(inside.indexOf(one), 1);
            limiter.leave(one);
          } else if (what === 'cancel')
            waiting.find((entry) => entry.who === one && !entry.abort.signal.aborted)?.abort.abort();
          else if (what === 'enter' && limiter.tryEnter(one)) inside.push(one);
          else if (what === 'enter') {
            const abort = new AbortController();
            const done = limiter.enter(one, abort.signal)?.then(
              () => void inside.push(one),
              () => {},
            );
            if (done !== undefined) waiting.push({ who: one, abort, done });
          }
          for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
          expect(limiter.inFlight).toBe(inside.length);
          expect(limiter.inFlight).toBeLessThanOrEqual(options.maxInFlight);
          expect(limiter.queued).toBeLessThanOrEqual(options.maxQueued);
        }
        for (let rounds = 0; inside.length > 0 && rounds < 1_000; rounds += 1) {
          limiter.leave(inside.shift());
          for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
        }
        await Promise.all(waiting.map(({ done }) => done));
        expect([limiter.inFlight, limiter.queued]).toEqual([0, 0]);
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it('leaves room for one more caller, and reserves some for the host', () => {
    for (const maxInFlight of [2, 8, 64, 1_000]) {
      const limiter = new Limiter({ maxInFlight, maxQueued: 10 });
      const take = (name: string | undefined): number => {
        let count = 0;
        while (limiter.tryEnter(name)) count += 1;
        return count;
      };
      const first = take('a');
      expect(first).toBeGreaterThanOrEqual(Math.floor(maxInFlight * 0.4));
      expect(first).toBeLessThanOrEqual(Math.ceil(maxInFlight / 2));
      expect(take('b')).toBeGreaterThan(0);
      expect(take(undefined)).toBeGreaterThanOrEqual(Math.floor(maxInFlight / 8));
      expect(limiter.inFlight).toBe(maxInFlight);
    }
  });

  it('serves waiting callers in rotation, the host first', async () => {
    const limiter = new Limiter({ maxInFlight: 1, maxQueued: 40 });
    expect(limiter.tryEnter('x')).toBe(true);
    const served: string[] = [];
    for (const name of ['a', 'a', 'a', 'b', 'b', 'c', undefined])
      void limiter.enter(name)?.then(() => served.push(name ?? 'host'));
    let last: string | undefined = 'x';
    for (let count = 0; count < 7; count += 1) {
      limiter.leave(last);
      await Promise.resolve();
      await Promise.resolve();
      last = served.at(-1) === 'host' ? undefined : served.at(-1);
    }
    expect(served).toEqual(['host', 'a', 'b', 'c', 'a', 'b', 'a']);
  });
});
