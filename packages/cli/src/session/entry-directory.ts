/** Relative paths of a new server refer to the current directory, wherever it is started later. */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { findRelativePaths } from 'turnbuckle/host';

type Entry = Readonly<Record<string, unknown>>;

export interface ResolvedEntry {
  readonly entry: Entry;
  /** A note for the user; undefined when nothing depends on the directory. */
  readonly notice?: string;
}

/** With `cwd` where it needs one. A project's file stays portable: there it is named from the project's directory. */
export function resolveEntryDirectory(entry: Entry, file: string, isProject: boolean): ResolvedEntry {
  const here = process.cwd();
  if (typeof entry.cwd === 'string') {
    if (isProject || isAbsolute(entry.cwd) || entry.cwd.startsWith('${')) return { entry };
    const cwd = resolve(entry.cwd);
    return { entry: { ...entry, cwd }, notice: `The server runs in ${cwd}.` };
  }
  const [word] = findRelativePaths(entry, (path) => existsSync(resolve(path)));
  if (word === undefined) return { entry };
  // Relative paths of a project's server are meant from the directory that has its .turnbuckle.
  const cwd = isProject
    ? relative(dirname(dirname(file)), here)
        .split(sep)
        .join('/')
    : here;
  const why = `"${word}" is relative to this directory`;
  if (cwd === '') return { entry };
  return {
    entry: { ...entry, cwd },
    notice: `The server runs in ${cwd} because ${why}. To change the directory, set "cwd" in ${file}.`,
  };
}
