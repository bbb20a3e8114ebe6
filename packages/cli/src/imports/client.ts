/** A row of the table of clients. */

import type { Candidate, PathBuilder } from './client-paths.js';
import type { Dialect } from './dialect.js';
import type { Approvals, ImportedInput, Scope } from './entries/imported-server.js';
import type { FileEdit } from './formats/file-edit.js';
import type { FileFormat } from './formats/parse-text.js';

export interface LocatedEntry {
  readonly name: string;
  readonly value: unknown;
  readonly scope?: Scope;
  readonly project?: string;
  readonly trust?: 'ask' | 'approved' | 'rejected';
  /** Switched off by another part of the file; the text says by what. */
  readonly offBy?: string;
  /** Left out; the text says why. */
  readonly refused?: string;
  readonly excludeTools?: readonly string[];
  readonly notes?: readonly string[];
}

export interface ReadOptions {
  /** Where the text came from; its ending tells the format when the client does not. */
  readonly file?: string;
  readonly scope?: Scope;
  /** The folder whose local servers and switches are wanted; without it, all folders'. */
  readonly project?: string;
  /** Earlier answers about shared files, as other files of the client gave them. */
  readonly approvals?: Approvals;
}

export interface SettingsContext {
  readonly servers: readonly {
    readonly name: string;
    readonly enabled: boolean;
    readonly inputs: readonly string[];
  }[];
  readonly inputs: readonly ImportedInput[];
}

export interface Client {
  readonly id: string;
  readonly label: string;
  readonly format: FileFormat;
  candidates(at: PathBuilder): readonly Candidate[];
  readonly dialect: Dialect;
  /** When files of one client come in several dialects. */
  dialectOf?(root: unknown): Dialect;
  /** When there is more to know than the container's entries. */
  locate?(root: unknown, options: ReadOptions): readonly LocatedEntry[];
  inputs?(root: unknown): readonly ImportedInput[];
  approvals?(root: unknown, project: string | undefined): Approvals | undefined;
  /** What a writer changes outside the entries. */
  settings?(root: unknown, context: SettingsContext): FileEdit['settings'];
  /** True when those settings say which servers are off. */
  readonly hasSwitchesInSettings?: boolean;
  /** Where servers of one folder are written. */
  projectContainer?(project: string): readonly string[];
}
