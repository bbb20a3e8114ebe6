/** Where clients keep their files on each platform. Pure: the machine comes in as a value. */
import { posix, win32 } from 'node:path';
/** Ways to name places on one machine. */
export function lookAround(place) {
  const { platform, home, env, cwd } = place;
  const { join, dirname } = platform === 'win32' ? win32 : posix;
  const under = (scope, within, parts) => ({
    scope,
    path: join(within, ...parts),
    within,
  });
  const configFolder = filled(env.XDG_CONFIG_HOME) ?? join(home, '.config');
  return {
    place,
    join,
    home: (...parts) => under('user', home, parts),
    config: (...parts) => under('user', configFolder, parts),
    appData: (...parts) => under('user', appDataFolder(place, join, configFolder), parts),
    project: (...parts) => under('project', cwd, parts),
    given(variable, ...parts) {
      const folder = filled(env[variable]);
      if (folder === undefined) return [];
      return parts.length > 0
        ? [under('user', folder, parts)]
        : [{ scope: 'user', path: folder, within: dirname(folder) }];
    },
    managed: (folders, ...parts) =>
      under('managed', folders[platform === 'darwin' || platform === 'win32' ? platform : 'linux'], parts),
  };
}
const filled = (value) => (value === '' ? undefined : value);
function appDataFolder({ platform, home, env }, join, configFolder) {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return filled(env.APPDATA) ?? join(home, 'AppData', 'Roaming');
  return configFolder;
}
//# sourceMappingURL=lookout.js.map
