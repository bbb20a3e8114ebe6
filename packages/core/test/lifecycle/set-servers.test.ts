import { fixture, isAlive } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openRuntime, record, textOf } from './open-runtime.js';

// requirement C8
it('only changed servers are restarted', async () => {
  const kept = { ...fixture('echo'), env: { A: '1', B: '2' } };
  const runtime = await openRuntime({
    servers: { kept, changed: { ...fixture('echo'), env: { WHICH: 'old' } }, removed: fixture('echo') },
  });
  await runtime.connectAll();
  const pidOf = (name: string): number => runtime.serverStatus(name).pid ?? 0;
  const before = { kept: pidOf('kept'), changed: pidOf('changed'), removed: pidOf('removed') };
  const states = record(runtime, 'server.state');
  const result = await runtime.setServers({
    added: fixture('echo'),
    changed: { ...fixture('echo'), env: { WHICH: 'new' } },
    // Another order of keys is not a change.
    kept: { env: { B: '2', A: '1' }, ...fixture('echo') },
    lazy: { ...fixture('echo'), start: 'lazy' },
    off: { ...fixture('echo'), enabled: false },
    missing: { command: 'no-such-command-anywhere' },
    wrong: { comand: 'echo' } as never,
  });
  expect(result).toMatchObject({
    added: ['added', 'lazy', 'off', 'missing'],
    removed: ['removed'],
    changed: ['changed'],
  });
  expect(Object.keys(result.errors).sort()).toEqual(['missing', 'wrong']);
  expect(result.errors.wrong).toContain('comand');

  expect(pidOf('kept')).toBe(before.kept);
  expect(states.filter(({ server }) => server === 'kept')).toEqual([]);
  expect(isAlive(before.changed)).toBe(false);
  expect(isAlive(before.removed)).toBe(false);
  const { WHICH } = JSON.parse(textOf(await runtime.callTool('changed', 'env')));
  expect(WHICH).toBe('new');
  expect(Object.fromEntries(runtime.status().map(({ name, status }) => [name, status]))).toEqual({
    added: 'connected',
    changed: 'connected',
    kept: 'connected',
    lazy: 'pending',
    missing: 'failed',
    off: 'disabled',
    wrong: 'failed',
  });
  await expect(runtime.callTool('removed', 'pid')).rejects.toMatchObject({ code: 'SERVER_UNKNOWN' });
  await expect(runtime.callTool('wrong', 'pid')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(runtime.tools().some(({ server }) => server === 'removed')).toBe(false);
});

it('the same set again changes nothing', async () => {
  const servers = { one: fixture('echo'), two: { ...fixture('echo'), start: 'lazy' as const } };
  const runtime = await openRuntime({ servers });
  await runtime.connectAll();
  const { pid } = runtime.serverStatus('one');
  expect(await runtime.setServers(servers)).toEqual({ added: [], removed: [], changed: [], errors: {} });
  expect(runtime.serverStatus('one').pid).toBe(pid);
});

it('a pending call of an unchanged server is not affected', async () => {
  const runtime = await openRuntime({ servers: { stays: fixture('echo'), goes: fixture('echo') } });
  await runtime.connectAll();
  const call = runtime.callTool('stays', 'sleep', { ms: 300 });
  await runtime.setServers({ stays: fixture('echo') });
  expect(textOf(await call)).toBe('slept 300 ms');
});

it('two concurrent changes end with the later one', async () => {
  const runtime = await openRuntime({ servers: { a: fixture('echo') } });
  await runtime.connectAll();
  const first = runtime.setServers({ b: fixture('echo') });
  const second = runtime.setServers({ c: fixture('echo') });
  await Promise.all([first, second]);
  expect(runtime.status().map(({ name, status }) => `${name} ${status}`)).toEqual(['c connected']);
});

it('two changes of a server that exits slowly never run two of its processes', async () => {
  const runtime = await openRuntime({ servers: { slow: { ...fixture('stubborn'), env: { N: '0' } } } });
  await runtime.connectAll();
  const first = runtime.serverStatus('slow').pid ?? 0;
  const overlaps: boolean[] = [];
  runtime.on('server.state', ({ to }) => {
    if (to === 'connecting') overlaps.push(isAlive(first));
  });
  await Promise.all(
    ['1', '2', '3'].map((N) => runtime.setServers({ slow: { ...fixture('stubborn'), env: { N } } })),
  );
  expect(runtime.serverStatus('slow').status).toBe('connected');
  expect(overlaps).toEqual([false]);
});
