/** How one client writes a server down: everything that the shared reader and writer must know about it. */
import type { FieldReader } from './entries/field-reader.js';
import type { DraftTransport, OAuthDraft, ServerDraft } from './entries/imported-server.js';
import type { PlaceholderStyle, Segment } from './entries/placeholders.js';
import type { Entry } from './formats/plain-value.js';

/** A draft while it is being put together. */
export type MutableDraft = { -readonly [Key in keyof ServerDraft]: ServerDraft[Key] };

/** A client's duration: `unit` is what its number counts. */
export interface TimeoutKey {
  readonly key: string;
  readonly unit: 'ms' | 's';
  readonly to: 'connectTimeoutMs' | 'callTimeoutMs';
}

export type OAuthSetting = Exclude<keyof OAuthDraft, 'type'>;

/** A key and the one value of it that has a meaning. */
export interface KeyValue {
  readonly key: string;
  readonly value: string | boolean;
}

/** Where a client keeps the settings of OAuth; `oauth.clientId` is the key `clientId` of the map `oauth`. */
export interface OAuthKeys {
  /** The client's spelling; in a list, the first one is written and all are read. */
  readonly keys: Readonly<Partial<Record<OAuthSetting, string | readonly string[]>>>;
  /** `text`: scopes are one text with spaces between them. */
  readonly scopesAs?: 'list' | 'text';
  /** The port of the redirect URI, whose rest follows from the server's URL. */
  readonly port?: { readonly key: string; uri(port: number, serverUrl: string): string };
  /** Says that the client signs in, whatever else is set. */
  readonly on?: KeyValue;
  /** Says that the client never signs in. */
  readonly off?: KeyValue;
  /** True: the client refuses an entry that has headers, too. */
  readonly excludesHeaders?: boolean;
  /** Other keys for the same, which the writer may remove. */
  readonly ownedKeys?: readonly string[];
}

/** How a client's sandbox is switched on, and what else is said about it. */
export interface SandboxKeys {
  /** Keys of an entry that the writer owns. */
  readonly keys: readonly string[];
  /** Undefined without a sandbox. Adds notes about limits that differ here. */
  read(fields: FieldReader, turn: (text: string) => string, notes: string[]): ServerDraft['sandbox'];
  write(sandbox: ServerDraft['sandbox'], entry: Record<string, unknown>, notes: string[]): void;
}

/** Puts what a client says in keys of its own into our placeholders: no text gets into a draft without it. */
export interface ExtrasContext {
  readonly notes: string[];
  /** A text with placeholders of the client. */
  turn(text: string, spot: string): string;
  /** What the key means. The entry is left out if our spelling cannot say it, such as a name with a colon. */
  print(segments: readonly Segment[], spot: string): string;
}

export interface Dialect {
  /** Keys that lead to the servers; the writer uses this one. */
  readonly container: readonly string[];
  /** Other places where they are found. */
  readonly alternativeContainers?: readonly (readonly string[])[];
  /** True: a list whose entries have a `name`. */
  readonly list?: boolean;
  /** True: entries of a map repeat their name inside. */
  readonly named?: boolean;
  readonly style: PlaceholderStyle;
  /** The key that names the transport when written; absent when the client tells by the other keys. */
  readonly typeKey?: string;
  /** What the client calls each transport it has; one that is absent is one it does not have. */
  readonly transports: Readonly<Partial<Record<DraftTransport, string>>>;
  /** The client's spelling; without one, `cwd`, `description` and the tool lists cannot be written. */
  readonly keys?: Readonly<{
    command?: string;
    env?: string;
    cwd?: string;
    url?: string;
    headers?: string;
    description?: string;
    includeTools?: string;
    excludeTools?: string;
  }>;
  readonly timeouts?: readonly TimeoutKey[];
  /** Absent when an entry cannot say how to sign in. */
  readonly oauth?: OAuthKeys;
  /** Absent when the client has no sandbox for its servers. */
  readonly sandbox?: SandboxKeys;
  /** The key that switches a server; absent when an entry cannot say it. */
  readonly switchKey?: 'enabled' | 'disabled';
  /** Keys beyond the shared ones that the writer owns, and so may remove. */
  readonly ownedKeys?: readonly string[];
  /** Turns the client's peculiar shape into the usual one; a text says why the entry is left out. */
  normalizeEntry?(entry: Entry, notes: string[]): Entry | string;
  /** Adds what the client says in keys of its own. */
  readExtras?(draft: MutableDraft, fields: FieldReader, context: ExtrasContext): void;
  /** Writes what has keys of its own into `entry` and answers the rest. */
  writeExtras?(draft: ServerDraft, entry: Record<string, unknown>, notes: string[]): ServerDraft;
  /** The last touch on a written entry. */
  finalizeEntry?(entry: Readonly<Record<string, unknown>>, draft: ServerDraft): Record<string, unknown>;
}

/** Keys under which clients keep the same thing; any of them is read in any file. */
export const KEY_VARIANTS = {
  command: ['command', 'cmd'],
  args: ['args'],
  env: ['env', 'environment', 'envs'],
  cwd: ['cwd', 'working_dir', 'workingDirectory', 'workingDir'],
  url: ['url', 'serverUrl', 'httpUrl', 'uri', 'baseUrl', 'endpoint'],
  headers: ['headers', 'http_headers', 'requestHeaders'],
  description: ['description'],
  includeTools: ['includeTools', 'enabledTools', 'enabled_tools', 'allowedTools', 'available_tools'],
  excludeTools: ['excludeTools', 'disabledTools', 'disabled_tools', 'blockedTools'],
  type: ['type', 'transport', 'transportType', 'protocol'],
} as const;
