import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import type { Runtime } from 'turnbuckle';
import { expect, it, onTestFinished } from 'vitest';
import { openRuntime, QUICK, record } from './open-runtime.js';

/** The pauses before each new attempt, in ms: the time that the server spent in `waiting`. */
function recordPauses(runtime: Runtime): number[] {
  const pauses: number[] = [];
  let waitingSince = 0;
  runtime.on('server.state', ({ from, to }) => {
    if (to === 'waiting') waitingSince = performance.now();
    if (from === 'waiting' && to === 'connecting') pauses.push(performance.now() - waitingSince);
  });
  return pauses;
}

// requirement C6
it('a server that crashes at start is retried after growing pauses, then by a slow probe, forever', async () => {
  const server = { ...fixture('crash-mid-call', '--at-start'), reconnect: QUICK };
  const runtime = await openRuntime({ servers: { server }, random: () => 0.5 });
  const pauses = recordPauses(runtime);
  await runtime.connectAll();
  await waitUntil(() => pauses.length >= 5, 15_000);
  const planned = [20, 40, 80, 150, 150];
  for (const [index, plannedMs] of planned.entries()) {
    // A timer may be late on a busy machine, but never early (except for rounding).
    expect(pauses[index]).toBeGreaterThanOrEqual(plannedMs - 2);
  }
});

it.each([
  { random: 0, share: 0.5 },
  { random: 0.999, share: 1.5 },
])('jitter changes a pause by its share: random $random', async ({ random, share }) => {
  const reconnect = { ...QUICK, initialMs: 400, tries: 1, jitter: 0.5 };
  const server = { ...fixture('crash-mid-call', '--at-start'), reconnect };
  const runtime = await openRuntime({ servers: { server }, random: () => random });
  const pauses = recordPauses(runtime);
  await runtime.connectAll();
  await waitUntil(() => pauses.length >= 1);
  expect(pauses[0]).toBeGreaterThanOrEqual(400 * share - 2);
  if (random === 0) expect(pauses[0]).toBeLessThan(400);
});

it('without a slow probe a server stays failed after its attempts, and reconnects on request', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const flags = ['--at', 'start', '--times', '4', '--state-file', directory.file('state')];
  const server = {
    ...fixture('flaky', ...flags),
    era: 'legacy' as const,
    reconnect: { ...QUICK, probeMs: 0 },
  };
  const runtime = await openRuntime({ servers: { server } });
  const states = record(runtime, 'server.state');
  await runtime.connectAll();
  await waitUntil(() => states.at(-1)?.to === 'failed', 10_000);
  expect(states.filter(({ to }) => to === 'connecting').length).toBe(4);
  expect(runtime.serverStatus('server')).toMatchObject({ status: 'failed', state: 'error' });
  await runtime.connect('server');
  expect(runtime.serverStatus('server').status).toBe('connected');
});

it('a server that starts and crashes immediately backs off: a short uptime is not a success', async () => {
  const server = { ...fixture('crash-mid-call', '--after-init'), reconnect: QUICK };
  const runtime = await openRuntime({ servers: { server } });
  const pauses = recordPauses(runtime);
  await runtime.connectAll();
  await waitUntil(() => pauses.length >= 4, 15_000);
  for (const [index, plannedMs] of [20, 40, 80, 150].entries())
    expect(pauses[index]).toBeGreaterThanOrEqual(plannedMs - 2);
});

it('a permanent failure is not retried', async () => {
  const server = { command: 'no-such-command-anywhere', reconnect: QUICK };
  const runtime = await openRuntime({ servers: { server } });
  const states = record(runtime, 'server.state');
  await runtime.connectAll();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(states.map(({ to }) => to)).toEqual(['connecting', 'failed']);
});

it('a server that is being retried reports so, and keeps the error of the last attempt', async () => {
  const server = { ...fixture('slow', '--start-ms', '60000'), connectTimeoutMs: 300, reconnect: QUICK };
  const runtime = await openRuntime({ servers: { server } });
  await runtime.connectAll();
  const seen = new Set<string>();
  let tries = 0;
  runtime.on('server.state', ({ server: name, to }) => {
    if (name === 'server' && to === 'connecting') tries += 1;
  });
  await waitUntil(() => {
    const { status, state, error } = runtime.serverStatus('server');
    seen.add(`${status} ${state} ${error?.code}`);
    return tries === 2;
  }, 15_000);
  expect([...seen]).toEqual(['failed reconnecting CONNECT_TIMEOUT']);
});
