/** Subscriptions to resources: however many change at the same time, a server has one stream for all of them. */
import { fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import fc from 'fast-check';
import { type Caller, createRuntime, type Runtime, TurnbuckleError } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StreamServer } from './stream-server.js';

type End = () => Promise<void>;

const uriOf = (number: number): string => `x://watched/${number}`;
const urisTo = (count: number): string[] =>
  Array.from({ length: count }, (_, number) => uriOf(number)).sort();

async function open(way: 'http' | 'in-process'): Promise<{ server: StreamServer; runtime: Runtime }> {
  const server = new StreamServer();
  const runtime = await createRuntime({ servers: { s: await server.config(way) }, defaultDecision: 'allow' });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  return { server, runtime };
}

const subscribe = (runtime: Runtime, uri: string): Promise<End> =>
  runtime.subscribeResource('s', uri, () => {});

describe.each(['http', 'in-process'] as const)('subscriptions at the same time, over %s', (way) => {
  it('share one stream, and leave none behind', async () => {
    const { server, runtime } = await open(way);
    for (let round = 0; round < 3; round += 1) {
      const ends = await Promise.all(urisTo(40).map((uri) => subscribe(runtime, uri)));
      await waitUntil(() => server.streams.size === 1);
      expect(server.resources).toEqual(urisTo(40));
      await Promise.all(ends.map((end) => end()));
      await waitUntil(() => server.streams.size === 0);
    }
    // The new one, and the one that it replaces.
    expect(server.most).toBeLessThanOrEqual(2);
    expect(server.opened).toBeLessThanOrEqual(3 * 4);
    await runtime.callTool('s', 'good', {});
  });

  it('that fail leave the stream of others as it is, and say so with an error of ours', async () => {
    const { server, runtime } = await open(way);
    const ends = await Promise.all([0, 1].map((number) => subscribe(runtime, uriOf(number))));
    await waitUntil(() => server.streams.size === 1);
    server.refuses = true;
    const refused = await Promise.allSettled([subscribe(runtime, uriOf(2)), ends[0]?.()]);
    expect(refused).toEqual([
      { status: 'rejected', reason: expect.any(TurnbuckleError) },
      { status: 'rejected', reason: expect.any(TurnbuckleError) },
    ]);
    expect(server.resources).toEqual(urisTo(2));
    server.refuses = false;
    const again = await subscribe(runtime, uriOf(2));
    await waitUntil(() => server.streams.size === 1);
    expect(server.resources).toEqual([uriOf(1), uriOf(2)]);
    await Promise.all([again(), ends[1]?.()]);
    await waitUntil(() => server.streams.size === 0);
  });

  it('that a disconnect overtakes leave no stream behind', async () => {
    const { server, runtime } = await open(way);
    let acknowledge = (): void => {};
    const held = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    server.beforeAck = () => held;
    const pending = Promise.allSettled(urisTo(3).map((uri) => subscribe(runtime, uri)));
    await waitUntil(() => server.streams.size === 1);
    const disconnected = runtime.disconnect('s');
    acknowledge();
    await Promise.all([disconnected, pending]);
    if (way === 'http') await waitUntil(() => server.streams.size === 0);
    expect(server.opened).toBe(1);
  });
});

it('two listeners of one resource are both told if the server rejects it', async () => {
  const { server, runtime } = await open('in-process');
  server.refuses = true;
  const both = await Promise.allSettled([subscribe(runtime, uriOf(1)), subscribe(runtime, uriOf(1))]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  server.refuses = false;
  await subscribe(runtime, uriOf(1));
  expect(server.resources).toEqual([uriOf(1)]);
});

/** A listener of one of a few resources comes, or the oldest one of it leaves. */
const step = fc.record({
  what: fc.constantFrom('add', 'add', 'remove'),
  number: fc.nat(5),
  waits: fc.boolean(),
});

it('whatever comes and goes at the same time, the last stream is for what is wanted then', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.array(fc.nat(3)), async (steps, delays) => {
      const server = new StreamServer();
      server.beforeAck = async () => {
        for (let left = delays[server.opened % delays.length] ?? 0; left > 0; left -= 1)
          await new Promise(setImmediate);
      };
      const runtime = await createRuntime({ servers: { s: await server.config('in-process') } });
      try {
        await runtime.connectAll();
        const listening = Array.from({ length: 6 }, (): Promise<End>[] => []);
        const all: Promise<unknown>[] = [];
        for (const { what, number, waits } of steps) {
          if (what === 'add') listening[number]?.push(subscribe(runtime, uriOf(number)));
          else all.push(Promise.resolve(listening[number]?.shift()).then((end) => end?.()));
          if (waits) await new Promise(setImmediate);
        }
        await Promise.all([...all, ...listening.flat()]);
        const wanted = listening.flatMap((ends, number) => (ends.length > 0 ? [uriOf(number)] : []));
        await waitUntil(() => server.streams.size <= 1);
        expect(server.resources).toEqual(wanted);
        expect(server.most).toBeLessThanOrEqual(2);
      } finally {
        await runtime.close();
      }
    }),
    { numRuns: 100 },
  );
});

it('the end of a subscription reaches the connection that replaced the first one', async () => {
  const runtime = await createRuntime({
    servers: { s: { ...fixture('echo'), idleMs: 200, credentials: { ada: { env: { KEY: 'a' } } } } },
    defaultDecision: 'allow',
  });
  onTestFinished(() => runtime.close());
  const caller: Caller = { id: 'ada', capabilities: ['mcp_integration'] };
  const pid = async (): Promise<number> => {
    const { content } = await runtime.callTool('s', 'pid', {}, { caller });
    return Number((content as { text: string }[])[0]?.text);
  };
  const end = await runtime.subscribeResource('s', 'fixture://greeting', () => {}, { caller });
  const first = await pid();
  await runtime.endRun(caller);
  const second = await pid();
  expect(second).not.toBe(first);
  await end();
  // Nobody follows anything on it: it is closed when it is idle.
  await waitUntil(() => !isAlive(second));
});
