/** The servers of the configuration, as the steward sees them: read again for each step, since anybody may change them. */
import { TurnbuckleError } from 'turnbuckle';
import { type ConfiguredServer, type LoadedConfig, loadConfiguration } from 'turnbuckle/host';
import type { WorkServices } from './services.js';

export const readConfiguration = ({
  work: { cwd, files, stateDir },
  environment,
}: Pick<WorkServices, 'work' | 'environment'>): Promise<LoadedConfig> =>
  loadConfiguration({ cwd, files, stateDir, environment });

/** SERVER_UNKNOWN without it. */
export function requireServer({ servers }: LoadedConfig, name: string): ConfiguredServer {
  const found = servers.get(name);
  if (found !== undefined) return found;
  throw new TurnbuckleError('SERVER_UNKNOWN', `There is no server "${name}" in the configuration.`, {
    server: name,
    hint: 'List the configured servers: turnbuckle list',
  });
}

/** Throws what keeps a server from being started, such as TRUST_REQUIRED: a test starts it, too. */
export function requireUsable({ problem, kept }: ConfiguredServer): void {
  if (problem !== undefined || kept) throw problem ?? new Error('The entry of the server became invalid.');
}

/** The steward changes the user's own file only. */
export function requireOwnFile(
  { name, origin }: ConfiguredServer,
  { work }: Pick<WorkServices, 'work'>,
): void {
  if (origin.file === work.configFile) return;
  throw new TurnbuckleError(
    'CONFIG_INVALID',
    `Server "${name}" is defined in ${origin.file}, which the steward does not change.`,
    { server: name, hint: `Change it by hand, or move it to ${work.configFile}.` },
  );
}
