/**
 * Servers described in a request instead of the configuration: connected on first use, kept while in use, closed when
 * idle. A separate runtime keeps them out of every catalog.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { type Caller, type Runtime, type ServerInput, TurnbuckleError } from 'turnbuckle';
import { type DaemonSettings, identityOf, writtenSecretsOf } from 'turnbuckle/host';
import { isWithinFairShare } from '../http/limits/fair-share.js';
import { OWNER } from '../identity/owner.js';
import { checkInlineHeaders } from './inline-headers.js';

export interface InlineEndpoint {
  readonly url?: string | undefined;
  readonly transport?: string | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface InlineRules {
  /** Exact commands. */
  readonly commands: ReadonlyArray<readonly string[]>;
  /** URLs that every caller may use. */
  readonly urls: readonly string[];
  /** How many endpoints may be open at a time. */
  readonly maxEndpoints: number;
}

/** An endpoint in use, until `release`. */
export interface OpenedEndpoint {
  readonly runtime: Runtime;
  readonly server: string;
  readonly release: () => void;
}

interface Entry {
  readonly config: ServerInput;
  /** The identity that it counts for: the one that used it first. */
  readonly identity: string;
  /** Calls in progress. */
  users: number;
  /** Its identity is no longer valid: it is closed with its last call. */
  isEnded?: boolean;
}

const IDLE_MS = 60_000;
/** The limit in the configuration can change; that of a runtime cannot. */
const MAX_INLINE_SERVERS = 1_000;

const DEFAULT_MAX_ENDPOINTS = 50;

/** With the current settings of the configuration, which may change. `create` makes their runtime, on first use. */
export const createInlineServers = (
  create: (limits: { readonly maxServers: number }) => Promise<Runtime>,
  settings: () => DaemonSettings,
): InlineServers =>
  new InlineServers(create, () => {
    const { commands = [], urls = [], maxEndpoints = DEFAULT_MAX_ENDPOINTS } = settings().bridge ?? {};
    return { commands, urls, maxEndpoints };
  });

export class InlineServers {
  readonly #create: (limits: { readonly maxServers: number }) => Promise<Runtime>;
  readonly #rules: () => InlineRules;
  /** By name; the least recently used comes first. */
  readonly #entries = new Map<string, Entry>();
  #runtime: Promise<Runtime> | undefined;
  /** Evicted ones until they are closed, by name: an endpoint never has two connections at a time. */
  readonly #closing = new Map<string, Promise<unknown>>();

  /** `create` makes their runtime, on first use. */
  constructor(
    create: (limits: { readonly maxServers: number }) => Promise<Runtime>,
    rules: () => InlineRules,
  ) {
    this.#create = create;
    this.#rules = rules;
  }

