/** The part of a registry record that installing needs (schema 2025-12-11). Everything in it is untrusted. */

export const PACKAGE_TYPES = ['npm', 'pypi', 'oci', 'mcpb', 'nuget'] as const;

export type PackageType = (typeof PACKAGE_TYPES)[number];

/** A value that the record fixes (`value`), or that somebody has to give. */
export interface RecordInput {
  readonly value?: string | undefined;
  readonly default?: string | undefined;
  readonly description?: string | undefined;
  readonly format?: string | undefined;
  readonly isRequired?: boolean | undefined;
  readonly isSecret?: boolean | undefined;
  readonly choices?: readonly string[] | undefined;
  /** For `{name}` in `value`. */
  readonly variables?: Readonly<Record<string, RecordInput>> | undefined;
}

export interface RecordArgument extends RecordInput {
  readonly type: 'positional' | 'named';
  /** Of a named one, with its dashes. */
  readonly name?: string | undefined;
  readonly valueHint?: string | undefined;
}

/** An environment variable or a header. */
export interface NamedInput extends RecordInput {
  readonly name: string;
}

export interface InstallablePackage {
  readonly registryType: PackageType;
  readonly identifier: string;
  readonly version?: string | undefined;
  readonly fileSha256?: string | undefined;
  readonly transport: { readonly type: string; readonly url?: string | undefined };
  readonly runtimeHint?: string | undefined;
  readonly packageArguments?: readonly RecordArgument[] | undefined;
  readonly runtimeArguments?: readonly RecordArgument[] | undefined;
  readonly environmentVariables?: readonly NamedInput[] | undefined;
}

export interface InstallableRemote {
  readonly type: string;
  readonly url: string;
  readonly headers?: readonly NamedInput[] | undefined;
  readonly variables?: Readonly<Record<string, RecordInput>> | undefined;
}

export interface InstallableRecord {
  /** `namespace/name` */
  readonly name: string;
  /** A package that was named exactly: the record is not from a registry, and `name` is that of the package. */
  readonly isUnlisted?: true | undefined;
  readonly version: string;
  readonly packages?: readonly InstallablePackage[] | undefined;
  readonly remotes?: readonly InstallableRemote[] | undefined;
}
