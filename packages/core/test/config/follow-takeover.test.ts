import { rm } from 'node:fs/promises';
import { fixture, waitUntil } from '@turnbuckle/testing';
import type { Reload } from 'turnbuckle/host';
import { expect, it, onTestFinished, vi } from 'vitest';
import { TrustStore } from '../../src/config/trust/trust.js';
import { follow, lazyServers, namesOf } from './followed.js';
import { createSetting } from './setting.js';

const echo = fixture('echo');

it.each<[string, (file: string) => Promise<unknown>, string[]]>([
  ['changed', async () => {}, ['two']],
  ['gone', (file) => rm(file), []],
])('a file that has %s before it was followed is noticed', async (_, change, names) => {
  const setting = await createSetting();
  await setting.write(setting.userFile, lazyServers('one'));
  const configured = await setting.open();
  await setting.write(setting.userFile, lazyServers('two'));
  await change(setting.userFile);
  const reloads: Reload[] = [];
  onTestFinished(await configured.follow((reload) => reloads.push(reload)));
  await waitUntil(() => reloads.length === 1);
  expect(reloads[0]?.removed).toEqual(['one']);
  expect(namesOf(configured)).toEqual(names);
});

it('a file that is unchanged since loading is not reported', async () => {
  const setting = await createSetting();
  await setting.write(setting.userFile, lazyServers('one'));
  const { reloads } = await follow(setting);
  await setting.write(setting.userFile, lazyServers('two'));
  await waitUntil(() => reloads.length > 0);
  expect(reloads[0]?.added).toEqual(['two']);
});

it('a file that is saved without a change is not reported', async () => {
  const setting = await createSetting();
  await setting.write(setting.userFile, lazyServers('one'));
  const { reloads } = await follow(setting);
  await setting.write(setting.userFile, lazyServers('one'));
  await setting.write(setting.projectFile, lazyServers('one', 'two'));
  await waitUntil(() => reloads.length > 0);
  await setting.write(setting.projectFile, lazyServers('one', 'two'));
  await setting.write(setting.userFile, lazyServers('one', 'three'));
  await waitUntil(() => reloads.length > 1);
  expect(reloads.map(({ added, errors }) => [added, Object.keys(errors)])).toEqual([
    [[], ['one', 'two']],
    [['three'], ['one', 'two']],
  ]);
});

it('an agreement that is given or withdrawn by another process is applied', async () => {
  const setting = await createSetting();
  await setting.write(setting.projectFile, { servers: { one: echo } });
  const { runtime, config } = await follow(setting);
  const elsewhere = new TrustStore(setting.stateDir);
  const subject = config().servers.get('one');
  if (subject === undefined) throw new Error('there is no server');
  await elsewhere.agree([subject]);
  await waitUntil(() => runtime.serverStatus('one').status === 'connected');
  await elsewhere.withdraw([subject]);
  await waitUntil(() => runtime.serverStatus('one').error?.code === 'TRUST_REQUIRED');
});

it('a server that does not start does not delay the next change', async () => {
  const setting = await createSetting();
  const hanging = { ...fixture('slow', '--hang-at', 'discover'), connectTimeoutMs: 600_000 };
  await setting.write(setting.userFile, { servers: { one: echo } });
  const { runtime, reloads } = await follow(setting);
  await setting.write(setting.userFile, { servers: { one: echo, hanging } });
  await waitUntil(() => runtime.status().some(({ name }) => name === 'hanging'));
  await setting.write(setting.userFile, { servers: { one: echo, hanging, two: echo } });
  await waitUntil(() => runtime.status().find(({ name }) => name === 'two')?.status === 'connected');
  await setting.write(setting.userFile, { servers: { one: echo, two: echo } });
  await waitUntil(() => reloads.length === 3);
  expect(reloads.map(({ added, removed }) => [added, removed])).toEqual([
    [['hanging'], []],
    [['two'], []],
    [[], ['hanging']],
  ]);
});

it('a server is restarted when the default of an input that it uses changes, and only then', async () => {
  const setting = await createSetting();
  const content = (used: string, unused: string) => ({
    inputs: [
      { id: 'used', default: used },
      { id: 'other', default: unused },
    ],
    servers: { one: { ...echo, env: { KEY: '${input:used}' } } },
  });
  await setting.write(setting.userFile, content('a', 'x'));
  const { runtime, reload } = await setting.open();
  await runtime.connectAll();
  const { pid } = runtime.serverStatus('one');
  await setting.write(setting.userFile, content('a', 'y'));
  expect((await reload()).changed).toEqual([]);
  expect(runtime.serverStatus('one').pid).toBe(pid);
  await setting.write(setting.userFile, content('b', 'y'));
  expect((await reload()).changed).toEqual(['one']);
  const [part] = (await runtime.callTool('one', 'env')).content;
  expect(JSON.parse(part?.type === 'text' ? part.text : '')).toMatchObject({ KEY: 'b' });
});

it('a setting that becomes invalid keeps its last value', async () => {
  const setting = await createSetting();
  await setting.write(setting.userFile, { secretCommand: ['echo'], naming: 'server_tool' });
  const { reload } = await setting.open();
  await setting.write(setting.userFile, { secretCommand: 7, naming: 'server_tool' });
  const { config } = await reload();
  expect(config.settings).toEqual({ secretCommand: ['echo'], naming: 'server_tool' });
  expect(config.problems[0]?.message).toContain('secretCommand');
  await setting.write(setting.userFile, {});
  expect((await reload()).config.settings).toEqual({});
});

it('a host that changes its working directory keeps the configuration it was started with', async () => {
  const setting = await createSetting();
  await setting.write(setting.projectFile, lazyServers('one'));
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(setting.project);
  onTestFinished(() => cwd.mockRestore());
  const configured = await setting.open({ cwd: undefined, trustProject: true });
  cwd.mockReturnValue(setting.home);
  await configured.reload();
  expect(namesOf(configured)).toEqual(['one']);
});
