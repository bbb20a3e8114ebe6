/** How much a configuration file may hold: the same for what is read and for what is written, so that it can be read again. */
import { TurnbuckleError } from '../errors.js';
import { findTooMuch } from './document.js';

export const MAX_SERVERS = 500;
export const MAX_FILE_BYTES = 512 * 1_024;

/** Throws CONFIG_INVALID for what could not be read again: a file that has too much in it is not used at all. */
export function checkFileSize(text: string, serverCount: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_FILE_BYTES) throw tooMuch(`${bytes} bytes, and at most ${MAX_FILE_BYTES} are read`);
  if (serverCount > MAX_SERVERS) throw tooMuch(`${serverCount} servers, and at most ${MAX_SERVERS} are read`);
  const found = findTooMuch(text);
  if (found !== undefined) throw tooMuch(found.text);
}

/** The same for one part of it, before it is written into the text: that takes long for a large one. */
export function checkPartSize(part: unknown): void {
  const { length = 0 } = JSON.stringify(part) ?? '';
  if (length > MAX_FILE_BYTES)
    throw tooMuch(`more than ${length} characters, and at most ${MAX_FILE_BYTES} are read`);
}

const tooMuch = (what: string): TurnbuckleError =>
  new TurnbuckleError('CONFIG_INVALID', `it would have ${what}`, {
    hint: 'Nothing was written. Give it less, or take something else out first.',
  });
