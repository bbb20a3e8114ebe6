/** Limits on configuration files: the same for reading and writing, so that a written file can be read again. */
import { TurnbuckleError } from '../../errors.js';
import { findSizeFault } from '../layers/document.js';

export const MAX_SERVERS = 500;
export const MAX_FILE_BYTES = 512 * 1_024;

/** Throws CONFIG_INVALID for a file that could not be read again: an oversized file is not used at all. */
export function checkFileSize(text: string, serverCount: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_FILE_BYTES) throw fileTooLarge(`${bytes} bytes (maximum ${MAX_FILE_BYTES})`);
  if (serverCount > MAX_SERVERS) throw fileTooLarge(`${serverCount} servers (maximum ${MAX_SERVERS})`);
  const found = findSizeFault(text);
  if (found !== undefined) throw fileTooLarge(found.text);
}

/** The same for one part, checked before it is inserted, because inserting a large one takes long. */
export function checkPartSize(part: unknown): void {
  const { length = 0 } = JSON.stringify(part) ?? '';
  if (length > MAX_FILE_BYTES)
    throw fileTooLarge(`more than ${length} characters (maximum ${MAX_FILE_BYTES})`);
}

const fileTooLarge = (what: string): TurnbuckleError =>
  new TurnbuckleError('CONFIG_INVALID', `the file would have ${what}`, {
    hint: 'Nothing was written. Make the change smaller, or remove other entries first.',
  });
