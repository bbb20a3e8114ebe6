/** The servers of the configuration, as the steward sees them: read again for each step, since anybody may change them. */
import { TurnbuckleError } from 'turnbuckle';
import { type ConfiguredServer, compileGlob, type LoadedConfig, loadConfiguration } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
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
  if (problem !== undefined || kept)
    throw problem ?? new Error("The server's configuration is no longer valid.");
}

/** SERVER_DISABLED, or CALL_DENIED if a rule denies all of it: a test would start it with its secrets. */
export function requireStartable(
  { name, config }: ConfiguredServer,
  { rules }: Pick<LoadedConfig, 'rules'>,
): void {
  if (config?.enabled === false)
    throw new TurnbuckleError('SERVER_DISABLED', `Server "${name}" is disabled, so it was not started.`, {
      server: name,
      hint: `Enable it, then test it again: turnbuckle enable ${shellQuote(name)}`,
    });
  if (isDenied(name, rules))
    throw new TurnbuckleError(
      'CALL_DENIED',
      `A rule denies all of server "${name}", so it was not started.`,
      {
        server: name,
        hint: 'Change the rule in your config file if the server may be used.',
      },
    );
}

/** Whether the first rule that matches any call of the server denies all of them. */
function isDenied(server: string, rules: LoadedConfig['rules']): boolean {
  for (const { rule } of rules) {
    const { action, server: servers, tool, reason: _, ...conditions } = rule;
    if (servers !== undefined && !matchesAny(servers, server)) continue;
    if (action !== 'deny') return false;
    if (
      Object.keys(conditions).length === 0 &&
      (tool === undefined || [tool].flat().some((glob) => /^\*+$/.test(String(glob))))
    )
      return true;
  }
  return false;
}

const matchesAny = (globs: string | readonly string[], text: string): boolean =>
  [globs].flat().some((glob) => compileGlob(String(glob), { crossSlashes: true })(text));

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
