/**
 * What a server must not change in a writable directory: files that other programs execute or trust without asking.
 * Missing ones are created, empty, so that the server cannot create them (CVE-2026-25725).
 */
import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { HostMount, Mount } from './mount.js';

interface ProtectedEntry {
  readonly name: string;
  /** The content of a file to create; absent for a directory. */
  readonly text?: string;
}

/** Turnbuckle's own: listing them does not make them writable either. */
export const TURNBUCKLE_FILES: readonly string[] = ['.turnbuckle', 'mcp-servers.json'];

const PROJECT_ENTRIES: readonly ProtectedEntry[] = [
  { name: '.turnbuckle' },
  { name: 'mcp-servers.json', text: '{}\n' },
  { name: '.mcp.json', text: '{ "mcpServers": {} }\n' },
  { name: '.claude' },
  { name: '.cursor' },
  { name: '.vscode' },
  { name: '.git' },
];

/** For a server that may write to a repository's own files: what Git executes by itself stays unchanged. */
const REPOSITORY_ENTRIES: readonly ProtectedEntry[] = [
  { name: 'hooks' },
  { name: 'modules' },
  { name: 'config', text: '' },
  { name: 'config.worktree', text: '' },
];

/** A protected name that is a symbolic link: a mount would protect its target, not the link. */
export class UnprotectableLink {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** Read-only mounts for a writable directory. */
export async function protectedFileMounts({
  source,
  target,
}: HostMount): Promise<Mount[] | UnprotectableLink> {
  const mounts: Mount[] = [];
  for (const guard of basename(source) === '.git' ? REPOSITORY_ENTRIES : PROJECT_ENTRIES) {
    const path = join(source, guard.name);
    const found = (await kindOf(path)) ?? (await make(path, guard));
    if (found === 'link') return new UnprotectableLink(path);
    // If we cannot create it, the server, which runs as the same user, cannot either.
    if (found !== undefined) mounts.push({ kind: 'read', source: path, target: join(target, guard.name) });
  }
  return mounts;
}

type Kind = 'link' | 'other';

const kindOf = (path: string): Promise<Kind | undefined> =>
  lstat(path).then(
    (facts) => (facts.isSymbolicLink() ? 'link' : 'other'),
    () => undefined,
  );

async function make(path: string, { text }: ProtectedEntry): Promise<Kind | undefined> {
  try {
    if (text === undefined) await mkdir(path);
    else await writeFile(path, text, { flag: 'wx' });
  } catch {
    // Another process was faster, or permission was denied.
  }
  return kindOf(path);
}
