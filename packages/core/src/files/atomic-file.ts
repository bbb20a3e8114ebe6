/**
 * Replaces a file as a whole: whoever reads it at any moment, a crash included, sees the old content or the
 * new one. It takes no lock (file-lock.ts does) and does not look at the content.
 */
import { randomBytes } from 'node:crypto';
import { open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readFileBytes } from '../read-file.js';
import { ageOf, errorCode, isGone, ownIdentity } from './process-identity.js';
import { realTarget } from './real-target.js';

const NEW_FILE_MODE = 0o600;
/** Larger than any file that is edited here. */
const MAX_BYTES = 16 * 1_024 * 1_024;

export interface ReplaceOptions {
  /** Content the file must still have (empty also stands for no file); otherwise nothing is replaced. */
  readonly expected?: Buffer;
}

/**
 * Follows symbolic links, keeps mode and owner of the old file (0600 for one that did not exist) and
 * resolves when the content is on the disk. False when the file no longer held what was expected.
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
    await writeLike(target, temporary, text);
    // Last thing before the rename: an editor that knows nothing of our lock may have saved meanwhile.
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

/** The bytes of the file; none when it does not exist. */
export async function contentOf(path: string): Promise<Buffer> {
  return (
    (await unlessAbsent(readFileBytes(path, { maxBytes: MAX_BYTES }).then(({ bytes }) => bytes))) ??
    Buffer.alloc(0)
  );
}

async function writeLike(target: string, temporary: string, text: string): Promise<void> {
  const old = await unlessAbsent(stat(target));
  const file = await open(temporary, 'wx', NEW_FILE_MODE);
  try {
    await file.writeFile(text, 'utf8');
    if (old !== undefined) {
      const { uid, gid } = await file.stat();
      // Only root may give a file away; for anybody else the file becomes theirs, as with any editor.
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

const OWNER = /^(\d+)-(\d+)-([0-9a-f]{8})-[0-9a-f]{12}\.tmp$/;

async function removeAbandoned(target: string): Promise<void> {
  const directory = dirname(target);
  const prefix = `.${basename(target)}.`;
  for (const name of await readdir(directory).catch(() => [])) {
    const [, pid, start, space] = name.startsWith(prefix)
      ? (OWNER.exec(name.slice(prefix.length)) ?? [])
      : [];
    if (pid === undefined || start === undefined || space === undefined) continue;
    const path = join(directory, name);
    const found = await unlessAbsent(stat(path));
    if (found !== undefined && isGone({ pid: Number(pid), start, space }, ageOf(found)))
      await unlink(path).catch(() => undefined);
  }
}

async function unlessAbsent<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
