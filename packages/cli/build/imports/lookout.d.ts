import type { Scope } from './imported-server.js';
import type { FileFormat } from './parse-text.js';
/** The machine and the folder that paths are worked out for. */
export interface Place {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}
export interface Candidate {
  readonly scope: Scope;
  readonly path: string;
  /** The file is ignored when links lead it out of this folder. */
  readonly within: string;
  /** When it is not the client's usual one. */
  readonly format?: FileFormat;
  /** The path is a folder: files in it with this ending, or this file in each of its folders. */
  readonly each?:
    | {
        readonly ending: string;
      }
    | {
        readonly file: string;
      };
}
export interface Lookout {
  readonly place: Place;
  join(...parts: readonly string[]): string;
  /** Below the user's home. */
  home(...parts: readonly string[]): Candidate;
  /** Below the folder for configuration (`~/.config`, or what XDG_CONFIG_HOME says). */
  config(...parts: readonly string[]): Candidate;
  /** Below the folder where desktop programs keep their data. */
  appData(...parts: readonly string[]): Candidate;
  project(...parts: readonly string[]): Candidate;
  /** Below the folder that a variable names; none when it is not set. */
  given(variable: string, ...parts: readonly string[]): Candidate[];
  /** Below the folder where administrators keep files. */
  managed(
    folders: Readonly<Record<'darwin' | 'win32' | 'linux', string>>,
    ...parts: readonly string[]
  ): Candidate;
}
/** Ways to name places on one machine. */
export declare function lookAround(place: Place): Lookout;
