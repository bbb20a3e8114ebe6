/** An unreachable file is not an empty one: it may contain rules that protect the user. */
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { whyUnreadable } from '../../src/files/read-file.js';
import { follow, lazyServers, namesOf } from './followed.js';
import { createSetting, type Setting } from './setting.js';

const NOWHERE = whyUnreadable(Object.assign(new Error(), { code: 'EDANGLING' }));
const NO_DIRECTORY = 'a part of its path is not a directory';

/** What happens to an existing file. */
const LOST: ReadonlyArray<readonly [what: string, why: string, lose: (file: string) => Promise<unknown>]> = [
  ['a dangling link', NOWHERE, (file) => replace(file, (path) => symlink(`${path}.away`, path))],
  [
    'a directory that is a dangling link',
    NOWHERE,
    (file) => replace(dirname(file), (path) => symlink(join(path, '..', 'away'), path)),
  ],
  [
    'a file in the place of its directory',
    NO_DIRECTORY,
    (file) => replace(dirname(file), (path) => writeFile(path, 'x')),
  ],
];

async function replace(path: string, make: (path: string) => Promise<unknown>): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await mkdir(dirname(path), { recursive: true });
  await make(path);
}

/** The file of each layer, on Windows: only there can all locations be set. */
const LAYERS: ReadonlyArray<readonly [scope: string, file: (setting: Setting) => string]> = [
  ['user', ({ home }) => join(home, 'app', 'turnbuckle', 'mcp.json')],
  ['project', ({ projectFile }) => projectFile],
  ['local', ({ localFile }) => localFile],
  ['environment', ({ home }) => join(home, 'named', 'env.json')],
  ['flags', ({ home }) => join(home, 'given', 'flag.json')],
  ['managed', ({ home }) => join(home, 'pd', 'turnbuckle', 'managed-mcp.json')],
];

const load = (setting: Setting, previous?: Awaited<ReturnType<typeof loadConfig>>) => {
  const { home, project: cwd } = setting;
  const named = Object.fromEntries(LAYERS.map(([scope, file]) => [scope, file(setting)]));
  const isUsed = (scope: string): boolean => setting.environment[scope] === 'yes';
  return loadConfig({
    ...{ cwd, home, platform: 'win32', trust: { isTrusted: async () => true }, previous },
    environment: {
      ...{ APPDATA: `${home}/app`, PROGRAMDATA: `${home}/pd` },
      ...(isUsed('environment') && { MCP_CONFIG_PATH: named.environment }),
    },
    ...(isUsed('flags') && { files: [String(named.flags)] }),
  });
};

describe.skipIf(process.platform === 'win32').each(LOST)('%s', (_what, why, lose) => {
  it.each(LAYERS)(
    'is a problem of the %s file, and its previous content stays in effect',
    async (scope, place) => {
      const setting = await createSetting();
      setting.environment[scope] = 'yes';
      const file = place(setting);
      await setting.write(file, { ...lazyServers('kept'), rules: [{ action: 'deny', tool: 'x' }] });
      const before = await load(setting);
      expect([before.problems, before.rules.length, before.servers.has('kept')]).toEqual([[], 1, true]);
      await lose(file);
      const fresh = await load(setting);
      const problem = fresh.problems.find(({ data }) => data?.file === file);
      expect(problem).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(why) });
      const after = await load(setting, before);
      expect(after.problems[0]?.message).toContain(why);
      expect(after.rules).toEqual(before.rules);
      expect(after.servers.get('kept')?.config).toBeDefined();
    },
  );

  it('changes nothing in a runtime that follows its files, until the file is removed or restored', async () => {
    const setting = await createSetting();
    const { write, userFile } = setting;
    await write(userFile, { ...lazyServers('kept'), rules: [{ action: 'deny', tool: 'echo' }] });
    const followed = await follow(setting);
    await lose(userFile);
    await waitUntil(() => followed.config().problems.length > 0, 20_000);
    expect(followed.config().problems[0]?.message).toContain(why);
    expect(namesOf(followed)).toEqual(['kept']);
    await expect(followed.runtime.callTool('kept', 'echo', {})).rejects.toMatchObject({
      code: 'CALL_DENIED',
    });
    await rm(dirname(userFile), { recursive: true, force: true });
    await write('again/mcp.json', lazyServers('kept', 'new'));
    await rename(join(setting.home, 'again'), dirname(userFile));
    await waitUntil(() => namesOf(followed).length === 2, 20_000);
    expect(followed.config().problems).toEqual([]);
  }, 60_000);
});

it.skipIf(process.platform === 'win32')(
  'without a home directory there is no file, and no problem',
  async () => {
    const { load: loadFrom, environment } = await createSetting();
    for (const HOME of ['/dev/null', '/nonexistent/home'])
      expect((await loadFrom({ environment: { ...environment, HOME } })).problems).toEqual([]);
  },
);
