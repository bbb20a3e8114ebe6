/** Which configuration file a command writes to. */
import { basename, dirname, join, resolve } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import type { LoadedConfig } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { unknownServer } from './unknown-server.js';

type WritableScope = 'user' | 'project' | 'local';

const SCOPES: readonly string[] = ['user', 'project', 'local'] satisfies WritableScope[];

/** The file of the scope that was asked for, or undefined when none was. */
export function fileOfFlag({ flags }: CommandContext, config: LoadedConfig): string | undefined {
  const { scope } = flags;
  if (scope === undefined) return undefined;
  if (typeof scope !== 'string' || !SCOPES.includes(scope)) {
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `Invalid --scope "${String(scope)}": expected "user", "project" or "local".`,
      {
        hint: '"user" applies to you in every project, "project" to everyone in this project, and "local" only to you in this project.',
      },
    );
  }
  return fileOfScope(scope as WritableScope, config);
}

/** The file of a scope; a project that has none yet gets it in the current directory. */
export function fileOfScope(scope: WritableScope, { layers }: LoadedConfig): string {
  const found = layers.find(({ layer }) => layer.scope === scope && isTurnbuckleFile(layer.file));
  if (found !== undefined) return found.layer.file;
  return join(resolve('.turnbuckle'), scope === 'local' ? 'mcp.local.json' : 'mcp.json');
}

/** The file that defines a server, if it may be written. */
export function fileOfServer(name: string, config: LoadedConfig): string {
  const server = config.servers.get(name);
  if (server === undefined) throw unknownServer(name, [...config.servers.keys()]);
  const { scope, file } = server.origin;
  if (scope !== 'managed' && file !== 'the command line') return file;
  throw new TurnbuckleError(
    'CONFIG_INVALID',
    `Server "${name}" comes from ${file} and cannot be changed here.`,
    { server: name, hint: 'Show where each server is defined: turnbuckle config' },
  );
}

/** Not the `mcp-servers.json` that may be next to it for other programs. */
const isTurnbuckleFile = (file: string): boolean => /^\.?turnbuckle$/.test(basename(dirname(file)));
