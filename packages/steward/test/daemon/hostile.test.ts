/** Hostile packages and servers, from the request to its error: nothing of them stays. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAILING, REFUSED } from './hostile-packages.js';
import { scriptedRecord } from './hostile-servers.js';
import { type Json, openStewardStage, type StewardStage } from './stage.js';

let stage: StewardStage;
beforeAll(async () => {
  const all = [...REFUSED, ...FAILING];
  stage = await openStewardStage({
    packages: all.flatMap(({ package: one }) => one ?? []),
    records: all.map(({ name, record }) => scriptedRecord(name, record)),
    config: { servers: { known: fixture('echo') } },
  });
  // The name of its tool must be known when the workers start.
  const call = { server: 'known', tool_name: 'echo', arguments: { text: 'x' } };
  await waitUntil(async () => (await stage.api('POST', '/mcp/call', call)).status === 200);
});
afterAll(() => stage.close());

/** The files that a package could have left: all but the daemon's own. */
const outside = (): string[] =>
  readdirSync(stage.home.path, { recursive: true, encoding: 'utf8' })
    .filter((path) => !/^state(\/|$)/.test(path))
    .sort();
const installed = (): string[] => (existsSync(stage.packageRoot) ? readdirSync(stage.packageRoot) : []);

async function expectNothingChanged(before: { config: string; files: string[] }): Promise<void> {
  expect(readFileSync(stage.configFile, 'utf8')).toBe(before.config);
  expect(installed()).toEqual([]);
  expect(outside().filter((path) => path !== 'state-servers')).toEqual(before.files);
  const { body } = await stage.api('GET', '/api/servers');
  expect((body.servers as Json[]).map(({ name }) => name)).toEqual(['known']);
}
const look = () => ({
  config: readFileSync(stage.configFile, 'utf8'),
  files: outside().filter((path) => path !== 'state-servers'),
});

// requirement E3, E4
describe('a hostile package', () => {
  it.each(REFUSED)('with $what is refused', async ({ name, error, exact }) => {
    const before = look();
    const one = { type: 'npm', identifier: `@acme/server-${name}`, version: '1.0.0', ...exact };
    const params = exact === undefined ? { registryName: `io.github.acme/${name}` } : { package: one };
    const id = await stage.request('add_server', params);
    const status = await stage.until(id, 'failed', 'completed', 'approval');
    expect(status).toMatchObject({ state: 'failed', error: { code: expect.any(String) } });
    expect((status.error as Json).message).toContain(error);
    expect((status.error as Json).hint).toEqual(expect.any(String));
    await expectNothingChanged(before);
    expect(stage.npm.requests.filter((path) => path.endsWith('.tgz'))).toEqual([]);
  });

  it.each(FAILING)('with $what is removed again', async ({ name, error }) => {
    const before = look();
    const id = await stage.request('add_server', { registryName: `io.github.acme/${name}` });
    const { id: approval } = await stage.approval(id);
    await stage.answer(String(approval), 'yes');
    const status = await stage.until(id, 'failed', 'completed', 'approval');
    expect(status).toMatchObject({ state: 'failed' });
    expect((status.error as Json).message).toContain(error);
    await expectNothingChanged(before);
  });
});
