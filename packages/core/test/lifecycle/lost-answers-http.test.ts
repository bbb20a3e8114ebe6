import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { startFixture, ToxicProxy, temporaryDirectory } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openRuntime, record, textOf } from './open-runtime.js';

async function openThroughProxy(flags: readonly string[], trusted: boolean) {
  const directory = await temporaryDirectory();
  const file = directory.file('effects');
  const web = await startFixture('echo', { transport: 'http', flags: [...flags, '--counter-file', file] });
  const proxy = await ToxicProxy.start({ target: web.url, seed: 7 });
  onTestFinished(async () => {
    await proxy.close();
    await web.stop();
    await directory.remove();
  });
  const runtime = await openRuntime({ servers: { web: { type: 'http', url: proxy.url, trusted } } });
  await runtime.connectAll();
  const effects = (): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
  return { runtime, proxy, effects, settled: record(runtime, 'call.settled') };
}

const WAYS = [
  { name: 'modern, JSON', flags: ['--era', 'modern', '--answers', 'json'] },
  { name: 'handshake era, JSON', flags: ['--era', 'legacy', '--answers', 'json'] },
  { name: 'modern, event stream', flags: ['--era', 'modern', '--answers', 'sse'] },
] as const;

// requirement C6
it.each(WAYS)(
  'a result lost by a reset ($name): the outcome is unknown, the call runs once, and the next call works',
  async ({ flags }) => {
    const { runtime, proxy, effects, settled } = await openThroughProxy(flags, true);
    const rounds = 10;
    for (let round = 0; round < rounds; round += 1) {
      await proxy.set({ kind: 'reset-peer', direction: 'downstream' });
      const label = `round ${round}`;
      await expect(runtime.callTool('web', 'count', { label })).rejects.toMatchObject({
        code: 'CALL_OUTCOME_UNKNOWN',
      });
      await proxy.set();
      expect(textOf(await runtime.callTool('web', 'echo', { text: label }))).toBe(label);
    }
    expect(settled.map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: rounds }, () => ['failed', 'ok'] as const).flat(),
    );
    expect(effects()).toEqual(Array.from({ length: rounds }, (_, round) => `round ${round}`));
  },
);

it.each([
  { trusted: true, ends: 'ok', attempts: 2 },
  { trusted: false, ends: 'CALL_OUTCOME_UNKNOWN', attempts: 1 },
])(
  'a read-only tool behind a reset ends with $ends if trusted is $trusted',
  async ({ trusted, ends, attempts }) => {
    const { runtime, proxy, effects, settled } = await openThroughProxy([], trusted);
    await proxy.set({ kind: 'reset-peer', direction: 'downstream' });
    // The proxy works again as soon as the first result is lost.
    runtime.on('server.state', ({ from }) => {
      if (from === 'ready') void proxy.set();
    });
    const ended = await runtime.callTool('web', 'read_only').then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
    expect(ended).toBe(ends);
    expect(settled).toMatchObject([{ attempts }]);
    expect(effects()).toEqual(Array.from({ length: attempts }, () => 'read_only'));
  },
);

it('an unreachable server has no effect, and the outcome is known', async () => {
  const { runtime, proxy, effects } = await openThroughProxy([], false);
  await proxy.set({ kind: 'down' });
  // A request on a connection whose end is not noticed yet would have an unknown outcome.
  await delay(100);
  await expect(runtime.callTool('web', 'count')).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
  await proxy.set();
  await runtime.callTool('web', 'count');
  expect(effects()).toEqual(['count']);
});
