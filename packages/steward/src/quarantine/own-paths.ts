/** What belongs to a local server: the only files that it can read while it is tested. */
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

export interface OwnPathsQuery {
  /** Where it was installed, if it was. */
  readonly directory?: string | undefined;
  readonly cwd?: string | undefined;
  /** Absent: what they name is no reason to show it. */
  readonly args?: readonly string[] | undefined;
}

/** How far up a script's package is searched. */
const MAX_LEVELS = 6;
const SHARED_DIRECTORIES = ['/', '/tmp', '/var/tmp'];

/**
 * Its directory, and the package of its script. Of the other arguments only files: a directory that a server works
 * on is not its own. Never the user's home, or what contains it.
 */
export async function ownPaths({ directory, cwd, args = [] }: OwnPathsQuery): Promise<string[]> {
  const files: string[] = [];
  for (const arg of args) if (isAbsolute(arg) && (await isFile(arg))) files.push(arg);
  const [script, ...others] = files;
  const paths = [
    ...[directory, cwd].filter((path) => path !== undefined && isAbsolute(path) && !isShared(path)),
    ...(script === undefined ? [] : [await packageOf(script)]),
    ...others,
  ];
  return [...new Set(paths)].filter((path) => path !== undefined);
}

async function packageOf(script: string): Promise<string> {
  const parts = script.split(sep);
  const modules = parts.indexOf('node_modules');
  if (modules > 0) return parts.slice(0, modules + 1).join(sep);
  let directory = dirname(script);
  for (let level = 0; level < MAX_LEVELS && !isShared(directory); level += 1) {
    if (await exists(join(directory, 'package.json'))) return directory;
    directory = dirname(directory);
  }
  return isShared(dirname(script)) ? script : dirname(script);
}

/** With files of all users, or all files of this one. */
function isShared(directory: string): boolean {
  const toHome = relative(directory, homedir());
  const containsHome = toHome === '' || (!toHome.startsWith('..') && !isAbsolute(toHome));
  return containsHome || SHARED_DIRECTORIES.includes(directory);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );
