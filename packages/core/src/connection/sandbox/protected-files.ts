/**
 * What a server may not change in a directory that it may write: files that other programs act upon without being
 * asked. What is not there yet is made, empty, so that the server cannot be the one who makes it (CVE-2026-25725).
 */
import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Mount, Shown } from './mount.js';

interface Guard {
  readonly name: string;
  /** The text of a file that has to be made; absent for a directory. */
  readonly text?: string;
}

/** Of Turnbuckle itself: not to be had by listing them either. */
export const OWN_NAMES: readonly string[] = ['.turnbuckle', 'mcp-servers.json'];

const PROJECT: readonly Guard[] = [
  { name: '.turnbuckle' },
  { name: 'mcp-servers.json', text: '{}\n' },
  { name: '.mcp.json', text: '{ "mcpServers": {} }\n' },
  { name: '.claude' },
  { name: '.cursor' },
  { name: '.vscode' },
  { name: '.git' },
];

/** For a server that may write a repository's own files: what Git runs by itself stays as it is. */
const REPOSITORY: readonly Guard[] = [
  { name: 'hooks' },
  { name: 'modules' },
  { name: 'config', text: '' },
  { name: 'config.worktree', text: '' },
];

/** A guarded name that is a symbolic link: a mount would guard what it leads to, not the link. */
export class UnguardableLink {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** Read-only mounts for a writable directory. */
export async function guardMounts({ source, target }: Shown): Promise<Mount[] | UnguardableLink> {
  const mounts: Mount[] = [];
  for (const guard of basename(source) === '.git' ? REPOSITORY : PROJECT) {
    const path = join(source, guard.name);
    const found = (await kindOf(path)) ?? (await make(path, guard));
    if (found === 'link') return new UnguardableLink(path);
    // Where we cannot make it, the server, which is the same user, cannot either.
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

async function make(path: string, { text }: Guard): Promise<Kind | undefined> {
  try {
    if (text === undefined) await mkdir(path);
    else await writeFile(path, text, { flag: 'wx' });
  } catch {
    // Somebody was faster, or may not.
  }
  return kindOf(path);
}
