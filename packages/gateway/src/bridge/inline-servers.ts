/**
 * Servers that are given in a request instead of the configuration: connected when first named, kept while
 * they are used, ended when they are not. A runtime of their own keeps them out of everybody's catalog.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { type Caller, identityOf, type Runtime, type ServerInput, TurnbuckleError } from 'turnbuckle';
import { mayTake } from '../http/shares.js';
import { OWNER } from '../tokens/token-store.js';

export interface InlineEndpoint {
  readonly url?: string | undefined;
  readonly transport?: string | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface InlineRules {
  /** Commands, word for word. */
  readonly commands: ReadonlyArray<readonly string[]>;
  /** Addresses that every caller may name. */
  readonly urls: readonly string[];
  /** How many endpoints may be open at once. */
  readonly maxEndpoints: number;
}

/** An endpoint in use, until `release`. */
export interface Opened {
  readonly runtime: Runtime;
  readonly server: string;
  readonly release: () => void;
}

interface Entry {
  readonly config: ServerInput;
  /** Whose place it takes: that of who named it first. */
  readonly identity: string;
  /** Calls on their way to it. */
  users: number;
}

const IDLE_MS = 60_000;
/** The bound of the configuration can change; that of a runtime cannot. */
const MAX_SERVERS = 1_000;

export class InlineServers {
  readonly #create: (limits: { readonly maxServers: number }) => Promise<Runtime>;
  readonly #rules: () => InlineRules;
  /** By name; the one that was used longest ago comes first. */
  readonly #entries = new Map<string, Entry>();
  #runtime: Promise<Runtime> | undefined;
  #setting: Promise<unknown> = Promise.resolve();

  /** `create` makes their runtime, when the first of them is named. */
  constructor(
    create: (limits: { readonly maxServers: number }) => Promise<Runtime>,
    rules: () => InlineRules,
  ) {
    this.#create = create;
    this.#rules = rules;
  }

  /** The runtime that has it, and its name there. Throws ACCESS_DENIED, ARGUMENTS_INVALID or OVERLOADED. */
  async open(endpoint: InlineEndpoint, caller: Caller): Promise<Opened> {
    const config = this.#toConfig(endpoint, caller);
    const server = nameOf(endpoint, config);
    this.#runtime ??= this.#create({ maxServers: MAX_SERVERS });
    const runtime = await this.#runtime;
    const known = this.#entries.get(server);
    const entry = known ?? { config, identity: identityOf(caller), users: 0 };
    if (known === undefined) this.#makeRoom(caller);
    // In use from here on, so that nobody takes its place while it is being set up.
    entry.users += 1;
    this.#touch(server, entry);
    const release = (): void => {
      entry.users -= 1;
      if (this.#entries.get(server) === entry) this.#touch(server, entry);
    };
    try {
      if (known === undefined) this.#set(runtime);
      await this.#setting;
    } catch (error) {
      // What cannot be set up is not left in the way of the others.
      if (this.#entries.get(server) === entry) this.#entries.delete(server);
      throw error;
    }
    return { runtime, server, release };
  }

  async close(): Promise<void> {
    await (await this.#runtime)?.close();
  }

  #touch(server: string, entry: Entry): void {
    this.#entries.delete(server);
    this.#entries.set(server, entry);
  }

  /** One that nobody uses leaves: of the caller's own where it has its share, else of anybody. Never one in use. */
  #makeRoom(caller: Caller): void {
    const max = this.#rules().maxEndpoints;
    const identity = identityOf(caller);
    const isOwner = caller.id === OWNER;
    const own = [...this.#entries.values()].filter((entry) => entry.identity === identity).length;
    if (mayTake({ own, taken: this.#entries.size, max, isOwner })) return;
    const idle = [...this.#entries].filter(([, { users }]) => users === 0);
    const busy = this.#entries.size - idle.length;
    const ownBusy = own - idle.filter(([, entry]) => entry.identity === identity).length;
    if (!mayTake({ own: ownBusy, taken: busy, max, isOwner })) throw allInUse(max);
    const [leaves] = idle.find(([, entry]) => entry.identity === identity) ?? idle[0] ?? [];
    if (leaves === undefined) throw allInUse(max);
    this.#entries.delete(leaves);
  }

  /** One after the other, and one that fails does not keep the next from being tried. */
  #set(runtime: Runtime): void {
    const all = (): Record<string, ServerInput> =>
      Object.fromEntries([...this.#entries].map(([name, { config }]) => [name, config]));
    this.#setting = this.#setting.catch(() => {}).then(() => runtime.setServers(all()));
    this.#setting.catch(() => {});
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
    return { ...shared, type, url, ...(headers !== undefined && { headers }) };
  }
}

/** Says where it leads, and is another one for another endpoint. */
function nameOf({ url = '', command }: InlineEndpoint, config: ServerInput): string {
  const where = command === undefined ? (URL.canParse(url) ? new URL(url).host : '') : basename(command);
  const hash = createHash('sha256').update(JSON.stringify(config)).digest('hex').slice(0, 16);
  return `inline-${where.replaceAll(/[^\w.-]+/g, '-').slice(0, 64)}-${hash}`;
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((word, index) => word === right[index]);

const commandRefused = (command: string): TurnbuckleError =>
  new TurnbuckleError('ACCESS_DENIED', `The command "${command}" may not be started by a request.`, {
    hint: 'Allow it, word for word, in daemon.bridge.commands of your configuration, or add it as a server.',
  });

const addressRefused = (url: string): TurnbuckleError =>
  new TurnbuckleError(
    'ACCESS_DENIED',
    `This token may not name the address ${JSON.stringify(url.slice(0, 200))}.`,
    {
      hint: 'Name it in daemon.bridge.urls of your configuration, or add it as a server.',
    },
  );

const allInUse = (max: number): TurnbuckleError =>
  new TurnbuckleError('OVERLOADED', 'Too many endpoints are in use, of this token or of all.', {
    hint: `There can be ${max} at once: daemon.bridge.maxEndpoints in your configuration. Try again in a moment.`,
    data: { retryAfterMs: 1_000 },
  });

const noEndpoint = (): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', 'The endpoint has neither a url nor a command.', {
    hint: 'Give one of them, or name a configured server: {"server": "name", "tool_name": …}.',
  });
