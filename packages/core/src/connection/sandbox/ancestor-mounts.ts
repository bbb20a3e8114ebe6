/**
 * A mount moves with its directory when a parent directory is renamed, and a new directory can then take its place. A
 * directory that is itself a mount cannot be renamed, so the parents of a mount are made mounts too.
 */
import { join, relative } from 'node:path';
import type { HostMount, Mount } from './mount.js';
import { contains, depthOf, directoriesBetween } from './paths.js';

/** Mounts for the directories between a writable directory and what is mounted inside it. */
export function ancestorMounts(shown: readonly HostMount[], inside: readonly Mount[]): Mount[] {
  return inside.flatMap(({ target }) => {
    const outer = innermostMount(shown, target);
    if (outer?.kind !== 'write') return [];
    return directoriesBetween(outer.target, target).map(
      (path): Mount => ({
        kind: 'write',
        source: join(outer.source, relative(outer.target, path)),
        target: path,
      }),
    );
  });
}

/** The nearest mount that contains the path and is not the path itself. */
export function innermostMount(shown: readonly HostMount[], path: string): HostMount | undefined {
  return shown
    .filter(({ target }) => target !== path && contains(target, path))
    .reduce<HostMount | undefined>(
      (deepest, one) =>
        deepest === undefined || depthOf(one.target) > depthOf(deepest.target) ? one : deepest,
      undefined,
    );
}
