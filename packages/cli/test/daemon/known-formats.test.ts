/** The configuration examples of other hosts' documents, with every command and through the daemon. */
import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fixture } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHome, type Home, json, programsOf, turnbuckle } from '../commands/turnbuckle.js';
import { daemonForTest } from './running-daemon.js';

const FILES = { user: '.config/turnbuckle/mcp.json', project: 'project/mcp-servers.json' };
const EXAMPLES = [
  ['servers-map', 'user'],
  ['servers-map', 'project'],
  ['servers-list', 'user'],
  ['servers-list', 'project'],
] as const;
const ENV = { GITHUB_TOKEN: 'gh-1' };

/** A home with the example, and an `npx` that starts a fixture, whatever the package. */
async function homeWith(name: string, scope: keyof typeof FILES): Promise<Home> {
  const home = await createHome();
  onTestFinished(() => home.remove());
  const text = readFileSync(
    new URL(`../../../core/test/config/documents/${name}.json`, import.meta.url),
    'utf8',
  );
  await home.write(FILES[scope], text);
  const { command, args } = fixture('echo');
  const npx = join(programsOf(home), 'npx');
  await writeFile(npx, `#!/bin/sh\nexec '${command}' '${args.join("' '")}'\n`);
  await chmod(npx, 0o755);
  return home;
}

// requirement F2
describe.each(EXAMPLES)('the example %s as a file of the %s', (name, scope) => {
  it('works with the commands, and through the daemon', async () => {
    const home = await homeWith(name, scope);
    const run = (...words: string[]) => turnbuckle(words, { home, env: ENV });
    expect((await run('config')).code).toBe(0);
    if (scope === 'project') expect((await run('trust', '--yes')).code).toBe(0);
    const github = { name: 'github', scope, status: 'connected' };
    const list = () => json<unknown[]>(['list'], { home, env: ENV });
    expect(await list()).toContainEqual(expect.objectContaining(github));
    const doctor = await json<{ checks: unknown[] }>(['doctor'], {
      home,
      env: ENV,
    });
    expect(doctor.checks).toContainEqual(expect.objectContaining({ name: 'configuration', ok: true }));
    expect(doctor.checks).toContainEqual(expect.objectContaining({ name: 'github', ok: true }));
    await daemonForTest([], { home, env: ENV });
    expect(await list()).toContainEqual(expect.objectContaining(github));
    const { stdout } = await run('call', 'github', 'echo', 'text=through');
    expect(stdout).toContain('through');
  });
});

it('the commands that edit find an entry by its name, and keep its id', async () => {
  const home = await homeWith('servers-list', 'user');
  const run = (...words: string[]) => turnbuckle(words, { home, env: ENV });
  const servers = async () => JSON.parse(await home.read(FILES.user)).servers as Array<{ name: string }>;
  const search = async () => (await servers()).find((one) => one.name === 'brave-search');
  expect((await run('enable', 'brave-search')).code).toBe(0);
  expect(await search()).toMatchObject({ id: 'web-search', enabled: true });
  expect((await run('disable', 'brave-search')).code).toBe(0);
  expect(await search()).toMatchObject({ id: 'web-search', enabled: false });
  expect((await run('add', 'brave-search', '--', 'x')).stderr).toContain('NAME_TAKEN');
  expect((await run('add', 'brave-search', '--force', '--', 'x')).code).toBe(0);
  expect(await search()).toEqual({ id: 'web-search', name: 'brave-search', command: 'x' });
  expect((await run('remove', 'brave-search')).code).toBe(0);
  expect((await servers()).map(({ name }) => name)).toEqual(['filesystem', 'github']);
});
