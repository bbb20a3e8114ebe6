import { fixture, isAlive, processesWithEnvironment, waitUntil } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { expect, it } from 'vitest';
import { openRuntime } from './open-runtime.js';

const CLOSED = { code: 'RUNTIME_CLOSED' };

it('after close everything that needs a server rejects with the same error', async () => {
  const runtime = await openRuntime({ servers: { echo: fixture('echo') } });
  await runtime.connectAll();
  const { pid = 0 } = runtime.serverStatus('echo');
  await runtime.close();
  expect(isAlive(pid)).toBe(false);
  await expect(runtime.callTool('echo', 'pid')).rejects.toMatchObject(CLOSED);
  await expect(runtime.call({ tool: 'mcp__echo__pid' })).rejects.toMatchObject(CLOSED);
  await expect(runtime.connectAll()).rejects.toMatchObject(CLOSED);
  await expect(runtime.connect('echo')).rejects.toMatchObject(CLOSED);
  await expect(runtime.reconnect('echo')).rejects.toMatchObject(CLOSED);
  await expect(runtime.toggle('echo', false)).rejects.toMatchObject(CLOSED);
  await expect(runtime.setServers({})).rejects.toMatchObject(CLOSED);
  await expect(runtime.refresh()).rejects.toMatchObject(CLOSED);
  await expect(runtime.ping('echo')).rejects.toMatchObject(CLOSED);
  await expect(runtime.listResources()).rejects.toMatchObject(CLOSED);
  await expect(runtime.readResource('echo', 'test://x')).rejects.toMatchObject(CLOSED);
  await expect(runtime.getPrompt('echo', 'x')).rejects.toMatchObject(CLOSED);
  await expect(runtime.subscribeResource('echo', 'test://x', () => {})).rejects.toMatchObject(CLOSED);
  expect((await runtime.execute('mcp__echo__pid')).failure).toMatchObject(CLOSED);
});

it('closing twice, even concurrently, is one close', async () => {
  const runtime = await openRuntime({ servers: { echo: fixture('echo') } });
  await runtime.connectAll();
  await Promise.all([runtime.close(), runtime.close()]);
  await runtime.close();
  const { status, pid } = runtime.serverStatus('echo');
  expect({ status, pid }).toEqual({ status: 'pending', pid: undefined });
});

it('a runtime without started servers can be closed, and `await using` closes a runtime', async () => {
  const runtime = await createRuntime({ servers: { echo: fixture('echo') } });
  await runtime.close();
  const disposed = await createRuntime({});
  await disposed[Symbol.asyncDispose]();
  await expect(disposed.connectAll()).rejects.toMatchObject(CLOSED);
});

it('pending calls end when the runtime closes, each once, with a reason', async () => {
  const runtime = await openRuntime({
    servers: { echo: { ...fixture('echo'), trusted: true, maxInFlight: 2 } },
  });
  await runtime.connectAll();
  let settled = 0;
  runtime.on('call.settled', () => {
    settled += 1;
  });
  const calls = Array.from({ length: 4 }, () =>
    runtime.callTool('echo', 'sleep', { ms: 20_000, everyMs: 20_000 }).then(
      () => 'ok',
      (error: { code: string }) => error.code,
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 100));
  await runtime.close();
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 4 }, () => 'RUNTIME_CLOSED'));
  expect(settled).toBe(4);
});

it.each(['disconnect', 'close'] as const)(
  '%s does not wait for a server that hangs at its first list',
  async (way) => {
    // Other tests run in this process too: the servers of this test are identified by their environment.
    const own = `${way}-${process.hrtime.bigint()}`;
    const env = { CLOSE_TEST: own };
    const hanging = { ...fixture('slow', '--hang-at', 'list'), env, listTimeoutMs: 600_000 };
    const runtime = await openRuntime({ servers: { hanging } });
    const connecting = runtime.connect('hanging').catch((error: unknown) => error);
    await waitUntil(() => runtime.catalog.stateOf('hanging', 'tools', Date.now()) === 'populating');
    const started = processesWithEnvironment('CLOSE_TEST', own);
    await (way === 'close' ? runtime.close() : runtime.disconnect('hanging'));
    expect(await connecting).toMatchObject({ code: expect.any(String) });
    expect(started.length).toBeGreaterThan(0);
    await waitUntil(() => !started.some(isAlive));
  },
);
