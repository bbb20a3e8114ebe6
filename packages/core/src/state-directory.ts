/** Where Turnbuckle keeps what it remembers between runs, by the custom of the platform. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Always absolute: a relative one would lie in the current directory, where a project could ship its own. */
export function defaultStateDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const home = absolute(environment.HOME) ?? homedir();
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support', 'turnbuckle');
  if (process.platform === 'win32') return join(absolute(environment.LOCALAPPDATA) ?? home, 'turnbuckle');
  return join(absolute(environment.XDG_STATE_HOME) ?? join(home, '.local', 'state'), 'turnbuckle');
}

const absolute = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;
