import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import type { Reload } from 'turnbuckle/host';
import { expect, it } from 'vitest';
import { follow, namesOf, lazyServers as servers } from './followed.js';
import { createSetting } from './setting.js';

// requirement C8
it('restarts one of 20 servers if only that one changed', { timeout: 60_000 }, async () => {
  const setting = await createSetting();
  const names = Array.from({ length: 20 }, (_, index) => `server-${index}`);
  const all = Object.fromEntries(
    names.map((name) => [name, { ...fixture('echo'), connectTimeoutMs: 30_000 }]),
  );
  const file = await setting.write('mine.json', { servers: all });
  const { runtime, reloads } = await follow(setting, { files: [file] });
  const pids = (): Array<number | undefined> => names.map((name) => runtime.serverStatus(name).pid);
  const before = pids();
  expect(before.every((pid) => pid !== undefined)).toBe(true);

  const changed = { ...fixture('paging', '--tools', '3'), connectTimeoutMs: 30_000 };
  await setting.write(file, { servers: { ...all, 'server-7': changed } });
  await waitUntil(() => reloads.length > 0, 30_000);
  expect(reloads[0]).toMatchObject({ added: [], removed: [], changed: ['server-7'], errors: {} });
  const after = pids();
  expect(after.filter((pid, index) => pid === before[index])).toHaveLength(19);
  expect(after[7]).not.toBe(before[7]);
  expect(isAlive(before[7] ?? 0)).toBe(false);
  expect(runtime.serverStatus('server-7').tools.map(({ name }) => name)).toEqual([
    'tool_00001',
    'tool_00002',
    'tool_00003',
  ]);
});

it.each([
  ['is not JSON', '{ "servers": { "one": '],
  ['holds a list', '[]'],
  ['has servers of a wrong type', '{ "servers": 7 }'],
])('keeps the previous content when the file %s, reports why, and recovers', async (_, text) => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', { servers: { one: fixture('echo') } });
  const followed = await follow(setting, { files: [file] });
  const { pid } = followed.runtime.serverStatus('one');
  await writeFile(file, text);
  await waitUntil(() => followed.reloads.length === 1);
  expect(followed.reloads[0]).toMatchObject({ added: [], removed: [], changed: [] });
  expect(followed.reloads[0]?.config.problems[0]?.message).toContain(`${file}:1:`);
  expect(followed.runtime.serverStatus('one')).toMatchObject({ status: 'connected', pid });

  await setting.write(file, { servers: { one: fixture('echo'), two: fixture('echo') } });
  await waitUntil(() => followed.reloads.length === 2);
  expect(followed.reloads[1]).toMatchObject({ added: ['two'], removed: [], changed: [], errors: {} });
  expect(followed.config().problems).toEqual([]);
  expect(followed.runtime.serverStatus('one').pid).toBe(pid);
  expect(followed.runtime.serverStatus('two').status).toBe('connected');
});

it('keeps the servers of a named file that disappeared, and stops a server that is removed from it', async () => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', { servers: { one: fixture('echo'), two: fixture('echo') } });
  const followed = await follow(setting, { files: [file] });
  const pid = followed.runtime.serverStatus('two').pid ?? 0;
  await rm(file);
  await waitUntil(() => followed.reloads.length === 1);
  expect(followed.reloads[0]?.config.problems[0]?.message).toContain('it does not exist');
  expect(isAlive(pid)).toBe(true);
  await setting.write(file, { servers: { one: fixture('echo') } });
  await waitUntil(() => followed.reloads.length === 2);
  expect(followed.reloads[1]?.removed).toEqual(['two']);
  expect(isAlive(pid)).toBe(false);
  expect(namesOf(followed)).toEqual(['one']);
});

it('treats a burst of 20 writes as few changes, and ends with the last', async () => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', servers('start'));
  const followed = await follow(setting, { files: [file] });
  for (let index = 0; index < 20; index += 1) {
    await setting.write(file, servers(`burst-${index}`));
    await delay(5);
  }
  await waitUntil(() => namesOf(followed).join() === 'burst-19');
  await delay(300);
  expect(followed.reloads.length).toBeLessThanOrEqual(5);
  expect(namesOf(followed)).toEqual(['burst-19']);
});

