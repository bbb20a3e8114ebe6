/** What a disk says when it takes no more writes, in words. */
import { errorCode } from './process-identity.js';

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EIO: 'the disk does not work',
};

export const isFull = (code: string): boolean => code === 'ENOSPC' || code === 'EDQUOT';

/** A code of the system, with what it means where that is known: `ENOSPC: the disk is full`. */
export const reasonText = (code: string): string =>
  WORDS[code] === undefined ? code : `${code}: ${WORDS[code]}`;

/** True for what the file system threw. */
export const isDiskFault = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && errorCode(error) !== undefined;
