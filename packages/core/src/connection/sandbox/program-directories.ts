/** The directories of the host's PATH, and of installed servers: what a server puts there would run outside its sandbox. */
import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { HostMount, Mount } from './mount.js';
import { contains } from './paths.js';
import { UnprotectableLink } from './protected-files.js';

/** As written, absolute ones only: relative ones are not searched here. */
export const programDirectories = (path: string | undefined): string[] =>
  (path ?? '')
    .split(':')
    .filter((place) => isAbsolute(place))
    .map((place) => resolve(place));

/** Read-only mounts for those in a writable directory. Missing ones are created first. */
export async function programDirectoryMounts(
  { source, target }: HostMount,
  directories: readonly string[],
): Promise<Mount[] | UnprotectableLink> {
  const mounts: Mount[] = [];
  for (const directory of directories) {
    const root = [target, source].find((one) => contains(one, directory));
    if (root !== undefined) await mkdir(directory, { recursive: true }).catch(() => {});
    const real = await realpath(directory).catch(() => undefined);
    if (real === undefined) continue;
    if (root !== undefined && join(source, relative(root, directory)) !== real)
      return new UnprotectableLink(directory);
    if (contains(source, real))
      mounts.push({ kind: 'read', source: real, target: join(target, relative(source, real)) });
  }
  return mounts;
}
