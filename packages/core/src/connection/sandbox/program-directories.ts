/** The directories of the host's PATH: what a server could put there would be run outside of its sandbox. */
import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { UnguardableLink } from './guards.js';
import type { Mount, Shown } from './mount.js';
import { contains } from './paths.js';

/** As they are written, absolute ones only: others are looked at by nobody here. */
export const programDirectories = (path: string | undefined): string[] =>
  (path ?? '')
    .split(':')
    .filter((place) => isAbsolute(place))
    .map((place) => resolve(place));

/** Read-only mounts for those in a writable directory. What is not there yet is made first. */
export async function pathGuards(
  { source, target }: Shown,
  directories: readonly string[],
): Promise<Mount[] | UnguardableLink> {
  const mounts: Mount[] = [];
  for (const directory of directories) {
    const root = [target, source].find((one) => contains(one, directory));
    if (root !== undefined) await mkdir(directory, { recursive: true }).catch(() => {});
    const real = await realpath(directory).catch(() => undefined);
    if (real === undefined) continue;
    if (root !== undefined && join(source, relative(root, directory)) !== real)
      return new UnguardableLink(directory);
    if (contains(source, real))
      mounts.push({ kind: 'read', source: real, target: join(target, relative(source, real)) });
  }
  return mounts;
}
