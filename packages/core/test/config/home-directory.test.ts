/** An empty or relative variable must not turn a project's directory into the user's own. */
import { execFileSync } from 'node:child_process';
import { homedir, userInfo } from 'node:os';
import { posix, win32 } from 'node:path';
import { defaultStateDirectory, homeDirectory } from 'turnbuckle/host';
import { expect, it } from 'vitest';
import { findLayers } from '../../src/config/layers/layers.js';

const VARIABLES = [
  'HOME',
  'USERPROFILE',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
];
const VALUES = ['', '.', '..', 'relative', './relative', '~'];

it.each(VARIABLES.flatMap((name) => VALUES.map((value) => [name, value] as const)))(
  '%s=%j counts as unset',
  (name, value) => {
    const places = (environment: Record<string, string>): string[] => {
      const home = homeDirectory(environment);
      const layers = (['linux', 'darwin', 'win32'] as const).flatMap((platform) =>
        findLayers({ cwd: '/strange', home, platform, environment, exists: () => false }),
      );
      const own = layers.filter(({ scope }) => scope === 'user' || scope === 'managed');
      return [home, defaultStateDirectory(environment), ...own.map(({ file }) => file)];
    };
    const found = places({ [name]: value });
    expect(found).toEqual(places({}));
    for (const path of found)
      expect([path, posix.isAbsolute(path) || win32.isAbsolute(path)]).toEqual([path, true]);
  },
);

it('takes the one that is set, else that of the process, else that of the system', () => {
  expect(homeDirectory({ HOME: '/some/where' })).toBe('/some/where');
  expect(homeDirectory({})).toBe(homedir());
  const module = new URL('../../dist/host/index.js', import.meta.url).href;
  const ask = `import { homeDirectory } from ${JSON.stringify(module)}; console.log(homeDirectory(process.env));`;
  for (const HOME of ['', 'relative']) {
    const env = { PATH: process.env.PATH, HOME };
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', ask], {
      env,
      encoding: 'utf8',
    });
    expect([HOME, said.trim()]).toEqual([HOME, userInfo().homedir]);
  }
});