  /** The runtime that has it, and its name there. Throws ACCESS_DENIED, ARGUMENTS_INVALID or OVERLOADED. */
  async open(endpoint: InlineEndpoint, caller: Caller): Promise<OpenedEndpoint> {
    const config = this.#toConfig(endpoint, caller);
    const server = nameOf(endpoint, config);
    this.#runtime ??= this.#create({ maxServers: MAX_INLINE_SERVERS });
    const runtime = await this.#runtime;
    // At each use, and for its caller: no other caller makes the log forget that these are secrets.
    for (const secret of writtenSecretsOf(config)) runtime.learnSecret(secret, identityOf(caller));
    await this.#closing.get(server);
    const known = this.#entries.get(server);
    const entry = known ?? { config, identity: identityOf(caller), users: 0 };
    const evicted = known === undefined ? this.#evictIfFull(caller) : undefined;
    entry.users += 1;
    this.#touch(server, entry);
    if (known === undefined) this.#applyServers(runtime, evicted);
    const release = (): void => {
      entry.users -= 1;
      if (this.#entries.get(server) !== entry) return;
      if (entry.isEnded === true && entry.users === 0) this.#evict(runtime, server);
      else this.#touch(server, entry);
    };
    return { runtime, server, release };
  }

  /** The token of this caller has ended: what it has opened, with the credentials that it brought, is closed. */
  async end(caller: Caller): Promise<void> {
    const runtime = await this.#runtime;
    if (runtime === undefined) return;
    const identity = identityOf(caller);
    for (const [server, entry] of [...this.#entries]) {
      if (entry.identity !== identity) continue;
      entry.isEnded = true;
      if (entry.users === 0) this.#evict(runtime, server);
    }
  }

  async close(): Promise<void> {
    await (await this.#runtime)?.close();
  }

  #touch(server: string, entry: Entry): void {
    this.#entries.delete(server);
    this.#entries.set(server, entry);
  }

  /** Evicts an idle one: of the caller itself if it has its share, otherwise of anyone. Never one in use. */
  #evictIfFull(caller: Caller): string | undefined {
    const max = this.#rules().maxEndpoints;
    const identity = identityOf(caller);
    const isOwner = caller.id === OWNER;
    const own = [...this.#entries.values()].filter((entry) => entry.identity === identity).length;
    if (isWithinFairShare({ own, taken: this.#entries.size, max, isOwner })) return undefined;
    const idle = [...this.#entries].filter(([, { users }]) => users === 0);
    const busy = this.#entries.size - idle.length;
    const ownBusy = own - idle.filter(([, entry]) => entry.identity === identity).length;
    if (!isWithinFairShare({ own: ownBusy, taken: busy, max, isOwner })) throw endpointsInUse(max);
    const [leaves] = idle.find(([, entry]) => entry.identity === identity) ?? idle[0] ?? [];
    if (leaves === undefined) throw endpointsInUse(max);
    this.#entries.delete(leaves);
    return leaves;
  }

  #evict(runtime: Runtime, server: string): void {
    this.#entries.delete(server);
    this.#applyServers(runtime, server);
  }

  /** In effect at once. Nobody waits for the evicted one to close: its server decides how long that takes. */
  #applyServers(runtime: Runtime, evicted: string | undefined): void {
    const servers = Object.fromEntries([...this.#entries].map(([name, { config }]) => [name, config]));
    // A closed runtime also rejects the call that follows.
    const applied = runtime.setServers(servers).catch(() => {});
    if (evicted === undefined) return;
    const closing = applied.finally(() => this.#closing.delete(evicted));
    this.#closing.set(evicted, closing);
  }

  #toConfig({ url, transport, command, args = [], headers }: InlineEndpoint, caller: Caller): ServerInput {
    const shared = { start: 'lazy', idleMs: IDLE_MS } as const;
    if (command !== undefined) {
      const words = [command, ...args];
      const isAllowed = this.#rules().commands.some((allowed) => isSame(allowed, words));
      if (!isAllowed) throw commandRefused(command);
      return { ...shared, type: 'stdio', command, args: [...args] };
    }
    if (url === undefined) throw noEndpoint();
    if (caller.id !== OWNER && !this.#rules().urls.includes(url)) throw addressRefused(url);
    const type = transport === undefined || transport === 'stdio' ? 'http' : transport;
    if (headers !== undefined) checkInlineHeaders(headers);
    // A stored sign-in is for configured servers, whose rules say who may use it. One for the owner alone would need a
    // second name for the same endpoint, and pins and approvals of one would not hold for the other.
    return { ...shared, type, url, auth: { type: 'none' }, ...(headers !== undefined && { headers }) };
  }
}

/** Names its host or program, and is unique for each endpoint. */
function nameOf({ url = '', command }: InlineEndpoint, config: ServerInput): string {
  const where = command === undefined ? (URL.canParse(url) ? new URL(url).host : '') : basename(command);
  const hash = createHash('sha256').update(JSON.stringify(config)).digest('hex').slice(0, 32);
  return `inline-${where.replaceAll(/[^\w.-]+/g, '-').slice(0, 64)}-${hash}`;
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((word, index) => word === right[index]);

const commandRefused = (command: string): TurnbuckleError =>
  new TurnbuckleError('ACCESS_DENIED', `Requests are not allowed to start the command "${command}".`, {
    hint: 'Add the exact command to daemon.bridge.commands in your configuration, or configure a server with this command.',
  });

const addressRefused = (url: string): TurnbuckleError =>
  new TurnbuckleError(
    'ACCESS_DENIED',
    `This token is not allowed to use the URL ${JSON.stringify(url.slice(0, 200))}.`,
    {
      hint: 'Add the URL to daemon.bridge.urls in your configuration, or configure a server with this URL.',
    },
  );

const endpointsInUse = (max: number): TurnbuckleError =>
  new TurnbuckleError('OVERLOADED', 'Too many inline servers are in use, for this token or for the daemon.', {
    hint: `The limit is ${max} (daemon.bridge.maxEndpoints in your configuration). Try again in a moment.`,
    data: { retryAfterMs: 1_000 },
  });

const noEndpoint = (): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', '"endpoint" has neither "url" nor "command".', {
    hint: 'Set one of them, or use a configured server: {"server": "name", "tool_name": …}.',
  });
