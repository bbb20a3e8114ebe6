/** Paths of a sandbox, as texts: containment, and the meaning of a written path. */
import { isAbsolute, join, relative, resolve, sep } from 'node:path';

/** True for the directory itself and for everything below it. */
export function contains(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** `~` is the home directory of the host's user; relative paths start at the server's directory. */
export function toAbsolute(written: string, { base, home }: { base: string; home: string }): string {
  if (written === '~' || written.startsWith('~/')) return join(home, written.slice(1));
  return resolve(base, written);
}

/** The number of directories in the path. */
export const depthOf = (path: string): number => path.split(sep).filter((part) => part !== '').length;

/** The directories between the two, outermost first, excluding both. */
export function directoriesBetween(outer: string, inner: string): string[] {
  const parts = relative(outer, inner).split(sep).slice(0, -1);
  return parts.map((_, index) => join(outer, ...parts.slice(0, index + 1)));
}
