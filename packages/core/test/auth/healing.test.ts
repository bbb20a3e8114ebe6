import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { createConfiguredRuntime, type Runtime } from 'turnbuckle';
import { createVault, type Vault } from 'turnbuckle/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { retryableOnce } from '../../src/async/retryable-once.js';
import { type Stage, setStage } from './stage.js';

const OAUTH = { type: 'oauth' };

/** A vault that cannot be opened until it is repaired, such as one whose key is in a locked keychain. */
function brokenVault(stateDir: string) {
  const state = { broken: true, opened: 0 };
  const vault = async (): Promise<Vault> => {
    state.opened += 1;
    if (state.broken) throw new Error('The keychain is locked.');
    return createVault({ stateDir, environment: { TURNBUCKLE_KEYCHAIN: 'off' } });
  };
  return { state, vault };
}

const works = async (runtime: Runtime): Promise<boolean> =>
  (await runtime.execute('mcp__web__echo', { text: 'x' })).success;

/** Calls fail while the vault is broken, and succeed after its repair without a restart. */
async function expectRecovery(runtime: Runtime, repairVault: () => Promise<void> | void): Promise<void> {
  await runtime.connectAll();
  for (let call = 0; call < 3; call += 1) expect(await works(runtime)).toBe(false);
  await repairVault();
  await waitUntil(() => works(runtime), 30_000);
  expect(runtime.serverStatus('web')).toMatchObject({ status: 'connected' });
}

async function signedIn(): Promise<Stage> {
  const stage = await setStage();
  const first = await stage.open();
  await first.signIn('web', { prompts: stage.prompts });
  await first.close();
  return stage;
}

describe('a vault that fails first and works later needs no restart', () => {
  it.each([OAUTH, undefined])('in a runtime, auth %j', async (auth) => {
    const stage = await signedIn();
    const { state, vault } = brokenVault(stage.stateDir);
    const runtime = await stage.open(auth, { vault, breaker: { openMs: 100 } });
    await expectRecovery(runtime, () => {
      state.broken = false;
    });
    // Opened once: a success is cached, a failure is not.
    const { opened } = state;
    for (let call = 0; call < 5; call += 1) expect(await works(runtime)).toBe(true);
    expect(state.opened).toBe(opened);
  });

  it('in a runtime from files', async () => {
    const stage = await signedIn();
    const { state, vault } = brokenVault(stage.stateDir);
    const project = await temporaryDirectory();
    onTestFinished(() => project.remove());
    const entry = { type: 'http', url: stage.server.url, auth: OAUTH };
    await writeFile(project.file('own.json'), JSON.stringify({ mcpServers: { web: entry } }));
    const { runtime } = await createConfiguredRuntime({
      cwd: project.path,
      files: [project.file('own.json')],
      stateDir: stage.stateDir,
      environment: { HOME: project.path },
      breaker: { openMs: 100 },
      vault,
    });
    onTestFinished(() => runtime.close());
    await expectRecovery(runtime, () => {
      state.broken = false;
    });
  });

  it('when its file is temporarily unreadable', async () => {
    const stage = await signedIn();
    const file = join(stage.stateDir, 'vault.json');
    await rename(file, `${file}.away`);
    await mkdir(file, { mode: 0o700 });
    const runtime = await stage.open(OAUTH, { breaker: { openMs: 100 } });
    await expectRecovery(runtime, async () => {
      await rm(file, { recursive: true });
      await rename(`${file}.away`, file);
    });
  });

  it('and the user can sign in afterwards', async () => {
    const stage = await setStage();
    const { state, vault } = brokenVault(stage.stateDir);
    const runtime = await stage.open(undefined, { vault });
    await expect(runtime.signIn('web', { prompts: stage.prompts })).rejects.toThrow();
    state.broken = false;
    expect(await runtime.signIn('web', { prompts: stage.prompts })).toBe(true);
    expect(await works(runtime)).toBe(true);
  });
});

describe('a value that is loaded once', () => {
  it('is shared by all callers, and loaded again after a failure', async () => {
    let tries = 0;
    const load = retryableOnce(async () => {
      tries += 1;
      if (tries < 3) throw new Error(`try ${tries}`);
      return tries;
    });
    for (const round of [1, 2]) {
      const settled = await Promise.allSettled([load(), load(), load()]);
      expect(settled.map((one) => String(Reflect.get(one, 'reason')))).toEqual(
        Array.from({ length: 3 }, () => `Error: try ${round}`),
      );
    }
    expect(await Promise.all([load(), load()])).toEqual([3, 3]);
    expect(await load()).toBe(3);
  });

  it('is loaded again after a synchronous throw too', async () => {
    let broken = true;
    const load = retryableOnce<string>(() => {
      if (broken) throw new Error('at once');
      return Promise.resolve('there');
    });
    await expect(load()).rejects.toThrow('at once');
    broken = false;
    expect(await load()).toBe('there');
  });
});
