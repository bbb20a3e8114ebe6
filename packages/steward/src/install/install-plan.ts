/** What a plan for an installation is made of, and what it is made from. */
import type { Advisory } from './advisories.js';
import type { InstallKind, InstallSettings } from './allow-list.js';
import type { EntryTemplate, InputField } from './entry-template.js';
import type { InstallablePackage, InstallableRemote, PackageType } from './installable-record.js';
import type { RecordInputs } from './record-inputs.js';
import { type InstallRefusal, refuse } from './refusal.js';

/** What is known of a package from where it is published. */
export interface PackageFacts {
  /** Of the file: `sha512-…` (npm), `sha256:…` (image), or the SHA-256 in hex (bundle). */
  readonly integrity: string;
  readonly publishedAt?: number;
  /** Its scripts, such as postinstall, are never run. */
  readonly hasInstallScripts?: boolean;
  readonly deprecated?: string;
  /** npm: programs of the package by name. */
  readonly bin?: Readonly<Record<string, string>>;
  /** npm: dependencies that are not from the registry. */
  readonly foreignDependencies?: readonly string[];
  /** The manifest of a bundle. */
  readonly manifest?: unknown;
}

/** Programs of this machine, by absolute path; absent: not installed. */
export interface MachinePrograms {
  readonly node: string;
  /** npm's own JavaScript file. */
  readonly npm?: string | undefined;
  readonly uvx?: string | undefined;
  readonly docker?: string | undefined;
  readonly podman?: string | undefined;
}

export interface PlanOptions {
  /** The name of the config entry. */
  readonly serverName: string;
  readonly settings: InstallSettings;
  readonly programs: MachinePrograms;
  /** Where packages are installed, each in a directory of its own; outside of the state directory. */
  readonly root: string;
  readonly now: number;
  /** True: the entry has a sandbox, which shows the server little more than its package. */
  readonly sandbox: boolean;
  readonly facts?: PackageFacts | undefined;
  /** Exactly this package of the record; absent: the first that can be installed here. */
  readonly package?:
    | { readonly type: InstallKind; readonly identifier: string; readonly version?: string | undefined }
    | undefined;
  /** Whether the registry has verified who owns the namespace of the record. */
  readonly verified?: boolean | undefined;
  /** Whether the registry says that the record is deprecated. */
  readonly isDeprecated?: boolean | undefined;
  /** A better known name that this one resembles. */
  readonly similarTo?: string | undefined;
  readonly advisories?: readonly Advisory[] | undefined;
  /** Values for inputs, to show the exact command. */
  readonly values?: Readonly<Record<string, string>> | undefined;
  /** Ends the names of secrets in the vault, so that no two installations share one. */
  readonly secretScope?: string | undefined;
}

export interface InstallPlan {
  readonly kind: Exclude<InstallKind, 'nuget'>;
  readonly serverName: string;
  readonly identifier: string;
  readonly version: string;
  readonly integrity?: string;
  /** Where it will be installed; absent if nothing is copied. */
  readonly directory?: string;
  /** The file in the directory that is run. */
  readonly file?: string;
  readonly inputs: readonly InputField[];
  readonly server: EntryTemplate;
  readonly shown: {
    /** The command that will be run, or the address of a remote server: exact, untrusted text. */
    readonly command: readonly string[];
    readonly warnings: readonly string[];
  };
}

/** A package or remote of the record that rules and names allow. */
export type Choice =
  | { readonly kind: Exclude<PackageType, 'nuget'>; readonly package: InstallablePackage }
  | { readonly kind: 'remote'; readonly remote: InstallableRemote };

/** What the planner of a kind adds. */
export interface KindPlan {
  readonly version?: string;
  readonly directory?: string;
  readonly file?: string;
  readonly server: EntryTemplate;
  readonly warnings?: readonly string[];
}

export interface KindOptions extends PlanOptions {
  readonly inputs: RecordInputs;
}

/** This machine lacks something, or Turnbuckle does. */
export const cannotInstall = (
  identifier: string,
  reason: string,
  hint = 'Choose another package or remote in the record, or add the server by hand.',
): InstallRefusal => refuse(`${identifier} cannot be installed here, because ${reason}.`, hint);
