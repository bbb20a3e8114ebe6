/** Which configuration file a command writes to. */
import { basename, dirname, join, resolve } from 'node:path';
import { type LoadedConfig, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';
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
      `--scope "${String(scope)}" is not one of ${SCOPES.join(', ')}.`,
      { hint: 'user: for you everywhere; project: for all who work in it; local: for you in this project.' },
    );
  }
  return fileOfScope(scope as WritableScope, config);
}

/** The file of a scope; a project that has none yet gets it in the current directory. */
export function fileOfScope(scope: WritableScope, { layers }: LoadedConfig): string {
  const found = layers.find(({ layer }) => layer.scope === scope && isOwn(layer.file));
  if (found !== undefined) return found.layer.file;
  return join(resolve('.turnbuckle'), scope === 'local' ? 'mcp.local.json' : 'mcp.json');
}

/** The file that a server stands in, if it is one that may be written. */
export function fileOfServer(name: string, config: LoadedConfig): string {
  const server = config.servers.get(name);
  if (server === undefined) throw unknownServer(name, [...config.servers.keys()]);
  const { scope, file } = server.origin;
  if (scope !== 'managed' && file !== 'the command line') return file;
  throw new TurnbuckleError(
    'CONFIG_INVALID',
    `Server "${name}" comes from ${file} and cannot be changed here.`,
    { server: name, hint: 'turnbuckle config shows where each server comes from.' },
  );
}

/** Not the `mcp-servers.json` that may lie beside it for the sake of other programs. */
const isOwn = (file: string): boolean => /^\.?turnbuckle$/.test(basename(dirname(file)));
