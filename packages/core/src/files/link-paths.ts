import { readlink } from 'node:fs/promises';
import { dirname, join, parse, resolve, sep } from 'node:path';
import { probePath, withTimeout } from './read-file.js';

/** As many as the system follows. */
const MAX_LINKS = 40;

/**
 * Every path that determines what is read at a path: the path itself, each symbolic link on the way, including
 * directories, and the final target, whether it exists or not.
 */
export async function pathsBehindLinks(file: string): Promise<string[]> {
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

interface SymbolicLink {
  readonly path: string;
  readonly target: string;
  /** The remaining part of the path. */
  readonly rest: string;
}

async function firstLink(file: string): Promise<SymbolicLink | undefined> {
  const { root } = parse(file);
  const steps = file.slice(root.length).split(sep);
  for (let index = 0; index < steps.length; index += 1) {
    const path = join(root, ...steps.slice(0, index + 1));
    const target = await readLinkTarget(path);
    if (target !== undefined) return { path, target, rest: join(...steps.slice(index + 1), '.') };
  }
  return undefined;
}

async function readLinkTarget(path: string): Promise<string | undefined> {
  try {
    await probePath(dirname(path));
    return await withTimeout(path, () => readlink(path));
  } catch {
    // Not a link, nothing there, or on a drive that is not available.
    return undefined;
  }
}
