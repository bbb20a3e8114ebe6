/**
 * Reads files that someone named: only regular ones, with a limit on size and time. Otherwise a link to a pipe or to
 * a drive that is not available would block the reader forever.
 */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { errorCode } from '../errors.js';

export interface ReadFileLimits {
  readonly maxBytes: number;
  /** Default: 5 seconds. */
  readonly timeoutMs?: number | undefined;
}

export interface FileContent {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

const DEFAULT_TIMEOUT_MS = 5_000;
/** Opens a pipe or similar without blocking. Windows has no such flag. */
export const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Rejects with an error that has a `code`; `whyUnreadable` describes it. */
export async function readFileBytes(
  path: string,
  { maxBytes, timeoutMs }: ReadFileLimits,
): Promise<FileContent> {
  await probePath(dirname(path), timeoutMs);
  return withTimeout(path, () => readRegularFile(path, maxBytes), timeoutMs);
}

/** The same as UTF-8. */
export async function readFileText(path: string, limits: ReadFileLimits): Promise<string> {
  return (await readFileBytes(path, limits)).bytes.toString('utf8');
}

/** Work that has not finished after its timeout. Each item occupies a thread of the process. */
const stuckPaths = new Set<string>();

/**
 * Runs work on a file with a timeout. Unfinished work continues in the background; until it ends, no more work starts
 * on the same file.
 */
export async function withTimeout<Result>(
  path: string,
  work: () => Promise<Result>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<Result> {
  if (isBelowStuckPath(path)) throw errorWithCode('ETIMEDOUT');
  const working = work();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      stuckPaths.add(path);
      const forget = (): unknown => stuckPaths.delete(path);
      working.then(forget, forget);
      reject(errorWithCode('ETIMEDOUT'));
    }, timeoutMs);
  });
  try {
    return await Promise.race([working, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Nothing below a directory that does not respond can respond either. */
const isBelowStuckPath = (path: string): boolean => {
  for (const one of stuckPaths) if (path === one || path.startsWith(`${one}${sep}`)) return true;
  return false;
};

/** Pending checks: an unavailable drive occupies one thread, however many callers ask for something on it. */
const pendingProbes = new Map<string, Promise<unknown>>();

/**
 * Resolves when the file system has responded for a path, whether it exists or not: after that, a synchronous check
 * does not block the process. Rejects with ETIMEDOUT at the first directory that does not respond.
 */
export async function probePath(path: string, timeoutMs?: number): Promise<void> {
  const above = dirname(path);
  if (above !== path) await probePath(above, timeoutMs);
  const look =
    pendingProbes.get(path) ?? withTimeout(path, () => stat(path).catch(() => undefined), timeoutMs);
  pendingProbes.set(path, look);
  const forget = (): unknown => pendingProbes.get(path) === look && pendingProbes.delete(path);
  look.then(forget, forget);
  await look;
}

/** The stats of the file; undefined if it does not exist or cannot be checked. */
export const statOrUndefined = (path: string): Promise<Stats | undefined> =>
  probePath(path)
    .then(() => withTimeout(path, () => stat(path)))
    .catch(() => undefined);

/** Opens a regular file for reading, and nothing else. */
export async function openFile(path: string): Promise<FileHandle> {
  // Before opening: opening alone has effects on some devices.
  assertRegularFile(await stat(path));
  const handle = await open(path, OPEN_FLAGS);
  try {
    assertRegularFile(await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readRegularFile(path: string, maxBytes: number): Promise<FileContent> {
  const handle = await openFile(path);
  try {
    const stats = await handle.stat();
    if (stats.size > maxBytes) throw errorWithCode('EFBIG');
    return { bytes: await readAll(handle, maxBytes), stats };
  } finally {
    await handle.close();
  }
}

/** Stops at the limit, whatever size the file reports. */
async function readAll(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let length = 0; ; ) {
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(64 * 1_024) });
    if (bytesRead === 0) return Buffer.concat(parts);
    length += bytesRead;
    if (length > maxBytes) throw errorWithCode('EFBIG');
    parts.push(buffer.subarray(0, bytesRead));
  }
}

export function assertRegularFile(stats: Pick<Stats, 'isDirectory' | 'isFile'>): void {
  if (stats.isDirectory()) throw errorWithCode('EISDIR');
  if (!stats.isFile()) throw errorWithCode('ENOTSUP');
}

const REASON_TEXTS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is not a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its symbolic links form a loop',
  EDANGLING: 'a symbolic link in its path is broken, or points to a drive that is not available',
  EISDIR: 'it is a directory',
  ENOTSUP: 'it is a pipe, a socket or a device, not a regular file',
  EAGAIN: 'it is not a regular file',
  EFBIG: 'it is too large',
  E2BIG: 'there are too many files to check',
  ETIMEDOUT: 'reading it timed out; its drive may not be available',
};

/** Why a file could not be read, as the end of a sentence. */
export function whyUnreadable(error: unknown): string {
  return REASON_TEXTS[errorCode(error) ?? ''] ?? 'it cannot be read';
}

/** An error that `whyUnreadable` can describe. */
export const errorWithCode = (code: string): Error =>
  Object.assign(new Error(REASON_TEXTS[code] ?? code), { code });
