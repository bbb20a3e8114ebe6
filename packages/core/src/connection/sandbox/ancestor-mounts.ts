/**
 * A mount stays with its directory when a directory above it is renamed, and a new one can then be made in its place.
 * A directory that is itself a mount cannot be renamed: so those on the way to a mount are made mounts, too.
 */
import { join, relative } from 'node:path';
import type { Mount, Shown } from './mount.js';
import { between, contains, depthOf } from './paths.js';

/** Mounts for the directories between something writable and what is mounted inside it. */
export function pinMounts(shown: readonly Shown[], inside: readonly Mount[]): Mount[] {
  return inside.flatMap(({ target }) => {
    const outer = innermost(shown, target);
    if (outer?.kind !== 'write') return [];
    return between(outer.target, target).map(
      (path): Mount => ({
        kind: 'write',
        source: join(outer.source, relative(outer.target, path)),
        target: path,
      }),
    );
  });
}

/** The nearest of what is shown that holds the path and is not the path. */
export function innermost(shown: readonly Shown[], path: string): Shown | undefined {
  return shown
    .filter(({ target }) => target !== path && contains(target, path))
    .reduce<Shown | undefined>(
      (deepest, one) =>
        deepest === undefined || depthOf(one.target) > depthOf(deepest.target) ? one : deepest,
      undefined,
    );
}
