/** Cancel and pause reach an installation and a test that hang. */
import { existsSync, readdirSync } from 'node:fs';
import { timeBound, waitUntil } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { scriptedPackage, scriptedRecord } from './hostile-servers.js';
import { openStewardStage, type StewardStage } from './stage.js';
import { workerChildren } from './worker-processes.js';

const INTERRUPT_MS = timeBound(1_000);

let stage: StewardStage;
afterEach(() => stage.close());

const installed = (): string[] => (existsSync(stage.packageRoot) ? readdirSync(stage.packageRoot) : []);

/** A request in the middle of an installation whose download does not go on. */
async function hangingInstall(): Promise<string> {
  stage = await openStewardStage({
    packages: [scriptedPackage('plain')],
    records: [scriptedRecord('plain')],
  });
  const id = await stage.request('add_server', { registryName: 'io.github.acme/plain' });
  const { id: approval } = await stage.approval(id);
  stage.npm.hold('.tgz');
  await stage.answer(String(approval), 'yes');
  await waitUntil(() => stage.npm.requests.some((path) => path.endsWith('.tgz')));
  return id;
}

/** A request in the middle of a test of a server that answers nothing. */
async function hangingTest(): Promise<string> {
  const server = { start: 'setInterval(() => {}, 1_000);', onRequest: 'return;' };
  stage = await openStewardStage({
    packages: [scriptedPackage('hang', server)],
    records: [scriptedRecord('hang')],
  });
  const id = await stage.request('add_server', { registryName: 'io.github.acme/hang' });
  await stage.answer(String((await stage.approval(id)).id), 'yes');
  await waitUntil(isTesting);
  return id;
}

const isTesting = (): boolean =>
  workerChildren(stage.home.path).some((command) => command.includes('server-hang/server.js'));

// requirement E1
describe.each([
  { what: 'an installation', hang: hangingInstall },
  { what: 'a test', hang: hangingTest },
])('$what that hangs', ({ hang }) => {
  it('is cancelled within a second, and leaves nothing', async () => {
    const id = await hang();
    const before = performance.now();
    await stage.api('POST', `/api/steward/requests/${id}/cancel`, { reason: 'too slow' });
    await stage.until(id, 'cancelled');
    expect(performance.now() - before).toBeLessThan(INTERRUPT_MS);
    await waitUntil(() => workerChildren(stage.home.path).length === 0);
    expect(performance.now() - before).toBeLessThan(INTERRUPT_MS);
    expect(installed()).toEqual([]);
    expect(stage.config()).not.toHaveProperty('servers');
  });

  it('is paused within a second, and goes on afterwards', async () => {
    const id = await hang();
    const requests = stage.npm.requests.length;
    const before = performance.now();
    const { body } = await stage.api('POST', '/api/steward/pause', {});
    expect(body).toMatchObject({ paused: true });
    await waitUntil(
      () => workerChildren(stage.home.path).length === 0 && !installed().some((name) => /partial/.test(name)),
    );
    expect(performance.now() - before).toBeLessThan(INTERRUPT_MS);
    expect(await stage.status(id)).toMatchObject({ state: 'in_progress' });
    expect(stage.config()).not.toHaveProperty('servers');
    stage.npm.release();
    expect((await stage.api('POST', '/api/steward/resume', {})).body).toMatchObject({ paused: false });
    if (hang === hangingTest) return void (await waitUntil(isTesting));
    expect(await stage.approveAll(id)).toMatchObject({ state: 'completed' });
    expect(stage.npm.requests.length).toBeGreaterThan(requests);
    expect(installed()).toHaveLength(1);
  });
});
