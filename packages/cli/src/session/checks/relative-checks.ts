/** What `doctor` reports about entries with relative paths. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ConfiguredServer, findRelativePaths } from 'turnbuckle/host';
import type { Check } from './check.js';

/** `elsewhere` is the directory of the daemon, if one runs. */
export function checkRelativePaths(server: ConfiguredServer | undefined, elsewhere?: string): Check[] {
  if (server === undefined || server.config?.enabled === false) return [];
  const word = relativeWord(server, elsewhere);
  if (word === undefined) return [];
  const { name, origin } = server;
  const here = `"${word}" is relative to the directory in which the server starts. This command starts it in ${process.cwd()}`;
  const there =
    elsewhere === undefined
      ? "a daemon starts it in the daemon's working directory"
      : `the daemon starts it in ${elsewhere}`;
  const next = `Set "cwd" in ${origin.file} to always use the same directory.`;
  return [{ name, ok: true, warns: true, what: `${here}, and ${there}`, next }];
}

/** A project's servers are started in its directory, and what was typed just now means this one. */
function relativeWord({ entry, origin }: ConfiguredServer, elsewhere = '.'): string | undefined {
  const { scope, file } = origin;
  if (scope === 'project' || scope === 'local' || file === 'the command line') return undefined;
  if (typeof entry.cwd === 'string') return undefined;
  const exists = (path: string): boolean => existsSync(path) || existsSync(resolve(elsewhere, path));
  const [word] = findRelativePaths(entry, exists);
  if (word !== undefined) return word;
  const { command, args, env } = entry;
  return typeof command === 'string' && JSON.stringify([command, args, env]).includes(WORKSPACE)
    ? WORKSPACE
    : undefined;
}

const WORKSPACE = '${workspaceFolder}';
