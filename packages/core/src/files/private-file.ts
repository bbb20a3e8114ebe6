/** Files that only their owner may read, and that are replaced as a whole or not at all. Throws plain errors. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { errorCode } from '../errors.js';
import { assertRegularFile, OPEN_FLAGS, openFile } from './read-file.js';

export interface PrivateText {
  readonly text: string;
  /** Changes with every change of the file. */
  readonly stamp: string;
  readonly changedAtMs: number;
}

const MODE = 0o600;
const GROUP_AND_OTHERS = 0o077;

/**
 * The file's text and stamp, of one moment; undefined when it does not exist. Throws ForeignFileError for a file of
 * another user, and what the file system throws. Closes a file that others may read or write, and calls `onExposed`.
 */
export async function readPrivateFile(
  file: string,
  onExposed: () => void = () => {},
): Promise<PrivateText | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await openFile(file);
    const facts = await handle.stat({ bigint: true });
    if (isExposed(file, facts)) {
      await handle.chmod(MODE);
      onExposed();
    }
    return toPrivateText(await handle.readFile('utf8'), facts);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  } finally {
    await handle?.close();
  }
}

/** The same, blocking: for small files of the state directory. */
export function readPrivateFileSync(file: string, onExposed: () => void = () => {}): PrivateText | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  assertRegularFile(found);
  const descriptor = openSync(file, OPEN_FLAGS);
  try {
    const facts = fstatSync(descriptor, { bigint: true });
    assertRegularFile(facts);
    if (isExposed(file, facts)) {
      fchmodSync(descriptor, MODE);
      onExposed();
    }
    return toPrivateText(readFileSync(descriptor, 'utf8'), facts);
  } finally {
    closeSync(descriptor);
  }
}

/** The stamp without the text; undefined when the file does not exist. */
export async function fileStamp(file: string): Promise<string | undefined> {
  try {
    return stampOf(await stat(file, { bigint: true }));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The same, blocking. */
export function fileStampSync(file: string): string | undefined {
  const facts = statSync(file, { bigint: true, throwIfNoEntry: false });
  return facts && stampOf(facts);
}

/** A reader sees the old text or the new one. With `durable`, the new one is on the disk afterwards. */
export function replacePrivateFile(path: string, text: string, { durable = false } = {}): void {
  const draft = `${path}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
  const file = openSync(draft, 'wx', MODE);
  try {
    try {
      writeFileSync(file, text);
      if (durable) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** A file that another user may have written, or knows. */
export class ForeignFileError extends Error {
  readonly owner: number;

  constructor(file: string, owner: number) {
    super(`The file ${file} belongs to another user (uid ${owner}).`);
    this.owner = owner;
  }
}

interface FileFacts {
  readonly uid: bigint;
  readonly mode: bigint;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly mtimeMs: bigint;
}

/** Whether others may read or write it. Throws for a file of another user. */
function isExposed(file: string, { uid, mode }: FileFacts): boolean {
  const own = process.getuid?.();
  if (own !== undefined && uid !== BigInt(own)) throw new ForeignFileError(file, Number(uid));
  return process.platform !== 'win32' && (Number(mode) & GROUP_AND_OTHERS) !== 0;
}

const toPrivateText = (text: string, facts: FileFacts): PrivateText => ({
  text,
  stamp: stampOf(facts),
  changedAtMs: Number(facts.mtimeMs),
});

const stampOf = ({ dev, ino, size, mtimeNs }: Pick<FileFacts, 'dev' | 'ino' | 'size' | 'mtimeNs'>): string =>
  `${dev}-${ino}-${size}-${mtimeNs}`;
