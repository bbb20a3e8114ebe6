import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { follow, lazyServers, namesOf } from './followed.js';
import { createSetting } from './setting.js';

const echo = fixture('echo');
const NAMINGS = ['mcp__server__tool', 'mcp_server_tool', 'server_tool'];

describe('a file that is empty', () => {
  it.each([
    ['no bytes', ''],
    ['white space', ' \r\n\t\n'],
    ['a byte order mark', '\uFEFF'],
  ])('because it is being saved keeps its previous content: %s', async (_, text) => {
    const setting = await createSetting();
    const file = await setting.write(setting.userFile, { naming: 'server_tool', servers: { one: echo } });
    const { runtime, reloads, config } = await follow(setting);
    const { pid } = runtime.serverStatus('one');
    await writeFile(file, text);
    await waitUntil(() => reloads.length === 1);
    expect(reloads[0]).toMatchObject({ added: [], removed: [], changed: [] });
    expect(config().problems.map(({ message }) => message)).toEqual([
      `Cannot use configuration file ${file}: it is empty.`,
    ]);
    expect(config().settings.naming).toBe('server_tool');
    expect(runtime.serverStatus('one')).toMatchObject({ status: 'connected', pid });
    await setting.write(file, { servers: { one: echo, two: { ...echo, start: 'lazy' } } });
    await waitUntil(() => reloads.length === 2);
    expect(reloads[1]).toMatchObject({ added: ['two'], removed: [], changed: [], config: { problems: [] } });
    expect(runtime.serverStatus('one').pid).toBe(pid);
  });

  it('from the start has no servers, and is not a problem', async () => {
    const setting = await createSetting();
    const file = await setting.write(setting.userFile, '');
    const followed = await follow(setting);
    expect(followed.config().problems).toEqual([]);
    await writeFile(file, '\n');
    await waitUntil(() => followed.reloads.length === 1);
    expect(followed.config().problems).toEqual([]);
    await setting.write(file, lazyServers('one'));
    await waitUntil(() => namesOf(followed).join() === 'one');
  });

  it('except for {} has no servers', async () => {
    const setting = await createSetting();
    const file = await setting.write(setting.userFile, lazyServers('one'));
    const followed = await follow(setting);
    await writeFile(file, '{}');
    await waitUntil(() => namesOf(followed).join() === '');
    expect(followed.config().problems).toEqual([]);
  });
});

describe('a file that disappears', () => {
  it('removes its servers', async () => {
    const setting = await createSetting();
    const file = await setting.write(setting.userFile, { servers: { one: echo } });
    const { runtime, reloads } = await follow(setting);
    const pid = runtime.serverStatus('one').pid ?? 0;
    await rm(file);
    await waitUntil(() => reloads.length === 1);
    expect(reloads[0]).toMatchObject({ removed: ['one'], config: { problems: [] } });
    expect(isAlive(pid)).toBe(false);
  });

  it.each(['user', 'project'])('briefly, while an editor saves it, removes nothing: %s', async (scope) => {
    const setting = await createSetting();
    const place = scope === 'user' ? setting.userFile : setting.projectFile;
    const file = await setting.write(place, { servers: { one: echo } });
    const { runtime, reloads } = await follow(setting, { trustProject: true });
    const { pid } = runtime.serverStatus('one');
    await rename(file, `${file}~`);
    await delay(120);
    await setting.write(file, { servers: { one: echo, two: { ...echo, start: 'lazy' } } });
    await waitUntil(() => reloads.length === 1);
    expect(reloads[0]).toMatchObject({ added: ['two'], removed: [], changed: [] });
    expect(runtime.serverStatus('one').pid).toBe(pid);
  });

  it('repeatedly, deleted and created by a program, removes nothing and loses no call', async () => {
    const setting = await createSetting();
    const servers = (count: number) => ({ servers: { one: echo }, naming: NAMINGS[count % NAMINGS.length] });
    const file = await setting.write(setting.userFile, servers(0));
    const { runtime, reloads, config, reload } = await follow(setting);
    const { pid } = runtime.serverStatus('one');
    let over = false;
    const failures: unknown[] = [];
    const calling = (async () => {
      while (!over) {
        await runtime.callTool('one', 'echo', { text: 'x' }).catch((error: unknown) => failures.push(error));
        await delay(5);
      }
    })();
    for (let round = 1; round <= 40; round += 1) {
      await rm(file);
      // A reload may be requested while the file does not exist.
      if (round % 8 === 0) void reload().catch(() => {});
      await delay((round * 37) % 61);
      await writeFile(file, JSON.stringify(servers(round)));
      await delay((round * 53) % 89);
    }
    await waitUntil(() => config().settings.naming === servers(40).naming, 30_000);
    over = true;
    await calling;
    expect(failures).toEqual([]);
    expect(reloads.flatMap(({ removed, changed }) => [...removed, ...changed])).toEqual([]);
    expect(runtime.serverStatus('one')).toMatchObject({ status: 'connected', pid });
  });

  it('and becomes a directory or a circular link keeps its previous content', async () => {
    const setting = await createSetting();
    const file = await setting.write(setting.projectFile, { servers: { one: echo } });
    const { runtime, reloads, config } = await follow(setting, { trustProject: true });
    const { pid } = runtime.serverStatus('one');
    await rm(file);
    await mkdir(file);
    await waitUntil(() => config().problems[0]?.message.includes('it is a directory'));
    await rm(file, { recursive: true });
    await symlink(file, file);
    await waitUntil(() => config().problems[0]?.message.includes('form a loop'));
    expect(runtime.serverStatus('one')).toMatchObject({ status: 'connected', pid });
    await rm(file);
    await setting.write(file, { servers: { one: echo, two: { ...echo, start: 'lazy' } } });
    await waitUntil(() => config().problems.length === 0);
    expect(runtime.serverStatus('one').pid).toBe(pid);
    expect(reloads.flatMap(({ removed }) => removed)).toEqual([]);
    expect(runtime.serverStatus('two').status).toBe('pending');
  });
});

