import { fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openRuntime, QUICK, record, textOf } from './open-runtime.js';

// requirement C7
it.each(['legacy', 'modern'] as const)('ping checks a %s server and records the time', async (era) => {
  const runtime = await openRuntime({ servers: { echo: fixture('echo', '--era', era) } });
  expect(await runtime.ping('echo')).toBe(true);
  expect(runtime.serverStatus('echo')).toMatchObject({ era, lastPing: { ok: true } });
});

it.skipIf(process.platform !== 'linux')(
  'a server that stops responding is detected by pings, ended and replaced',
  async () => {
    const server = { ...fixture('echo'), pingMs: 500, reconnect: QUICK };
    const runtime = await openRuntime({ servers: { server } });
    await runtime.connectAll();
    const { pid = 0 } = runtime.serverStatus('server');
    const states = record(runtime, 'server.state');
    process.kill(pid, 'SIGSTOP');
    await waitUntil(() => states.some(({ to }) => to === 'ready'), 50_000);
    expect(states[0]).toMatchObject({
      from: 'ready',
      to: 'waiting',
      error: { code: expect.stringMatching(/TIMEOUT$/) },
    });
    expect(runtime.serverStatus('server').pid).not.toBe(pid);
    expect(runtime.serverStatus('server').recentErrors.length).toBeGreaterThanOrEqual(2);
    expect(textOf(await runtime.callTool('server', 'echo', { text: 'back' }))).toBe('back');
    await waitUntil(() => !isAlive(pid), 5_000);
  },
  60_000,
);

it.skipIf(process.platform !== 'linux')(
  'a server that pauses for less than two pings is not replaced',
  async () => {
    const server = { ...fixture('echo'), pingMs: 1_000 };
    const runtime = await openRuntime({ servers: { server } });
    await runtime.connectAll();
    const { pid = 0 } = runtime.serverStatus('server');
    const states = record(runtime, 'server.state');
    process.kill(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 700));
    process.kill(pid, 'SIGCONT');
    await waitUntil(() => runtime.serverStatus('server').lastPing?.ok === true, 10_000);
    expect(states).toEqual([]);
    expect(runtime.serverStatus('server').pid).toBe(pid);
  },
);
