/** Paths among the values of a form: what a sandbox lets the server write because a person filled them in. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, relative, resolve } from 'node:path';
import { shellQuote } from 'turnbuckle/light';

export interface PathPlace {
  /** The home directory of the user. */
  readonly home: string;
  /** Directories of Turnbuckle itself. */
  readonly own: readonly string[];
}

/** Why a value cannot be used, as the end of a sentence about it, and what to do if that is known. */
export class PathFault extends Error {
  readonly next: string | undefined;

  constructor(message: string, next?: string) {
    super(message);
    this.next = next;
  }
}

/** A leading `~/` is the home directory, since no shell expands it for a server. */
export const expandHome = (value: string, home: string): string =>
  value === '~' || value.startsWith('~/') ? join(home, value.slice(1)) : value;

/**
 * The directory that the server may write to: the value itself, or the directory of a file, which can then be created
 * and replaced. Undefined for a value that is no absolute path. Rejects with a PathFault.
 */
export async function writableDirectory(value: string, place: PathPlace): Promise<string | undefined> {
  if (!isAbsolute(value)) return undefined;
  const path = resolve(value);
  const kind = await kindOf(path);
  if (kind === 'directory') {
    await assertGrantable(path, place, '');
    return path;
  }
  const parent = dirname(path);
  if (kind === 'nothing' && (await kindOf(parent)) !== 'directory')
    throw new PathFault(
      `its directory ${parent} does not exist`,
      `Create the directory, and approve again: mkdir -p ${shellQuote(parent)}`,
    );
  if (kind === 'nothing' && (value.endsWith('/') || extname(basename(path)) === ''))
    throw new PathFault(`${path} does not exist`, 'Create the file or directory, and approve again.');
  await assertGrantable(parent, place, `its directory ${parent} `);
  return parent;
}

async function kindOf(path: string): Promise<'directory' | 'file' | 'nothing'> {
  const facts = await stat(path).catch(() => undefined);
  return facts === undefined ? 'nothing' : facts.isDirectory() ? 'directory' : 'file';
}

async function assertGrantable(directory: string, { home, own }: PathPlace, what: string): Promise<void> {
  const real = await realpath(directory);
  const refuse = (reason: string): never => {
    const next = what === '' ? 'Use a directory' : 'Use a file in a directory';
    throw new PathFault(
      `${what}${reason}, which a server must not write to. ${next} that only this server needs`,
    );
  };
  for (const place of [directory, real]) {
    if (place === '/') refuse('is the whole file system');
    if (['/proc', '/dev', '/sys'].some((outer) => contains(outer, place))) refuse('belongs to the system');
    if (contains(place, home) || contains(place, await realpath(home).catch(() => home)))
      refuse('is your home directory, or contains it');
    if (what !== '' && ['/tmp', '/var/tmp'].includes(place)) refuse('is shared by all programs');
    if (own.some((one) => contains(one, place) || contains(place, one)))
      refuse('has files of Turnbuckle itself');
  }
}

function contains(outer: string, path: string): boolean {
  const way = relative(outer, path);
  return way === '' || (!isAbsolute(way) && way.split('/')[0] !== '..');
}
