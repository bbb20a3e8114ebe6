/** How each family of clients spells a placeholder. */
import { type PlaceholderStyle } from './placeholders.js';
/** A client that passes every text on as it stands. */
export declare const NO_PLACEHOLDERS: PlaceholderStyle;
/** `${VAR}` and `${VAR:-default}`. */
export declare const SHELL_STYLE: PlaceholderStyle;
/** `$VAR`, `${VAR}` and `${VAR:-default}`; a command in `$(…)` belongs to the client. */
export declare const DOLLAR_STYLE: PlaceholderStyle;
/** `${env:VAR}`, the editor's folders when it knows them, and `${input:id}` when it asks. */
export declare function editorStyle({
  folders,
  inputs,
}: {
  folders: boolean;
  inputs: boolean;
}): PlaceholderStyle;
/** `{env:VAR}`; the content of a file (`{file:…}`) cannot be referred to elsewhere. */
export declare const BRACE_STYLE: PlaceholderStyle;
/** `${{ secrets.NAME }}` and `${{ inputs.NAME }}`. */
export declare const WORKFLOW_STYLE: PlaceholderStyle;
/** `${env:VAR}` and `${keyring:name}`. */
export declare const KEYRING_STYLE: PlaceholderStyle;
/** `${VAR}`, `${VAR:-default}` and `$env:VAR`. */
export declare const ENV_PREFIX_STYLE: PlaceholderStyle;
/** Whatever looks like a placeholder of anybody, for files whose client is unknown or says nothing about it. */
export declare const ANY_STYLE: PlaceholderStyle;
