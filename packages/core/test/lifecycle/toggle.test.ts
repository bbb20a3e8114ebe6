import { fixture, isAlive } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openRuntime, record, textOf } from './open-runtime.js';

// requirement C8
it('disabling hides the tools and keeps the process; enabling shows them again', async () => {
  const runtime = await openRuntime({ servers: { echo: fixture('echo'), other: fixture('echo') } });
  await runtime.connectAll();
  const toggled = record(runtime, 'server.toggled');
  const { pid = 0 } = runtime.serverStatus('echo');
  const before = runtime.tools().length;

  await runtime.toggle('echo', false);
  expect(runtime.serverStatus('echo')).toMatchObject({ status: 'disabled', pid });
  expect(isAlive(pid)).toBe(true);
  expect(new Set(runtime.tools().map(({ server }) => server))).toEqual(new Set(['other']));
  await expect(runtime.callTool('echo', 'echo', { text: 'x' })).rejects.toMatchObject({
    code: 'SERVER_DISABLED',
  });
  await expect(runtime.readResource('echo', 'test://note')).rejects.toMatchObject({
    code: 'SERVER_DISABLED',
  });

  await runtime.toggle('echo', true);
  expect(runtime.serverStatus('echo')).toMatchObject({ status: 'connected', pid });
  expect(runtime.tools().length).toBe(before);
  expect(textOf(await runtime.callTool('echo', 'pid'))).toBe(String(pid));
  await runtime.toggle('echo', true);
  expect(toggled).toEqual([
    { server: 'echo', enabled: false },
    { server: 'echo', enabled: true },
  ]);
});

it('a server that is disabled at start-up is started only by enabling it', async () => {
  const runtime = await openRuntime({ servers: { off: { ...fixture('echo'), enabled: false } } });
  await runtime.connectAll();
  expect(runtime.serverStatus('off')).toMatchObject({
    status: 'disabled',
    state: 'disconnected',
    pid: undefined,
  });
  await expect(runtime.callTool('off', 'pid')).rejects.toMatchObject({ code: 'SERVER_DISABLED' });
  await expect(runtime.connect('off')).rejects.toMatchObject({ code: 'SERVER_DISABLED' });
  await expect(runtime.refresh('off')).rejects.toMatchObject({ code: 'SERVER_DISABLED' });
  await expect(runtime.ping('off')).rejects.toMatchObject({ code: 'SERVER_DISABLED' });
  await expect(runtime.reconnect('off')).rejects.toMatchObject({ code: 'SERVER_DISABLED' });
  expect(runtime.serverStatus('off').pid).toBeUndefined();

  await runtime.toggle('off', true);
  const { status, pid } = runtime.serverStatus('off');
  expect(status).toBe('connected');
  expect(textOf(await runtime.callTool('off', 'pid'))).toBe(String(pid));
});
