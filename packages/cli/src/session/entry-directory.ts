/** A server as it was typed means the files of the directory where it was typed, whoever starts it later, and where. */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { relativeWords } from 'turnbuckle';

type Entry = Readonly<Record<string, unknown>>;

export interface PlacedEntry {
  readonly entry: Entry;
  /** Said to whoever typed it; undefined when nothing depends on the directory. */
  readonly told?: string;
}

/** With `cwd` where it needs one. A project's file stays portable: there it is named from the project's directory. */
export function placeEntry(entry: Entry, file: string, isProject: boolean): PlacedEntry {
  const here = process.cwd();
  if (typeof entry.cwd === 'string') {
    if (isProject || isAbsolute(entry.cwd) || entry.cwd.startsWith('${')) return { entry };
    const cwd = resolve(entry.cwd);
    return { entry: { ...entry, cwd }, told: `It runs in ${cwd}.` };
  }
  const [word] = relativeWords(entry, (path) => existsSync(resolve(path)));
  if (word === undefined) return { entry };
  // Relative paths of a project's server are meant from the directory that has its .turnbuckle.
  const cwd = isProject
    ? relative(dirname(dirname(file)), here)
        .split(sep)
        .join('/')
    : here;
  const why = `that is where "${word}" is meant from`;
  if (cwd === '') return { entry };
  return { entry: { ...entry, cwd }, told: `It runs in ${cwd}: ${why}. Another directory: "cwd" in ${file}` };
}
