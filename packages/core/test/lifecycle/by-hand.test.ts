import { fixture, isAlive } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openRuntime, record, textOf } from './open-runtime.js';

// requirement C8
it('disconnect ends the process and a call starts it again', async () => {
  const runtime = await openRuntime({ servers: { echo: fixture('echo') } });
  await runtime.connectAll();
  const { pid = 0 } = runtime.serverStatus('echo');
  await runtime.disconnect('echo');
  expect(isAlive(pid)).toBe(false);
  expect(runtime.serverStatus('echo')).toMatchObject({
    status: 'pending',
    state: 'disconnected',
    pid: undefined,
  });
  await runtime.disconnect('echo');
  expect(textOf(await runtime.callTool('echo', 'echo', { text: 'again' }))).toBe('again');
});

// requirement C8
it('disconnect keeps the tools in every list; toggle and a new set of servers remove them', async () => {
  const runtime = await openRuntime({ servers: { echo: fixture('echo') } });
  await runtime.connectAll();
  const changes = record(runtime, 'catalog.changed');
  const listed = (): string[] => runtime.tools().map(({ tool }) => tool);
  const before = listed();
  expect(before).toContain('echo');
  await runtime.disconnect('echo');
  expect(listed()).toEqual(before);
  expect(runtime.toolsForAgent({ id: 'agent', capabilities: ['mcp:echo'] })).toHaveLength(before.length);
  expect(runtime.serverStatus('echo').tools).toHaveLength(before.length);
  expect(changes).toEqual([]);
  await runtime.toggle('echo', false);
  expect(listed()).toEqual([]);
  await runtime.toggle('echo', true);
  expect(listed()).toEqual(before);
  await runtime.setServers({});
  expect(listed()).toEqual([]);
});

it('reconnect starts a new process, connect keeps the current one', async () => {
  const runtime = await openRuntime({ servers: { echo: fixture('echo') } });
  await runtime.connect('echo');
  const { pid = 0 } = runtime.serverStatus('echo');
  await runtime.connect('echo');
  expect(runtime.serverStatus('echo').pid).toBe(pid);
  await runtime.reconnect('echo');
  expect(runtime.serverStatus('echo').pid).not.toBe(pid);
  expect(isAlive(pid)).toBe(false);
});

it('many concurrent callers share one attempt', async () => {
  const runtime = await openRuntime({ servers: { echo: fixture('echo') } });
  const states = record(runtime, 'server.state');
  const pids = await Promise.all(
    Array.from({ length: 20 }, async () => textOf(await runtime.callTool('echo', 'pid'))),
  );
  await Promise.all(Array.from({ length: 5 }, () => runtime.connect('echo')));
  expect(new Set(pids).size).toBe(1);
  expect(states.map(({ to }) => to)).toEqual(['connecting', 'ready']);
});

it('a server that is requested while it is being disconnected is reconnected', async () => {
  const runtime = await openRuntime({ servers: { echo: fixture('echo') } });
  const starting = runtime.connect('echo').catch(() => {});
  const stopping = runtime.disconnect('echo');
  await runtime.connect('echo');
  await Promise.all([starting, stopping]);
  expect(runtime.serverStatus('echo').status).toBe('connected');
  expect(textOf(await runtime.callTool('echo', 'echo', { text: 'up' }))).toBe('up');
});

it('a failed connect reports why, and names an unknown server', async () => {
  const runtime = await openRuntime({ servers: { nowhere: { command: 'no-such-command-anywhere' } } });
  await expect(runtime.connect('nowhere')).rejects.toMatchObject({
    code: 'COMMAND_NOT_FOUND',
    server: 'nowhere',
  });
  await expect(runtime.connect('nowere')).rejects.toMatchObject({
    code: 'SERVER_UNKNOWN',
    hint: 'Did you mean "nowhere"?',
  });
});

it('refresh reads the tools again, of one server or of all', async () => {
  const runtime = await openRuntime({ servers: { list: fixture('list-changing', '--silent') } });
  await runtime.connectAll();
  const has = (tool: string): boolean => runtime.tools().some((one) => one.tool === tool);
  await runtime.callTool('list', 'mutate', { action: 'add', name: 'second' });
  expect(has('second')).toBe(false);
  await runtime.refresh('list');
  expect(has('second')).toBe(true);
  await runtime.callTool('list', 'mutate', { action: 'remove', name: 'second' });
  await runtime.refresh();
  expect(has('second')).toBe(false);
});
