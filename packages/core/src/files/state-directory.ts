/** Where Turnbuckle keeps its state between runs, by the convention of the platform. */
import { basename, dirname, join } from 'node:path';
import { absoluteOrUndefined, homeDirectory } from './home-directory.js';

/** Always absolute: a relative one would be in the current directory, where a project could ship its own. */
export function defaultStateDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const home = homeDirectory(environment);
  const { platform } = process;
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'turnbuckle');
  if (platform === 'win32')
    return join(absoluteOrUndefined(environment.LOCALAPPDATA, platform) ?? home, 'turnbuckle');
  return join(
    absoluteOrUndefined(environment.XDG_STATE_HOME, platform) ?? join(home, '.local', 'state'),
    'turnbuckle',
  );
}

/** Where the packages of installed servers are: beside the state, which no server may see. */
export const packageRootOf = (stateDir: string): string =>
  join(dirname(stateDir), `${basename(stateDir)}-servers`);
