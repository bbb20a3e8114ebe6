/**
 * Replaces a file atomically: a reader sees either the old or the new content at any moment, even after a crash. It
 * takes no lock (file-lock.ts does) and ignores the content.
 */
import { randomBytes } from 'node:crypto';
import { open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../errors.js';
import { ageOf, isProcessGone, ownIdentity } from './process-identity.js';
import { readFileBytes } from './read-file.js';
import { realTarget } from './real-target.js';

const NEW_FILE_MODE = 0o600;
/** Larger than any file that is edited here. */
const MAX_FILE_BYTES = 16 * 1_024 * 1_024;

export interface ReplaceOptions {
  /** Content that the file must still have (empty also means no file); otherwise nothing is replaced. */
  readonly expected?: Buffer;
}

/**
 * Follows symbolic links, keeps mode and owner of the old file (0600 for a new one) and resolves when the content is
 * on disk. False if the file no longer has the expected content.
 */
export async function replaceFile(
  path: string,
  text: string,
  options: ReplaceOptions = {},
): Promise<boolean> {
  const target = realTarget(path);
  await removeAbandoned(target);
  const temporary = join(dirname(target), temporaryName(basename(target)));
  try {
    await writeWithSameMode(target, temporary, text);
    // Last check before the rename: an editor that ignores our lock may have saved meanwhile.
    if (options.expected !== undefined && !options.expected.equals(await contentOf(target))) {
      await unlink(temporary);
      return false;
    }
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(target));
  return true;
}

/** The bytes of the file; empty if it does not exist. */
export async function contentOf(path: string): Promise<Buffer> {
  return (
    (await undefinedIfMissing(
      readFileBytes(path, { maxBytes: MAX_FILE_BYTES }).then(({ bytes }) => bytes),
    )) ?? Buffer.alloc(0)
  );
}

async function writeWithSameMode(target: string, temporary: string, text: string): Promise<void> {
  const old = await undefinedIfMissing(stat(target));
  const file = await open(temporary, 'wx', NEW_FILE_MODE);
  try {
    await file.writeFile(text, 'utf8');
    if (old !== undefined) {
      const { uid, gid } = await file.stat();
      // Only root may change the owner; for other users the file becomes theirs, as with any editor.
      if (old.uid !== uid || old.gid !== gid) await file.chown(old.uid, old.gid).catch(() => undefined);
      await file.chmod(old.mode & 0o7777);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(directory: string): Promise<void> {
  try {
    const handle = await open(directory, 'r');
    await handle.sync().finally(() => handle.close());
  } catch {
    // The content is in place; some platforms and file systems cannot sync a directory.
  }
}

function temporaryName(name: string): string {
  const { pid, start, space } = ownIdentity();
  return `.${name}.${pid}-${start}-${space}-${randomBytes(6).toString('hex')}.tmp`;
}

const TEMPORARY_NAME = /^(\d+)-(\d*)-([0-9a-f]{8,16})-[0-9a-f]{12}\.tmp$/;

async function removeAbandoned(target: string): Promise<void> {
  const directory = dirname(target);
  const prefix = `.${basename(target)}.`;
  for (const name of await readdir(directory).catch(() => [])) {
    const [, pid, start, space] = name.startsWith(prefix)
      ? (TEMPORARY_NAME.exec(name.slice(prefix.length)) ?? [])
      : [];
    if (pid === undefined || start === undefined || space === undefined) continue;
    const path = join(directory, name);
    const found = await undefinedIfMissing(stat(path));
    if (found !== undefined && isProcessGone({ pid: Number(pid), start, space }, ageOf(found)))
      await unlink(path).catch(() => undefined);
  }
}

async function undefinedIfMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
