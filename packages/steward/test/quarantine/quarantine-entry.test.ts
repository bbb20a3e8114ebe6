import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownPaths } from '../../src/quarantine/own-paths.js';
import { type ConfigEntry, quarantineEntry } from '../../src/quarantine/quarantine-entry.js';
import { TEST_LIMITS } from '../../src/quarantine/test-limits.js';
import { ownDirectory } from './stage.js';

async function writeFiles(...names: readonly string[]): Promise<(name: string) => string> {
  const { path } = await ownDirectory();
  for (const name of names) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), '');
  }
  return (name) => join(path, name);
}

describe('what belongs to a server', () => {
  it('is the package of its script', async () => {
    const at = await writeFiles('app/package.json', 'app/dist/server.js', 'data.json');
    expect(await ownPaths({ args: [at('app/dist/server.js'), at('data.json')] })).toEqual([
      at('app'),
      at('data.json'),
    ]);
  });

  it('is the directory of packages that it is installed in', async () => {
    const at = await writeFiles('x/node_modules/server/package.json', 'x/node_modules/server/bin.js');
    expect(await ownPaths({ args: [at('x/node_modules/server/bin.js')] })).toEqual([at('x/node_modules')]);
  });

  it('is its working directory and where it was installed', async () => {
    const at = await writeFiles('a/file', 'b/file');
    expect(await ownPaths({ directory: at('a'), cwd: at('b'), args: ['--flag'] })).toEqual([
      at('a'),
      at('b'),
    ]);
  });

  it('is never a directory that it works on, the home of the user, or what contains it', async () => {
    const at = await writeFiles('documents/letter');
    expect(await ownPaths({ args: [at('documents'), 'relative.js'] })).toEqual([]);
    expect(await ownPaths({ directory: homedir(), cwd: '/', args: [] })).toEqual([]);
    expect(await ownPaths({ directory: '/tmp', cwd: dirname(homedir()), args: [] })).toEqual([]);
  });
});

describe('the entry of a tested server', () => {
  const toEntry = (entry: ConfigEntry, isSandboxed = true): Promise<unknown> =>
    quarantineEntry(entry, {
      name: 'tested',
      environment: { KEY: 'value' },
      limits: TEST_LIMITS,
      isSandboxed,
      allowNetwork: false,
      workDirectory: '/work',
    });

  it('has no network and writes nothing, whatever its own sandbox allows', async () => {
    const sandbox = { preset: 'standard', network: true, read: ['/data'], write: ['/out'] };
    expect(await toEntry({ command: 'run', sandbox })).toMatchObject({
      sandbox: { preset: 'strict', network: false, read: ['/data', '/out'], write: [], home: 'empty' },
      cwd: '/work',
      endDetached: true,
    });
  });

  it('keeps nothing that widens or narrows what is tested', async () => {
    const entry = {
      command: 'run',
      trusted: true,
      excludeTools: ['a'],
      mayAsk: ['sampling'],
      credentials: {},
    };
    const tested = await toEntry(entry, false);
    expect(tested).toMatchObject({ mayAsk: [], start: 'lazy', reconnect: { tries: 0 } });
    for (const key of ['trusted', 'excludeTools', 'credentials', 'sandbox'])
      expect(tested).not.toHaveProperty(key);
  });

  it('has its placeholders filled in, in all places', async () => {
    const tested = await toEntry({ url: 'http://127.0.0.1/${KEY}', headers: { a: '${secret:KEY}' } });
    expect(tested).toMatchObject({ url: 'http://127.0.0.1/value', headers: { a: 'value' } });
    expect(tested).not.toHaveProperty('cwd');
  });
});
