import { setTimeout as delay } from 'node:timers/promises';
import { fixture, isAlive, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openRuntime, QUICK, record, textOf } from './open-runtime.js';

// requirement C5
it('a series of failures is reported once, and so is its end', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const flags = ['--at', 'start', '--times', '3', '--state-file', directory.file('state')];
  const server = { ...fixture('flaky', ...flags), era: 'legacy' as const, reconnect: QUICK };
  const runtime = await openRuntime({ servers: { server } });
  const failed = record(runtime, 'server.failed');
  const recovered = record(runtime, 'server.recovered');
  const states = record(runtime, 'server.state');
  await runtime.connectAll();
  expect(runtime.serverStatus('server')).toMatchObject({
    status: 'failed',
    error: { code: 'SERVER_EXITED' },
  });
  await waitUntil(() => runtime.serverStatus('server').status === 'connected', 10_000);
  expect(failed).toMatchObject([{ server: 'server', error: { code: 'SERVER_EXITED' } }]);
  expect(failed[0]?.error.hint).toContain('flaky: failure 1 of 3');
  expect(recovered).toMatchObject([{ server: 'server' }]);
  expect(recovered[0]?.afterMs).toBeGreaterThanOrEqual(0);
  expect(runtime.serverStatus('server').error).toBeUndefined();
  expect(states.map(({ to }) => to)).toEqual([
    ...['connecting', 'waiting', 'connecting', 'waiting', 'connecting', 'waiting'],
    ...['connecting', 'ready'],
  ]);
});

// requirement C4
it('a killed eager server reconnects by itself, with its tools', async () => {
  const runtime = await openRuntime({ servers: { echo: { ...fixture('echo'), reconnect: QUICK } } });
  await runtime.connectAll();
  const tools = runtime.tools();
  const pid = runtime.serverStatus('echo').pid ?? 0;
  const states = record(runtime, 'server.state');
  process.kill(pid, 'SIGKILL');
  await waitUntil(() => states.at(-1)?.to === 'ready', 10_000);
  expect(states).toMatchObject([
    { from: 'ready', to: 'waiting', error: { code: 'SERVER_EXITED' } },
    { from: 'waiting', to: 'connecting' },
    { from: 'connecting', to: 'ready' },
  ]);
  expect(runtime.serverStatus('echo').pid).not.toBe(pid);
  expect(isAlive(pid)).toBe(false);
  expect(runtime.tools().map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
});

// requirement C4
it('a lazy server starts with its first call, stays down when killed, and starts again with the next call', async () => {
  const server = { ...fixture('echo'), start: 'lazy' as const, reconnect: QUICK };
  const runtime = await openRuntime({ servers: { server } });
  const states = record(runtime, 'server.state');
  await runtime.connectAll();
  expect(runtime.serverStatus('server')).toMatchObject({
    status: 'pending',
    state: 'disconnected',
    pid: undefined,
  });
  expect(textOf(await runtime.callTool('server', 'echo', { text: 'one' }))).toBe('one');
  process.kill(runtime.serverStatus('server').pid ?? 0, 'SIGKILL');
  await waitUntil(() => states.at(-1)?.to === 'idle');
  await delay(300);
  expect(states.map(({ to }) => to)).toEqual(['connecting', 'ready', 'idle']);
  expect(textOf(await runtime.callTool('server', 'echo', { text: 'two' }))).toBe('two');
});
