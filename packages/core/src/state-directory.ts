/** Where Turnbuckle keeps what it remembers between runs, by the custom of the platform. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function defaultStateDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const home = environment.HOME ?? homedir();
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support', 'turnbuckle');
  if (process.platform === 'win32') return join(environment.LOCALAPPDATA ?? home, 'turnbuckle');
  return join(environment.XDG_STATE_HOME ?? join(home, '.local', 'state'), 'turnbuckle');
}
