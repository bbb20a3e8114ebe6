/** Files that only their owner may read, and that are replaced as a whole or not at all. */
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
import { errorCode } from './process-identity.js';

export interface PrivateText {
  readonly text: string;
  /** Changes with every replacement of the file. */
  readonly stamp: string;
}

const MODE = 0o600;
const OTHERS = 0o077;

/** Whoever reads the file meanwhile sees the old text or the new one. With `durable`, it is on the disk afterwards. */
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

/**
 * The text; undefined when there is no such file. Throws for one that belongs to somebody else: what it says
 * is worth nothing. Closes one that others may read or write, and says so to `onOpen`.
 */
export function readPrivateFile(path: string, onOpen: () => void = () => {}): PrivateText | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const facts = fstatSync(file, { bigint: true });
    const own = process.getuid?.();
    if (own !== undefined && facts.uid !== BigInt(own)) throw new Error('it belongs to somebody else');
    if (process.platform !== 'win32' && (Number(facts.mode) & OTHERS) !== 0) {
      fchmodSync(file, MODE);
      onOpen();
    }
    return { text: readFileSync(file, 'utf8'), stamp: stampOf(facts) };
  } finally {
    closeSync(file);
  }
}

/** The stamp without the text; undefined when there is no such file. */
export function stampOfFile(path: string): string | undefined {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts && stampOf(facts);
}

interface Facts {
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
}

const stampOf = ({ ino, size, mtimeNs }: Facts): string => `${ino}-${size}-${mtimeNs}`;
