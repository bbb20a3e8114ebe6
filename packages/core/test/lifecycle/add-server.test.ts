import { fixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { createSetting } from '../config/setting.js';
import { openRuntime, record, textOf } from './open-runtime.js';

const isAlive = (pid: number | undefined): boolean => {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
};

// requirement C8
describe('addServer', () => {
  it('adds a server, connects it, and makes its tools callable', async () => {
    const runtime = await openRuntime({ servers: { first: fixture('echo') } });
    const added = record(runtime, 'server.added');
    expect(await runtime.addServer('second', fixture('echo'))).toMatchObject({
      name: 'second',
      status: 'connected',
    });
    expect(added).toEqual([{ server: 'second' }]);
    expect(runtime.serverNames()).toEqual(['first', 'second']);
    expect(textOf(await runtime.callTool('second', 'echo', { text: 'hi' }))).toBe('hi');
  });

  it('connects a lazy server with its first call, and does not start a disabled one', async () => {
    const runtime = await openRuntime({});
    const { state } = await runtime.addServer('later', { ...fixture('echo'), start: 'lazy' });
    expect(state).toBe('disconnected');
    expect(await runtime.addServer('off', { ...fixture('echo'), enabled: false })).toMatchObject({
      status: 'disabled',
    });
    expect(runtime.getConnectedServers()).toEqual([]);
    await runtime.callTool('later', 'echo', { text: 'hi' });
    expect(runtime.getConnectedServers()).toEqual(['later']);
  });

  it('shows a failure to connect in the status, like setServers', async () => {
    const runtime = await openRuntime({});
    const { status, error } = await runtime.addServer('bad', { command: 'turnbuckle-no-such-program' });
    expect([status, error?.code]).toEqual(['failed', 'COMMAND_NOT_FOUND']);
  });

  it('rejects a name that exists, also of an unusable server, and changes nothing', async () => {
    const servers = { first: fixture('echo'), broken: { comand: 'x' } as never };
    const runtime = await openRuntime({ servers });
    await runtime.connectAll();
    const { pid } = runtime.serverStatus('first');
    for (const name of ['first', 'broken'])
      await expect(runtime.addServer(name, fixture('echo'))).rejects.toMatchObject({
        code: 'NAME_TAKEN',
        server: name,
      });
    expect(runtime.serverStatus('first').pid).toBe(pid);
  });

  it.each([
    ['one', { comand: 'x' }, 'the server has neither "command"'],
    ['one', { command: 'x', argz: [] }, 'unknown key "argz" (did you mean "args"?)'],
    ['one', 'npx', 'expected an object, found "npx"'],
    ['', { command: 'x' }, 'a server name cannot be empty'],
    ['native', { command: 'x' }, 'the name "native" is reserved'],
    ['__proto__', null, 'expected an object, found null'],
  ])('rejects %j with %j', async (name, config, text) => {
    const runtime = await openRuntime({});
    const failed = record(runtime, 'server.failed');
    await expect(runtime.addServer(name, config as never)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(text),
    });
    expect([runtime.serverNames(), failed]).toEqual([[], []]);
  });

  it('rejects one server too many, and a closed runtime', async () => {
    const runtime = await openRuntime({ limits: { maxServers: 1 } });
    const lazy = { ...fixture('echo'), start: 'lazy' } as const;
    await runtime.addServer('one', lazy);
    await expect(runtime.addServer('two', lazy)).rejects.toMatchObject({ code: 'SERVER_LIMIT' });
    expect(runtime.serverNames()).toEqual(['one']);
    await runtime.removeServer('one');
    await runtime.addServer('two', lazy);
    await runtime.close();
    await expect(runtime.addServer('three', lazy)).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
    await expect(runtime.removeServer('two')).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
  });

  it('applies the defaults of the runtime', async () => {
    const runtime = await openRuntime({ defaults: { callTimeoutMs: 7, start: 'lazy' } });
    const { config } = await runtime.addServer('one', fixture('echo'));
    expect(config).toMatchObject({ callTimeoutMs: 7, start: 'lazy' });
  });

  it('of many at once, and of the same name, adds each name once', async () => {
    const runtime = await openRuntime({});
    const lazy = { ...fixture('echo'), start: 'lazy' } as const;
    const names = Array.from({ length: 20 }, (_, index) => `s${index % 10}`);
    const outcomes = await Promise.allSettled(names.map((name) => runtime.addServer(name, lazy)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect(runtime.serverNames()).toHaveLength(10);
  });
});

describe('removeServer', () => {
  it('ends the process, and the tools are gone', async () => {
    const runtime = await openRuntime({ servers: { one: fixture('echo'), two: fixture('echo') } });
    await runtime.connectAll();
    const removed = record(runtime, 'server.removed');
    const [one, two] = ['one', 'two'].map((name) => runtime.serverStatus(name).pid);
    await runtime.removeServer('one');
    expect([isAlive(one), isAlive(two)]).toEqual([false, true]);
    expect(removed).toEqual([{ server: 'one' }]);
    expect(runtime.catalog.listByServer('one')).toEqual([]);
    await expect(runtime.callTool('one', 'echo', { text: 'x' })).rejects.toMatchObject({
      code: 'SERVER_UNKNOWN',
    });
    await expect(runtime.removeServer('one')).rejects.toMatchObject({ code: 'SERVER_UNKNOWN' });
    expect(await runtime.addServer('one', fixture('echo'))).toMatchObject({ status: 'connected' });
    expect(runtime.serverStatus('one').pid).not.toBe(one);
  });

  it('removes an unusable server, too', async () => {
    const runtime = await openRuntime({ servers: { broken: { comand: 'x' } as never } });
    await runtime.removeServer('broken');
    expect(runtime.status()).toEqual([]);
    expect(await runtime.addServer('broken', fixture('echo'))).toMatchObject({ status: 'connected' });
  });
});

describe('an added server', () => {
  it('is part of the set that setServers replaces', async () => {
    const runtime = await openRuntime({ servers: { first: fixture('echo') } });
    await runtime.addServer('added', fixture('echo'));
    const { pid } = runtime.serverStatus('added');
    expect(await runtime.setServers({ added: fixture('echo') })).toMatchObject({ removed: ['first'] });
    expect(runtime.serverStatus('added').pid).toBe(pid);
    expect(await runtime.setServers({})).toMatchObject({ removed: ['added'] });
    expect(runtime.serverNames()).toEqual([]);
  });

  it('stays when files are reloaded, and keeps its name', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { servers: { mine: fixture('echo') } });
    const { runtime, reload, follow } = await setting.open();
    await runtime.connectAll();
    await expect(runtime.addServer('mine', fixture('echo'))).rejects.toMatchObject({ code: 'NAME_TAKEN' });
    await runtime.addServer('added', fixture('echo'));
    const { pid } = runtime.serverStatus('added');
    await setting.write(setting.userFile, { servers: {} });
    expect(await reload()).toMatchObject({ added: [], removed: ['mine'] });
    expect(runtime.serverStatus('added').pid).toBe(pid);
    const reloads: unknown[] = [];
    const stop = await follow((done) => reloads.push(done));
    await setting.write(setting.userFile, { servers: { added: { command: 'other' } } });
    await waitUntil(() => reloads.length > 0);
    await stop();
    expect(reloads[0]).toMatchObject({ errors: { added: 'Server "added" already exists.' } });
    expect(runtime.serverStatus('added')).toMatchObject({ pid, problem: { code: 'NAME_TAKEN' } });
    await runtime.removeServer('added');
    await reload();
    expect(runtime.serverStatus('added').config).toMatchObject({ command: 'other' });
  });

  it('of a file that was removed is back after the next reload', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { servers: { mine: fixture('echo') } });
    const { runtime, reload } = await setting.open();
    await runtime.removeServer('mine');
    expect(runtime.serverNames()).toEqual([]);
    expect(await reload()).toMatchObject({ added: ['mine'] });
  });
});

