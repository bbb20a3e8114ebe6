/** What `doctor` says of entries that mean other files wherever their server is started. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ConfiguredServer, relativeWords } from 'turnbuckle';
import type { Check } from './check.js';

/** `elsewhere` is the directory of the daemon, if one runs. */
export function checkRelative(server: ConfiguredServer | undefined, elsewhere?: string): Check[] {
  if (server === undefined || server.config?.enabled === false) return [];
  const word = looseWord(server, elsewhere);
  if (word === undefined) return [];
  const { name, origin } = server;
  const here = `"${word}" in its entry is meant from where it is started: here ${process.cwd()}`;
  const there = elsewhere === undefined ? 'a daemon means its own' : `with the daemon ${elsewhere}`;
  const next = `Say which directory is meant: "cwd" in ${origin.file}`;
  return [{ name, ok: true, warns: true, what: `${here}, ${there}`, next }];
}

/** A project's servers are started in its directory, and what was typed just now means this one. */
function looseWord({ entry, origin }: ConfiguredServer, elsewhere = '.'): string | undefined {
  const { scope, file } = origin;
  if (scope === 'project' || scope === 'local' || file === 'the command line') return undefined;
  if (typeof entry.cwd === 'string') return undefined;
  const exists = (path: string): boolean => existsSync(path) || existsSync(resolve(elsewhere, path));
  const [word] = relativeWords(entry, exists);
  if (word !== undefined) return word;
  const { command, args, env } = entry;
  return typeof command === 'string' && JSON.stringify([command, args, env]).includes(WORKSPACE)
    ? WORKSPACE
    : undefined;
}

const WORKSPACE = '${workspaceFolder}';
