/** Where Turnbuckle keeps what it remembers between runs, by the custom of the platform. */
import { join } from 'node:path';
import { absoluteOnly, homeDirectory } from './config/home-directory.js';

/** Always absolute: a relative one would lie in the current directory, where a project could ship its own. */
export function defaultStateDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const home = homeDirectory(environment);
  const { platform } = process;
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'turnbuckle');
  if (platform === 'win32')
    return join(absoluteOnly(environment.LOCALAPPDATA, platform) ?? home, 'turnbuckle');
  return join(
    absoluteOnly(environment.XDG_STATE_HOME, platform) ?? join(home, '.local', 'state'),
    'turnbuckle',
  );
}
