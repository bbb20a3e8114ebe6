import { readlink } from 'node:fs/promises';
import { dirname, join, parse, resolve, sep } from 'node:path';
import { inTime, reach } from './read-file.js';

/** As many as the system follows. */
const MAX_LINKS = 40;

/**
 * All that decides what is read under a path: the path itself, each symbolic link on the way, in directories
 * too, and what is behind the last one, there or not.
 */
export async function pathsTo(file: string): Promise<string[]> {
  const found = [file];
  let current = file;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const link = await firstLink(current);
    if (link === undefined) break;
    found.push(link.path);
    current = join(resolve(dirname(link.path), link.target), link.rest);
  }
  return [...new Set([...found, current])];
}

interface FoundLink {
  readonly path: string;
  readonly target: string;
  /** What of the way comes after it. */
  readonly rest: string;
}

async function firstLink(file: string): Promise<FoundLink | undefined> {
  const { root } = parse(file);
  const steps = file.slice(root.length).split(sep);
  for (let index = 0; index < steps.length; index += 1) {
    const path = join(root, ...steps.slice(0, index + 1));
    const target = await targetOf(path);
    if (target !== undefined) return { path, target, rest: join(...steps.slice(index + 1), '.') };
  }
  return undefined;
}

async function targetOf(path: string): Promise<string | undefined> {
  try {
    await reach(dirname(path));
    return await inTime(path, () => readlink(path));
  } catch {
    // No link, nothing there, or on a drive that is away.
    return undefined;
  }
}
