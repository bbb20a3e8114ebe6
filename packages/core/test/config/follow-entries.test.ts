import { join } from 'node:path';
import { fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import type { RuntimeEvents } from 'turnbuckle';
import type { LoadedConfig } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { type Followed, follow } from './followed.js';
import { markingServer, startsIn } from './marking-server.js';
import { createSetting } from './setting.js';

type ConfigEvent = RuntimeEvents['server.config'];

function recordConfig({ runtime }: Followed): ConfigEvent[] {
  const events: ConfigEvent[] = [];
  runtime.on('server.config', (event) => events.push(event));
  return events;
}

function serverIn(config: LoadedConfig, name: string) {
  const server = config.servers.get(name);
  if (server === undefined) throw new Error(`there is no ${name}`);
  return server;
}

const echo = fixture('echo');

describe('an entry that becomes unusable', () => {
  it.each<[string, unknown, string]>([
    ['has a typo', { comand: 'x' }, 'comand'],
    ['has a wrong value', { ...echo, callTimeoutMs: 'soon' }, 'callTimeoutMs'],
    ['has a malformed placeholder', { ...echo, env: { KEY: '${KEY' } }, 'invalid placeholder'],
    ['is not an object', 7, 'expected an object'],
  ])(
    'keeps its server running with the previous entry, and reports it until it is valid: %s',
    async (_, bad, word) => {
      const setting = await createSetting();
      const file = await setting.write('mine.json', { servers: { one: echo, two: echo } });
      const followed = await follow(setting, { files: [file] });
      const { runtime, reloads, config } = followed;
      const events = recordConfig(followed);
      const { pid } = runtime.serverStatus('one');

      await setting.write(file, { servers: { one: bad, two: echo, three: echo } });
      await waitUntil(() => reloads.length === 1);
      expect(reloads[0]).toMatchObject({ added: ['three'], removed: [], changed: [] });
      expect(reloads[0]?.errors.one).toContain(word);
      expect(runtime.serverStatus('one')).toMatchObject({
        status: 'connected',
        pid,
        error: undefined,
        problem: { code: 'CONFIG_INVALID', message: expect.stringContaining(word) },
      });
      expect(runtime.status().map(({ name }) => name)).toEqual(['one', 'three', 'two']);
      expect(serverIn(config(), 'one')).toMatchObject({
        kept: true,
        entry: echo,
        problem: { data: { file } },
      });
      expect(events).toMatchObject([
        { server: 'one', problem: { message: expect.stringContaining(`${file}:1:`) } },
      ]);

      // The problem stays, but is not reported again while the entry stays invalid.
      await setting.write(file, { servers: { one: bad, two: echo } });
      await waitUntil(() => reloads.length === 2);
      expect(reloads[1]).toMatchObject({ removed: ['three'], errors: { one: expect.any(String) } });
      expect(events).toHaveLength(1);
      await runtime.reconnect('one');
      expect(runtime.serverStatus('one').status).toBe('connected');
      const again = runtime.serverStatus('one').pid;

      await setting.write(file, { servers: { one: echo, two: echo } });
      await waitUntil(() => reloads.length === 3);
      expect(reloads[2]).toMatchObject({ added: [], removed: [], changed: [], errors: {} });
      expect(runtime.serverStatus('one')).toMatchObject({ pid: again, problem: undefined });
      expect(serverIn(config(), 'one')).toMatchObject({ kept: false, problem: undefined });
      expect(events.slice(1)).toEqual([{ server: 'one', problem: undefined }]);
    },
  );

  it('is removed with its entry, and not restored by a new invalid entry', async () => {
    const setting = await createSetting();
    const file = await setting.write('mine.json', { servers: { one: echo } });
    const { runtime, reloads } = await follow(setting, { files: [file] });
    const pid = runtime.serverStatus('one').pid ?? 0;
    await setting.write(file, { servers: { one: { comand: 'x' } } });
    await waitUntil(() => reloads.length === 1);
    await setting.write(file, { servers: {} });
    await waitUntil(() => reloads.length === 2);
    expect(reloads[1]).toMatchObject({ removed: ['one'], errors: {} });
    expect(isAlive(pid)).toBe(false);
    await setting.write(file, { servers: { one: { comand: 'x' } } });
    await waitUntil(() => reloads.length === 3);
    expect(runtime.serverStatus('one')).toMatchObject({
      status: 'failed',
      error: { code: 'CONFIG_INVALID' },
    });
  });

  it('is applied when it is valid again and different', async () => {
    const setting = await createSetting();
    const file = await setting.write('mine.json', { servers: { one: echo } });
    const { runtime, reloads } = await follow(setting, { files: [file] });
    const { pid } = runtime.serverStatus('one');
    await setting.write(file, { servers: { one: { ...echo, pingMs: -1 } } });
    await waitUntil(() => reloads.length === 1);
    await setting.write(file, { servers: { one: { ...echo, pingMs: 1_000 } } });
    await waitUntil(() => reloads.length === 2);
    expect(reloads[1]).toMatchObject({ changed: ['one'], errors: {} });
    expect(runtime.serverStatus('one').pid).not.toBe(pid);
    expect(runtime.serverStatus('one').config).toMatchObject({ pingMs: 1_000 });
  });

  it('may override another file’s server, or newly take precedence over it', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { servers: { one: echo, two: echo } });
    const { runtime, reloads } = await follow(setting, {});
    const pids = () => ['one', 'two'].map((name) => runtime.serverStatus(name).pid);
    const before = pids();
    await setting.write(join(setting.project, 'mcp-servers.json'), {
      servers: { one: { enabled: 'no' }, two: { comand: 'x' } },
    });
    await waitUntil(() => reloads.length === 1);
    expect(Object.keys(reloads[0]?.errors ?? {}).sort()).toEqual(['one', 'two']);
    expect(pids()).toEqual(before);
  });

  it('does not keep a server that another file no longer has', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { servers: { one: echo } });
    const { runtime, reload } = await setting.open({});
    await runtime.connectAll();
    await setting.write(setting.userFile, { servers: {} });
    await setting.write(setting.projectFile, { servers: { one: { comand: 'x' } } });
    expect((await reload()).removed).toEqual(['one']);
    expect(runtime.serverStatus('one')).toMatchObject({
      status: 'failed',
      error: { code: 'CONFIG_INVALID' },
    });
  });

  it('may be a list entry without its name, or be in a list with a misspelt key', async () => {
    const setting = await createSetting();
    const both = [
      { name: 'one', ...echo },
      { name: 'two', ...echo },
    ];
    const file = await setting.write('mine.json', { servers: both });
    const { runtime, reloads } = await follow(setting, { files: [file] });
    const pids = () => ['one', 'two'].map((name) => runtime.serverStatus(name).pid);
    const before = pids();
    await setting.write(file, { servers: [{ nam: 'one', ...echo }, both[1]] });
    await waitUntil(() => reloads.length === 1);
    expect(reloads[0]?.config.problems[0]?.message).toContain('needs a "name"');
    expect(pids()).toEqual(before);
    await setting.write(file, { server: both });
    await waitUntil(() => reloads.length === 2);
    expect(reloads[1]?.config.problems[0]?.message).toContain('did you mean "servers"?');
    expect(pids()).toEqual(before);
    await setting.write(file, { servers: [both[1]] });
    await waitUntil(() => reloads.length === 3);
    expect(reloads[2]).toMatchObject({ removed: ['one'], config: { problems: [] } });
  });
});

