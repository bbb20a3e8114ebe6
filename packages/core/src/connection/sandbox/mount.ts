/** What a sandbox exposes of the file system, as data, and as arguments of bubblewrap. */
import { contains, depthOf } from './paths.js';

/** A path of the host. */
export interface HostMount {
  readonly kind: 'read' | 'write';
  /** Its real path. */
  readonly source: string;
  /** Its path inside. */
  readonly target: string;
  /** Skipped if the host does not have it. */
  readonly optional?: boolean;
}

export type Mount =
  | HostMount
  /** A directory of the server's own, at a path where the host has something else. */
  | { readonly kind: 'home'; readonly source: string; readonly target: string }
  /** An empty directory in memory that disappears with the process. */
  | {
      readonly kind: 'private';
      readonly target: string;
      readonly megabytes: number;
      readonly mode: '0700' | '1777';
    }
  /** An empty directory over something that must be neither visible nor writable. */
  | { readonly kind: 'hidden'; readonly target: string }
  | { readonly kind: 'link'; readonly target: string; readonly to: string };

/** One mount for each target, the last one given; outer ones first, so that inner ones stay visible. */
export function sortMounts(mounts: readonly Mount[]): Mount[] {
  const byTarget = new Map(mounts.map((mount) => [mount.target, mount]));
  return [...byTarget.values()].sort((left, right) => depthOf(left.target) - depthOf(right.target));
}

/** True if the path means the same inside the sandbox as outside. Expects mounts in order. */
export function isVisible(path: string, mounts: readonly Mount[]): boolean {
  const mount = mounts.findLast(({ target }) => contains(target, path));
  if (mount === undefined) return path === '/' || contains('/dev', path) || contains('/proc', path);
  if (mount.kind === 'private' || mount.kind === 'home') return mount.target === path;
  return mount.kind !== 'hidden';
}

export function toBwrapArguments(mount: Mount): string[] {
  const { kind, target } = mount;
  switch (kind) {
    case 'read':
      return [mount.optional === true ? '--ro-bind-try' : '--ro-bind', mount.source, target];
    case 'write':
    case 'home':
      return ['--bind', mount.source, target];
    case 'private':
      return ['--perms', mount.mode, '--size', String(mount.megabytes << 20), '--tmpfs', target];
    case 'hidden':
      return ['--perms', '0555', '--size', '4096', '--tmpfs', target, '--remount-ro', target];
    case 'link':
      return ['--symlink', mount.to, target];
  }
}
