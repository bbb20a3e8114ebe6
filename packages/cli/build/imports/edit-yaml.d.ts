import { type FileEdit } from './file-edit.js';
/** `value` is what `text` parses to. Throws when the document's shape does not allow the edit. */
export declare function editYaml(text: string, value: unknown, edit: FileEdit): string;
