/**
 * The directory of an installed package. It appears as a whole: everything is done in `<directory>.partial`, which is
 * renamed at the end and removed if anything fails. A manifest says what is in it, and detects later changes.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { makeDirectory, readFileText, withFileLock } from 'turnbuckle/host';
import * as z from 'zod/mini';
import { installError, packageRefused } from './refusal.js';

const MANIFEST = 'turnbuckle-package.json';
const PARTIAL_SUFFIX = '.partial';
const MAX_MANIFEST_BYTES = 64 * 1_024;
const LOCK_MS = 15 * 60_000;
const REMOVAL_LOCK_MS = 20_000;

const text = z.string().check(z.maxLength(4_096));
const manifest = z.strictObject({
  kind: z.enum(['npm', 'mcpb']),
  identifier: text,
  version: text,
  integrity: text,
  /** SHA-256 over the names and contents of all files except this one. */
  packageHash: text,
});

export type PackageManifest = z.output<typeof manifest>;

export interface TreeLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

export const TREE_LIMITS: TreeLimits = { maxFiles: 50_000, maxBytes: 512 * 1_024 * 1_024 };

/** A name that is safe as one segment of a path, and different for different packages. */
export function packageDirectory(
  root: string,
  { kind, identifier, version, integrity }: Omit<PackageManifest, 'packageHash'>,
): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([kind, identifier, version, integrity]))
    .digest('hex');
  const last = identifier.split('/').at(-1) ?? '';
  const readable = `${last}-${version}`.replace(/[^A-Za-z0-9.-]+/g, '-').replace(/^[.-]+/, '');
  return join(root, `${readable.slice(0, 80)}-${hash.slice(0, 16)}`);
}

/**
 * Lets `fill` fill an empty directory, then checks and renames it; returns the hash over its files. One process at a
 * time; what a killed one left is removed first. An unchanged directory is kept.
 */
export function createPackageDirectory(
  directory: string,
  facts: Omit<PackageManifest, 'packageHash'>,
  fill: (partial: string) => Promise<string>,
): Promise<string> {
  makeDirectory(dirname(directory));
  const partial = `${directory}${PARTIAL_SUFFIX}`;
  const work = async (): Promise<string> => {
    await rm(partial, { recursive: true, force: true });
    const present = await verifyInstalled(directory);
    if (present.unchanged && present.manifest.integrity === facts.integrity)
      return present.manifest.packageHash;
    await rm(directory, { recursive: true, force: true });
    try {
      await mkdir(partial, { mode: 0o700 });
      const content = await fill(partial);
      if (await exists(join(content, MANIFEST)))
        throw packageRefused(`The package has an entry named ${MANIFEST}, which Turnbuckle writes itself.`);
      const packageHash = await hashTree(content, TREE_LIMITS);
      await writeFile(join(content, MANIFEST), `${JSON.stringify({ ...facts, packageHash }, null, 2)}\n`);
      await rename(content, directory);
      return packageHash;
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  };
  return withFileLock(directory, work, { timeoutMs: LOCK_MS });
}

/** Removes what killed installations left behind; call it when no installation runs. */
export async function removePartials(root: string): Promise<void> {
  const names = await readdir(root).catch(() => []);
  for (const name of names)
    if (name.endsWith(PARTIAL_SUFFIX)) await rm(join(root, name), { recursive: true, force: true });
}

/**
 * Removes an installed package, and what a killed installation of it left; any other directory is refused. Waits for an
 * installation that runs; `isNeeded` is asked while none can begin. False: nothing was removed.
 */
export async function uninstall(
  directory: string,
  isNeeded: () => Promise<boolean> = async () => false,
): Promise<boolean> {
  const partial = `${directory}${PARTIAL_SUFFIX}`;
  if (!(await exists(directory)) && !(await exists(partial))) return false;
  const work = async (): Promise<boolean> => {
    if (await isNeeded()) return false;
    await rm(partial, { recursive: true, force: true });
    if (!(await exists(directory))) return true;
    if ((await readManifest(directory)) === undefined)
      throw installError(
        'CONFIG_INVALID',
        `${directory} was not removed because it is not a package that Turnbuckle installed.`,
        'Remove it by hand if you do not need it.',
      );
    await rename(directory, partial);
    await rm(partial, { recursive: true, force: true });
    return true;
  };
  return withFileLock(directory, work, { timeoutMs: REMOVAL_LOCK_MS });
}

const exists = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined)) !== undefined;

export type InstalledState =
  | { readonly unchanged: true; readonly manifest: PackageManifest }
  | { readonly unchanged: false; readonly reason: string };

/** Whether the files are as they were installed; `packageHash` is what the caller remembers, if it does. */
export async function verifyInstalled(directory: string, packageHash?: string): Promise<InstalledState> {
  const found = await readManifest(directory);
  if (found === undefined) return { unchanged: false, reason: `${directory} has no readable manifest` };
  if (packageHash !== undefined && packageHash !== found.packageHash)
    return { unchanged: false, reason: `${directory} does not contain the package that was installed` };
  try {
    const now = await hashTree(directory, TREE_LIMITS);
    if (now === found.packageHash) return { unchanged: true, manifest: found };
    return { unchanged: false, reason: `files in ${directory} were changed, added or removed` };
  } catch (error) {
    return {
      unchanged: false,
      reason: error instanceof Error ? error.message : `${directory} cannot be read`,
    };
  }
}

async function readManifest(directory: string): Promise<PackageManifest | undefined> {
  try {
    const file = await readFileText(join(directory, MANIFEST), { maxBytes: MAX_MANIFEST_BYTES });
    return manifest.safeParse(JSON.parse(file)).data;
  } catch {
    return undefined;
  }
}

/** Rejects with FETCH_REFUSED for anything except files and directories, and beyond the limits. */
async function hashTree(directory: string, limits: TreeLimits): Promise<string> {
  const files = await listFiles(directory, limits);
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const name = relative(directory, file).split(sep).join('/');
    if (name === MANIFEST) continue;
    hash.update(JSON.stringify([name, await hashFile(file)]));
  }
  return hash.digest('hex');
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return hash.digest('hex');
}

async function listFiles(directory: string, { maxFiles, maxBytes }: TreeLimits): Promise<string[]> {
  const files: string[] = [];
  const left = [directory];
  let bytes = 0;
  let entries = 0;
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    for (const entry of await readdir(place, { withFileTypes: true })) {
      const path = join(place, entry.name);
      entries += 1;
      if (entries > maxFiles) throw packageRefused(`${directory} contains more than ${maxFiles} files.`);
      if (entry.isDirectory()) left.push(path);
      else if (!entry.isFile()) throw packageRefused(`${path} is a link or a special file.`);
      else {
        bytes += (await lstat(path)).size;
        files.push(path);
      }
      if (bytes > maxBytes) throw packageRefused(`${directory} contains more than ${maxBytes} bytes.`);
    }
  }
  return files;
}
