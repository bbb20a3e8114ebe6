import { type FileEdit } from './file-edit.js';
export interface EditedToml {
  readonly text: string;
  /** False when the file had to be written anew, without its comments. */
  readonly kept: boolean;
}
/** Settings outside the servers are not needed for any TOML client. */
export declare function editToml(text: string, edit: FileEdit): EditedToml;