it.each<[string, (file: string, text: string) => Promise<void>]>([
  ['in place', (file, text) => writeFile(file, text)],
  [
    'by a rename',
    async (file, text) => {
      await writeFile(`${file}.tmp`, text);
      await rename(`${file}.tmp`, file);
    },
  ],
  [
    'by deleting and creating',
    async (file, text) => {
      await rm(file);
      await writeFile(file, text);
    },
  ],
  [
    'with a backup copy',
    async (file, text) => {
      await rename(file, `${file}~`);
      await writeFile(file, text);
    },
  ],
])('notices a file that is saved %s, repeatedly', async (_, save) => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', servers('start'));
  const followed = await follow(setting, { files: [file] });
  for (const name of ['first', 'second', 'third']) {
    await save(file, JSON.stringify(servers(name)));
    await waitUntil(() => namesOf(followed).join() === name);
  }
});

it('notices a file that is saved through a link, also by a rename', async () => {
  const setting = await createSetting();
  const real = await setting.write('dotfiles/mcp.json', servers('start'));
  const link = join(setting.home, 'linked.json');
  await symlink(real, link);
  const followed = await follow(setting, { files: [link] });
  await writeFile(real, JSON.stringify(servers('first')));
  await waitUntil(() => namesOf(followed).join() === 'first');
  for (const name of ['second', 'third']) {
    await writeFile(`${real}.tmp`, JSON.stringify(servers(name)));
    await rename(`${real}.tmp`, real);
    await waitUntil(() => namesOf(followed).join() === name);
  }
});

it.each(['mcp.json', 'mcp.local.json'])('notices that a project gets its %s', async (name) => {
  const setting = await createSetting();
  await mkdir(join(setting.project, '.turnbuckle'));
  const followed = await follow(setting, { trustProject: true });
  expect(namesOf(followed)).toEqual([]);
  const file = await setting.write(join(setting.project, '.turnbuckle', name), servers('fresh'));
  await waitUntil(() => namesOf(followed).join() === 'fresh');
  await setting.write(file, servers('changed'));
  await waitUntil(() => namesOf(followed).join() === 'changed');
  await rm(file);
  await waitUntil(() => namesOf(followed).join() === '');
});

it('notices the user’s own file and mcp-servers.json, even if their directory is created later', async () => {
  const setting = await createSetting();
  const followed = await follow(setting, { trustProject: true });
  await setting.write(join(setting.project, 'mcp-servers.json'), servers('listed'));
  await waitUntil(() => namesOf(followed).join() === 'listed');
  await setting.write(setting.userFile, servers('own'));
  await waitUntil(() => namesOf(followed).join() === 'listed,own');
});

it('is not triggered by other files in its directory', async () => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', servers('one'));
  const followed = await follow(setting, { files: [file] });
  await setting.write('other.json', servers('two'));
  await setting.write(join(setting.project, 'note.txt'), 'x');
  await delay(300);
  expect(followed.reloads).toEqual([]);
});

it('stops when it is closed', async () => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', servers('one'));
  const configured = await setting.open({ files: [file] });
  const reloads: Reload[] = [];
  const stop = await configured.follow((reload) => reloads.push(reload));
  await stop();
  await setting.write(file, servers('two'));
  await delay(200);
  expect(reloads).toEqual([]);
  expect(await readFile(file, 'utf8')).toContain('two');
});

it('the later of two concurrent reloads wins', async () => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', servers('one'));
  const configured = await setting.open({ files: [file] });
  const first = configured.reload();
  await setting.write(file, servers('two'));
  const second = configured.reload();
  await Promise.all([first, second]);
  expect(namesOf(configured)).toEqual(['two']);
});

it('waits for the servers of a change, whichever reload applied it', async () => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', { servers: {} });
  const configured = await setting.open({ files: [file] });
  await configured.runtime.connectAll();
  const { command, args } = fixture('echo');
  const late = `setTimeout(() => import(${JSON.stringify(args[0])}), 1_500)`;
  await setting.write(file, { servers: { late: { command, args: ['-e', late] } } });
  void configured.reload();
  await configured.reload();
  expect(configured.runtime.serverStatus('late').status).toBe('connected');
});
