/** Descriptions of file system errors. */
import { errorCode } from 'turnbuckle/light';

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EROFS: 'the disk is read-only',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EIO: 'disk I/O error',
};

export const isDiskFull = (code: string): boolean => code === 'ENOSPC' || code === 'EDQUOT';

/** The meaning of an error code, if known, with the code: `the disk is full (ENOSPC)`. */
export const reasonText = (code: string): string =>
  REASONS[code] === undefined ? code : `${REASONS[code]} (${code})`;

/** True for errors of the file system. */
export const isFileSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && errorCode(error) !== undefined;
