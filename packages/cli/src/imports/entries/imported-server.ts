/** What an import gives: servers in our own shape, and everything about them that has no place there. */
import type { ServerInput } from 'turnbuckle';

export type Scope = 'user' | 'project' | 'local' | 'managed';

export type DraftTransport = 'stdio' | 'http' | 'sse' | 'websocket';

/** The settings of OAuth that other clients have, too. */
export interface OAuthDraft {
  readonly type: 'oauth';
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientMetadataUrl?: string;
  readonly issuer?: string;
  readonly authUrl?: string;
  readonly tokenUrl?: string;
  readonly registrationUrl?: string;
  readonly revocationUrl?: string;
  readonly redirectUri?: string;
  readonly scopes?: readonly string[];
}

/** Static credentials are headers in every client, so they are headers here. */
export type AuthDraft = { readonly type: 'none' } | OAuthDraft;

export interface SandboxDraft {
  readonly preset?: 'strict' | 'offline' | 'standard';
  readonly write?: readonly string[];
  readonly network?: boolean;
}

/** A server in our own shape as it may stand in a file: placeholders unexpanded, defaults left out. */
export type ServerDraft = {
  readonly type: DraftTransport;
  readonly description?: string;
  readonly enabled?: boolean;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly inheritEnv?: readonly string[];
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly auth?: AuthDraft;
  readonly sandbox?: boolean | NonNullable<SandboxDraft['preset']> | SandboxDraft;
  readonly connectTimeoutMs?: number;
  readonly callTimeoutMs?: number;
  readonly includeTools?: readonly string[];
  readonly excludeTools?: readonly string[];
};

export interface ImportedServer {
  readonly name: string;
  readonly config: ServerDraft;
  /** What a person should know: keys left behind, wrappers taken off, values that mean something else here. */
  readonly notes: readonly string[];
  /** Keys of the entry that have no place in our shape, as they stood. They may hold secrets. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly scope?: Scope;
  /** The folder that a server of local scope belongs to. */
  readonly project?: string;
  /** `ask`: from a file that others can change, so a person must agree before it starts. */
  readonly trust?: 'ask' | 'approved' | 'rejected';
}

export interface SkippedServer {
  readonly name: string;
  readonly reason: string;
}

/** A value that the user is asked for; `${input:id}` refers to it. */
export interface ImportedInput {
  readonly id: string;
  readonly description?: string;
  readonly password?: boolean;
  readonly default?: string;
  readonly options?: readonly string[];
}

/** A person's earlier answers about the servers of a project's shared file. */
export interface Approvals {
  readonly all: boolean;
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
  readonly denied: readonly string[];
  /** When given, no other server may be used. */
  readonly allowed?: readonly string[];
}

export interface ImportResult {
  readonly servers: readonly ImportedServer[];
  readonly skipped: readonly SkippedServer[];
  /** What is wrong with the file as a whole. */
  readonly problems: readonly string[];
  readonly inputs: readonly ImportedInput[];
  readonly approvals?: Approvals;
}

/** What the writers take: a server of ours, checked or as somebody wrote it. */
export interface OutgoingServer {
  readonly name: string;
  readonly config: ServerDraft | ServerInput | Readonly<Record<string, unknown>>;
}