it('two files that change together are one change', async () => {
  const setting = await createSetting();
  const [first, second] = [join(setting.home, 'first.json'), join(setting.home, 'second.json')];
  await setting.write(first, lazyServers('moves', 'a'));
  await setting.write(second, lazyServers('b'));
  const followed = await follow(setting, { files: [first, second] });
  await Promise.all([
    setting.write(first, lazyServers('a', 'c')),
    setting.write(second, lazyServers('b', 'moves', 'd')),
  ]);
  await waitUntil(() => followed.reloads.length === 1);
  expect(followed.reloads[0]).toMatchObject({ added: ['c', 'd'], removed: [], changed: [] });
  expect(followed.config().servers.get('moves')?.origin.file).toBe(second);
});

it('one of two files that breaks does not prevent the other from being applied', async () => {
  const setting = await createSetting();
  const [first, second] = [join(setting.home, 'first.json'), join(setting.home, 'second.json')];
  await setting.write(first, lazyServers('a'));
  await setting.write(second, lazyServers('b'));
  const followed = await follow(setting, { files: [first, second] });
  await Promise.all([setting.write(first, '{ "servers": {'), setting.write(second, lazyServers('c'))]);
  await waitUntil(() => namesOf(followed).join() === 'a,c');
  expect(followed.config().problems[0]?.message).toContain(first);
});

it('a volume whose files are replaced through a link is noticed each time', async () => {
  const setting = await createSetting();
  const volume = join(setting.home, 'volume');
  const publish = async (version: number, content: unknown): Promise<void> => {
    const directory = `..version_${version}`;
    await setting.write(join(volume, directory, 'mcp.json'), content);
    await symlink(directory, join(volume, '..data_tmp'));
    await rename(join(volume, '..data_tmp'), join(volume, '..data'));
    await rm(join(volume, `..version_${version - 1}`), { recursive: true, force: true });
  };
  await publish(1, lazyServers('start'));
  const file = join(volume, 'mcp.json');
  await symlink(join('..data', 'mcp.json'), file);
  const followed = await follow(setting, { files: [file] });
  for (const version of [2, 3, 4, 5]) {
    await publish(version, lazyServers(`version-${version}`));
    await waitUntil(() => namesOf(followed).join() === `version-${version}`);
  }
  expect(followed.reloads.flatMap(({ config }) => config.problems)).toEqual([]);
});

it('a configuration directory that is a link is noticed when its target changes', async () => {
  const setting = await createSetting();
  await setting.write('dotfiles/one/mcp.json', lazyServers('first'));
  await setting.write('dotfiles/two/mcp.json', lazyServers('second'));
  const link = join(setting.project, '.turnbuckle');
  await symlink(join(setting.home, 'dotfiles', 'one'), link);
  const followed = await follow(setting, { trustProject: true });
  expect(namesOf(followed)).toEqual(['first']);
  await symlink(join(setting.home, 'dotfiles', 'two'), `${link}.tmp`);
  await rename(`${link}.tmp`, link);
  await waitUntil(() => namesOf(followed).join() === 'second');
  await setting.write('dotfiles/two/mcp.json', lazyServers('third'));
  await waitUntil(() => namesOf(followed).join() === 'third');
});

it('a directory that is deleted and created again is still followed', async () => {
  const setting = await createSetting();
  const directory = join(setting.project, '.turnbuckle');
  await setting.write(setting.projectFile, lazyServers('start'));
  const followed = await follow(setting, { trustProject: true });
  for (const name of ['first', 'second']) {
    await rm(directory, { recursive: true });
    await mkdir(directory);
    await setting.write(setting.projectFile, lazyServers(`${name}-made`));
    await waitUntil(() => namesOf(followed).join() === `${name}-made`);
    await setting.write(setting.projectFile, lazyServers(`${name}-changed`));
    await waitUntil(() => namesOf(followed).join() === `${name}-changed`);
  }
});

it('the first configuration directory of a project is noticed', async () => {
  const setting = await createSetting();
  const followed = await follow(setting, { trustProject: true });
  await setting.write(setting.projectFile, lazyServers('fresh'));
  await waitUntil(() => namesOf(followed).join() === 'fresh');
});
