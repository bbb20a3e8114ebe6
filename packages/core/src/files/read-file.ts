/**
 * Files that somebody named: only ordinary ones, only so much of them, and never for longer than so long. Without
 * that, a link to a pipe or to a drive that is away would keep whoever reads it waiting for ever.
 */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname, sep } from 'node:path';

export interface ReadFileLimits {
  readonly maxBytes: number;
  /** Default: 5 seconds. */
  readonly timeoutMs?: number | undefined;
}

export interface ReadFile {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

const TIMEOUT_MS = 5_000;
/** A pipe, and what is like one, is opened and read at once or not at all. Windows has no such flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Rejects with an error that has a `code`; `whyUnreadable` says it in words. */
export async function readFileBytes(
  path: string,
  { maxBytes, timeoutMs }: ReadFileLimits,
): Promise<ReadFile> {
  await reach(dirname(path), timeoutMs);
  return inTime(path, () => readNow(path, maxBytes), timeoutMs);
}

/** The same as UTF-8. */
export async function readFileText(path: string, limits: ReadFileLimits): Promise<string> {
  return (await readFileBytes(path, limits)).bytes.toString('utf8');
}

/** What is not done yet, though nobody waits for it any more. Each keeps a thread of the process. */
const stuck = new Set<string>();

/**
 * Does something with a file for as long as it may take. What has not ended by then goes on by itself; until it does,
 * nothing more is begun with the same file.
 */
export async function inTime<Result>(
  path: string,
  work: () => Promise<Result>,
  timeoutMs = TIMEOUT_MS,
): Promise<Result> {
  if (isStuck(path)) throw coded('ETIMEDOUT');
  const working = work();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      stuck.add(path);
      const forget = (): unknown => stuck.delete(path);
      working.then(forget, forget);
      reject(coded('ETIMEDOUT'));
    }, timeoutMs);
  });
  try {
    return await Promise.race([working, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What lies below a directory that does not answer does not either. */
const isStuck = (path: string): boolean => {
  for (const one of stuck) if (path === one || path.startsWith(`${one}${sep}`)) return true;
  return false;
};

/** Looks that are under way: a drive that is away keeps one thread, however many ask for something on it. */
const looks = new Map<string, Promise<unknown>>();

/**
 * Resolves when the file system has said something about a path, there or not: from then on a quick look at it does not
 * hold up the process. Rejects with ETIMEDOUT when it does not answer, at the first directory that is like that.
 */
export async function reach(path: string, timeoutMs?: number): Promise<void> {
  const above = dirname(path);
  if (above !== path) await reach(above, timeoutMs);
  const look = looks.get(path) ?? inTime(path, () => stat(path).catch(() => undefined), timeoutMs);
  looks.set(path, look);
  const forget = (): unknown => looks.get(path) === look && looks.delete(path);
  look.then(forget, forget);
  await look;
}

/** The facts about what is there; undefined where there is nothing, or it cannot be looked at. */
export const factsOf = (path: string): Promise<Stats | undefined> =>
  reach(path)
    .then(() => inTime(path, () => stat(path)))
    .catch(() => undefined);

/** Opens an ordinary file to read it, and nothing else. */
export async function openFile(path: string): Promise<FileHandle> {
  // Before it is opened: that alone does something with some devices.
  refuseOthers(await stat(path));
  const handle = await open(path, FLAGS);
  try {
    refuseOthers(await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readNow(path: string, maxBytes: number): Promise<ReadFile> {
  const handle = await openFile(path);
  try {
    const stats = await handle.stat();
    if (stats.size > maxBytes) throw coded('EFBIG');
    return { bytes: await readAll(handle, maxBytes), stats };
  } finally {
    await handle.close();
  }
}

/** However much more there is than the file says, it ends at the bound. */
async function readAll(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let length = 0; ; ) {
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(64 * 1_024) });
    if (bytesRead === 0) return Buffer.concat(parts);
    length += bytesRead;
    if (length > maxBytes) throw coded('EFBIG');
    parts.push(buffer.subarray(0, bytesRead));
  }
}

function refuseOthers(stats: Stats): void {
  if (stats.isDirectory()) throw coded('EISDIR');
  if (!stats.isFile()) throw coded('ENOTSUP');
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is no directory',
  EACCES: 'there is no permission to read it',
  EPERM: 'there is no permission to read it',
  ELOOP: 'its symbolic links go round in a circle',
  EDANGLING: 'a symbolic link on the way to it leads nowhere; the drive that it leads to may be away',
  EISDIR: 'it is a directory',
  ENOTSUP: 'it is not a file, but a pipe, a socket or a device',
  EAGAIN: 'it is not a file that can be read to its end',
  EFBIG: 'it is too large',
  E2BIG: 'there is too much to look at',
  ETIMEDOUT: 'it could not be read in time; the drive that it is on may be away',
};

/** Why a file could not be read, as the rest of a sentence. */
export function whyUnreadable(error: unknown): string {
  return REASONS[codeOf(error)] ?? 'it cannot be read';
}

/** The code of an error of the file system. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** An error that `whyUnreadable` has words for. */
export const coded = (code: string): Error => Object.assign(new Error(REASONS[code] ?? code), { code });
