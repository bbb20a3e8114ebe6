/** Secrets belong to one addition: they go with it, and no other one gets them. */
import { readdirSync, readFileSync } from 'node:fs';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { createVault } from 'turnbuckle/host';
import { afterEach, describe, expect, it } from 'vitest';
import { REMOVE_STEPS } from '../../src/work/remove.js';
import type { WorkServices } from '../../src/work/services.js';
import type { StepContext } from '../../src/workers/step.js';
import { scriptedPackage, scriptedRecord } from '../daemon/hostile-servers.js';
import { filesRecord, type Json, openStewardStage, type StewardStage } from '../daemon/stage.js';

const KEY = { name: 'FILES_KEY', isSecret: true, isRequired: true };
const SECRET = 'canary-1f0c77aa01';

let stage: StewardStage;
afterEach(() => stage.close());

const open = async (variable: Json = KEY): Promise<void> => {
  stage = await openStewardStage({ records: [filesRecord({ environmentVariables: [variable] })] });
};

const stored = async (): Promise<string[]> => {
  const vault = createVault({ stateDir: stage.home.file('state'), environment: { HOME: stage.home.path } });
  return (await vault.list()).map(({ name }) => name);
};

const add = (): Promise<string> => stage.request('add_server', { registryName: 'io.github.acme/files' });

async function added(values?: Json): Promise<string> {
  const id = await add();
  expect(await stage.approveAll(id, values)).toMatchObject({ state: 'completed' });
  return id;
}

// requirement E3, K2
describe('the secrets of an addition', () => {
  it('are deleted when it is cancelled', async () => {
    await open();
    const id = await add();
    const { id: approval } = await stage.approval(id);
    stage.npm.hold('.tgz');
    await stage.answer(String(approval), 'yes', { FILES_KEY: SECRET });
    await waitUntil(() => stage.npm.requests.some((path) => path.endsWith('.tgz')));
    expect(await stored()).toHaveLength(1);
    await stage.api('POST', `/api/steward/requests/${id}/cancel`, {});
    await stage.until(id, 'cancelled');
    expect(await stored()).toEqual([]);
  });

  it('are deleted when its server fails its test', async () => {
    stage = await openStewardStage({
      packages: [scriptedPackage('broken', { start: 'process.exit(3);' })],
      records: [scriptedRecord('broken', { environmentVariables: [KEY] })],
    });
    const id = await stage.request('add_server', { registryName: 'io.github.acme/broken' });
    expect(await stage.approveAll(id, { FILES_KEY: SECRET })).toMatchObject({ state: 'failed' });
    expect(await stored()).toEqual([]);
  });

  it('are stored for the answer that counts, and for no other', async () => {
    await open();
    const id = await add();
    const approval = String((await stage.approval(id)).id);
    const [no, yes] = await Promise.all([
      stage.answer(approval, 'no'),
      stage.answer(approval, 'yes', { FILES_KEY: SECRET }),
    ]);
    expect([no.status, yes.status].filter((status) => status === 200)).toHaveLength(1);
    if (no.status === 200) {
      await stage.until(id, 'failed');
      expect(await stored()).toEqual([]);
    } else expect(await stage.approveAll(id)).toMatchObject({ state: 'completed' });
  });

  it('are not those of an earlier server of the same name', async () => {
    await open({ ...KEY, isRequired: false });
    await added({ FILES_KEY: SECRET });
    expect(JSON.stringify(stage.config())).toContain('${secret:');
    const { servers: _, ...rest } = stage.config();
    stage.configure(rest);
    await added();
    expect(Object.keys(stage.config().servers as Json)).toEqual(['files']);
    expect(JSON.stringify(stage.config())).not.toContain('${secret:');
  });

  it('go when the server is removed, and only when nothing else uses them', async () => {
    await open();
    await added({ FILES_KEY: SECRET });
    const { servers } = stage.config() as { servers: Record<string, Json> };
    const copy = { ...servers.files, enabled: false };
    stage.configure({ ...stage.config(), servers: { ...servers, copy } });
    const first = await stage.request('remove_server', { serverName: 'files' });
    expect(await stage.approveAll(first)).toMatchObject({ state: 'completed' });
    expect(await stored()).toHaveLength(1);
    const second = await stage.request('remove_server', { serverName: 'copy' });
    expect(await stage.approveAll(second)).toMatchObject({ state: 'completed' });
    expect(await stored()).toEqual([]);
  });

  it('stay when a removal is refused', async () => {
    await open();
    await added({ FILES_KEY: SECRET });
    const id = await stage.request('remove_server', { serverName: 'files' });
    await stage.answer(String((await stage.approval(id)).id), 'no');
    await stage.until(id, 'failed');
    expect(await stored()).toHaveLength(1);
  });

  it('stay for the undo of a removal, which restores no entry without them', async () => {
    await open();
    await added({ FILES_KEY: SECRET });
    const { files: entry } = stage.config().servers as Record<string, Json>;
    const environment = { HOME: stage.home.path, XDG_CONFIG_HOME: stage.home.file('config') };
    const stateDir = stage.home.file('state');
    const vault = createVault({ stateDir, environment });
    const { configFile, packageRoot } = stage;
    const work = { configFile, packageRoot, cwd: stage.home.path, files: [], stateDir };
    const context = {
      request: { params: { serverName: 'files' } },
      data: { entry },
      services: { work, environment, vault },
    } as unknown as StepContext<WorkServices>;
    const [, remove] = REMOVE_STEPS;
    await remove?.run(context);
    expect(stage.config().servers ?? {}).toEqual({});
    await remove?.undo?.(context);
    expect(stage.config().servers).toEqual({ files: entry });
    expect(await stored()).toHaveLength(1);
    await remove?.run(context);
    for (const { name } of await vault.list()) await vault.delete(name);
    await expect(remove?.undo?.(context)).rejects.toThrow('stays removed');
    expect(stage.config().servers ?? {}).toEqual({});
  });
});

// requirement E4, K2
it('a secret in a change is not stored once the request has ended', async () => {
  const before = 'canary-before-4711';
  stage = await openStewardStage({
    config: { servers: { known: { ...fixture('echo'), env: { API_KEY: before } } } },
  });
  const files = (): string =>
    readdirSync(stage.home.file('state'))
      .filter((name) => name.startsWith('work.db'))
      .map((name) => readFileSync(stage.home.file(`state/${name}`), 'latin1'))
      .join('');
  const changes = { env: { API_KEY: SECRET } };
  for (const [answer, state] of [
    ['no', 'failed'],
    ['yes', 'completed'],
  ] as const) {
    const id = await stage.request('modify_server', { serverName: 'known', changes });
    const { id: approval } = await stage.approval(id);
    expect(files()).toContain(SECRET);
    await stage.answer(String(approval), answer);
    expect(JSON.stringify(await stage.until(id, state))).not.toContain(SECRET);
    await waitUntil(() => !files().includes(SECRET) && !files().includes(before));
  }
  expect(stage.config().servers).toMatchObject({ known: { env: { API_KEY: SECRET } } });
});
