import { readlinkSync } from 'node:fs';
import { dirname, join, parse, resolve, sep } from 'node:path';

/** As many as the system follows. */
const MAX_LINKS = 40;

/**
 * All that decides what is read under a path: the path itself, each symbolic link on the way, in directories
 * too, and what is behind the last one, there or not.
 */
export function pathsTo(file: string): string[] {
  const found = [file];
  let current = file;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const link = firstLink(current);
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

function firstLink(file: string): FoundLink | undefined {
  const { root } = parse(file);
  const steps = file.slice(root.length).split(sep);
  for (let index = 0; index < steps.length; index += 1) {
    const path = join(root, ...steps.slice(0, index + 1));
    const target = targetOf(path);
    if (target !== undefined) return { path, target, rest: join(...steps.slice(index + 1), '.') };
  }
  return undefined;
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // No link, or nothing there.
    return undefined;
  }
}
