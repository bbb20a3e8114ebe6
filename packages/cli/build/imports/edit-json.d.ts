/** Edits JSON with comments in its text, so that everything the edit does not name stays byte for byte. */
import { type FileEdit } from './file-edit.js';
/** `value` is what `text` parses to. Throws when the library finds no place for the edit. */
export declare function editJson(text: string, value: unknown, edit: FileEdit): string;