describe('getConnectedServers and disconnectAll', () => {
  it('name and disconnect all; the next call connects again', async () => {
    const runtime = await openRuntime({
      servers: { b: fixture('echo'), a: fixture('echo'), off: { ...fixture('echo'), enabled: false } },
    });
    expect(runtime.getConnectedServers()).toEqual([]);
    await runtime.connectAll();
    expect(runtime.getConnectedServers()).toEqual(['a', 'b']);
    const pids = ['a', 'b'].map((name) => runtime.serverStatus(name).pid);
    await runtime.disconnectAll();
    expect(runtime.getConnectedServers()).toEqual([]);
    expect(pids.map(isAlive)).toEqual([false, false]);
    await runtime.callTool('a', 'echo', { text: 'x' });
    expect(runtime.getConnectedServers()).toEqual(['a']);
  });
});

// requirement T3
it('the info of a tool tells whether its server is connected', async () => {
  const runtime = await openRuntime({ servers: { one: fixture('echo') } });
  runtime.registerTool({ name: 'own', description: '', inputSchema: { type: 'object' }, run: () => '' });
  await runtime.connectAll();
  const connected = (name: string) => runtime.catalog.info(name)?.connected;
  expect([connected('mcp__one__echo'), connected('own'), connected('none')]).toEqual([true, true, undefined]);
  await runtime.disconnect('one');
  expect([connected('mcp__one__echo'), connected('own')]).toEqual([false, true]);
  await runtime.connect('one');
  expect(connected('mcp__one__echo')).toBe(true);
});