describe('an unusable entry of a project', () => {
  it('keeps the trusted server running, and only while it is trusted', async () => {
    const setting = await createSetting();
    const { home, projectFile, write } = setting;
    const [good, other] = [join(home, 'good'), join(home, 'other')];
    await write(projectFile, { servers: { one: markingServer(good) } });
    const { runtime, trust, config, reload } = await setting.open();
    const agreed = serverIn(config(), 'one');
    await trust.agree([agreed]);
    await reload();
    await write(projectFile, { servers: { one: { ...markingServer(other), callTimeoutMs: 'x' } } });
    expect((await reload()).errors.one).toContain('callTimeoutMs');
    await runtime.reconnect('one');
    expect([startsIn(good), startsIn(other)]).toEqual([2, 0]);

    await trust.withdraw([agreed]);
    expect((await reload()).errors.one).toContain('is not trusted yet');
    await expect(runtime.callTool('one', 'pid')).rejects.toMatchObject({ code: 'TRUST_REQUIRED' });
    expect([startsIn(good), startsIn(other)]).toEqual([2, 0]);
  });

  it('has nothing to keep after a change without agreement', async () => {
    const setting = await createSetting();
    const { home, projectFile, write } = setting;
    const [good, other] = [join(home, 'good'), join(home, 'other')];
    await write(projectFile, { servers: { one: markingServer(good) } });
    const { runtime, trust, config, reload } = await setting.open();
    await trust.agree([serverIn(config(), 'one')]);
    await reload();
    await write(projectFile, { servers: { one: markingServer(other) } });
    await reload();
    await write(projectFile, { servers: { one: { comand: 'x' } } });
    await reload();
    expect(runtime.serverStatus('one')).toMatchObject({
      status: 'failed',
      error: { code: 'CONFIG_INVALID' },
    });
    expect([startsIn(good), startsIn(other)]).toEqual([1, 0]);
  });
});
