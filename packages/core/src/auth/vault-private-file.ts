/** Reading a file that only its owner may read: one that others may is closed to them, and that is told. */
import { chmod, type FileHandle, stat } from 'node:fs/promises';
import { openFile } from '../config/read-file.js';
import { secretsUnavailable, unusable } from './vault-errors.js';

export type Warn = (message: string) => void;

export interface PrivateText {
  readonly text: string;
  /** Changes with every change of the file. */
  readonly stamp: string;
  readonly changedAtMs: number;
}

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/** The file's text and identity, of one moment; undefined when it does not exist. SECRETS_UNAVAILABLE for somebody else's. */
export async function readPrivate(file: string, warn: Warn): Promise<PrivateText | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await openFile(file);
    const facts = await handle.stat({ bigint: true });
    refuseForeign(file, Number(facts.uid));
    if (isPosix && (Number(facts.mode) & OTHERS) !== 0) {
      await handle.chmod(0o600);
      warn(
        `Others could read ${file}; now only you can. If they may have, rotate: turnbuckle secrets rotate`,
      );
    }
    return { text: await handle.readFile('utf8'), stamp: stampOf(facts), changedAtMs: Number(facts.mtimeMs) };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw unusable(file, error);
  } finally {
    await handle?.close();
  }
}

/** What identifies the file's content without reading it; undefined when there is none. */
export async function stampOfFile(file: string): Promise<string | undefined> {
  try {
    return stampOf(await stat(file, { bigint: true }));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw unusable(file, error);
  }
}

/** Closes the directory to others, where it is ours to close. */
export async function closeDirectory(directory: string, warn: Warn): Promise<void> {
  if (!isPosix) return;
  try {
    const { uid, mode } = await stat(directory);
    if ((mode & OTHERS) === 0) return;
    // One that belongs to others, or to everybody such as /tmp, keeps its rights.
    if (uid === process.getuid?.() && (mode & STICKY) === 0) {
      await chmod(directory, 0o700);
      warn(`Others could look into ${directory}; now only you can.`);
    } else if ((mode & OTHERS_WRITE) !== 0)
      warn(`Others can write to ${directory}, where your secrets are kept. Use a directory of your own.`);
  } catch (error) {
    if (!isAbsent(error)) throw unusable(directory, error);
  }
}

const isPosix = process.platform !== 'win32';

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
}

const stampOf = ({ dev, ino, size, mtimeNs }: Identity): string => `${dev}-${ino}-${size}-${mtimeNs}`;

/** A key that somebody else may know, or an entry that somebody else may have written, is worth nothing. */
function refuseForeign(file: string, owner: number): void {
  const own = process.getuid?.();
  if (own === undefined || owner === own) return;
  throw secretsUnavailable(file, `The file ${file} belongs to somebody else (user id ${owner}).`, {
    hint: 'Run this as that user, or use another state directory: TURNBUCKLE_STATE_DIR',
  });
}
