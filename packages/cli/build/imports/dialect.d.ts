/** How one client writes a server down: everything that the shared reader and writer must know about it. */
import type { Fields } from './fields.js';
import type { DraftTransport, ServerDraft } from './imported-server.js';
import type { PlaceholderStyle } from './placeholders.js';
import type { Entry } from './plain-value.js';
/** A draft while it is being put together. */
export type LooseDraft = {
  -readonly [Key in keyof ServerDraft]: ServerDraft[Key];
};
/** A client's duration: `unit` is what its number counts. */
export interface TimeoutKey {
  readonly key: string;
  readonly unit: 'ms' | 's';
  readonly to: 'connectTimeoutMs' | 'callTimeoutMs';
}
export interface Dialect {
  /** Keys that lead to the servers; the writer uses this one. */
  readonly container: readonly string[];
  /** Other places where they are found. */
  readonly alsoIn?: readonly (readonly string[])[];
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
  /** The key that switches a server; absent when an entry cannot say it. */
  readonly switchKey?: 'enabled' | 'disabled';
  /** Keys beyond the shared ones that the writer owns, and so may remove. */
  readonly owns?: readonly string[];
  /** Turns the client's peculiar shape into the usual one; a text says why the entry is left out. */
  before?(entry: Entry, notes: string[]): Entry | string;
  /** Adds what the client says in keys of its own, already in our placeholders. */
  finish?(draft: LooseDraft, fields: Fields, notes: string[]): void;
  /** Writes what has keys of its own into `entry` and answers the rest. */
  prepare?(draft: ServerDraft, entry: Record<string, unknown>, notes: string[]): ServerDraft;
  /** The last touch on a written entry. */
  after?(entry: Readonly<Record<string, unknown>>, draft: ServerDraft): Record<string, unknown>;
}
/** Keys under which clients keep the same thing; any of them is read in any file. */
export declare const KEY_SPELLINGS: {
  readonly command: readonly ['command', 'cmd'];
  readonly args: readonly ['args'];
  readonly env: readonly ['env', 'environment', 'envs'];
  readonly cwd: readonly ['cwd', 'working_dir', 'workingDirectory', 'workingDir'];
  readonly url: readonly ['url', 'serverUrl', 'httpUrl', 'uri', 'baseUrl', 'endpoint'];
  readonly headers: readonly ['headers', 'http_headers', 'requestHeaders'];
  readonly description: readonly ['description'];
  readonly includeTools: readonly [
    'includeTools',
    'enabledTools',
    'enabled_tools',
    'allowedTools',
    'available_tools',
  ];
  readonly excludeTools: readonly ['excludeTools', 'disabledTools', 'disabled_tools', 'blockedTools'];
  readonly type: readonly ['type', 'transport', 'transportType', 'protocol'];
};
