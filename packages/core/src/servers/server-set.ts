/**
 * The configured servers and their lives: who exists, who is up, what changes when the configuration does.
 * Only what changed is touched.
 */
import { disabled, unknownServer } from './call-errors.js';
import type { Catalog } from './catalog/catalog.js';
import { canonicalJson } from './catalog/fingerprint.js';
import type { ParsedServers } from './config/parse.js';
import type { ServerConfig } from './config/schema.js';
import { TurnbuckleError, toTurnbuckleError } from './errors.js';
import type { Events } from './events.js';
import type { Server } from './server.js';
import { describeProblem, describeServer, type ServerStatus } from './status.js';

export interface ServerSetOptions {
  readonly catalog: Catalog;
  readonly events: Events;
  readonly maxServers: number;
  readonly create: (name: string, config: ServerConfig) => Server;
  /** The server is gone for good: forget what is known of it. */
  readonly onRemoved: (name: string) => void;
}

export interface SetServersResult {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** A sentence for each server that could not be used or did not come up. */
  readonly errors: Readonly<Record<string, string>>;
}

export class ServerSet {
  readonly #options: ServerSetOptions;
  readonly #servers = new Map<string, Server>();
  /** What is wrong with the configuration of a name: of a server that goes on as it was, or of none. */
  #problems = new Map<string, TurnbuckleError>();
  #surroundings: ReadonlyMap<string, string> = new Map();
  /** Servers that are on their way out: of a name there is never a second process beside the first. */
  readonly #leaving = new Set<Promise<void>>();

  constructor(options: ServerSetOptions) {
    this.#options = options;
  }

  get(name: string): Server | undefined {
    return this.#servers.get(name);
  }

  /** Why a configured server could not be taken on. */
  problemOf(name: string): TurnbuckleError | undefined {
    return this.#problems.get(name);
  }

  /** Those that are switched on and have a link now. */
  live(): Server[] {
    return this.all().filter((server) => server.enabled && server.connection.link !== undefined);
  }

  all(): Server[] {
    return [...this.#servers.values()];
  }

  /** Takes over a configuration without starting anything. */
  adopt(parsed: ParsedServers): { added: Server[]; removed: Server[]; changed: string[] } {
    const before = this.#problems;
    this.#problems = new Map(parsed.problems);
    const { surroundings = new Map<string, string>() } = parsed;
    const removed: Server[] = [];
    const added: Server[] = [];
    const changed: string[] = [];
    for (const [name, server] of this.#servers) {
      const config = parsed.servers.get(name);
      const isElsewhere = surroundings.get(name) !== this.#surroundings.get(name);
      if (config !== undefined && !isElsewhere && isSame(server.config, config)) continue;
      if (config !== undefined) changed.push(name);
      this.#servers.delete(name);
      removed.push(server);
      this.#options.onRemoved(name);
    }
    for (const [name, config] of parsed.servers) {
      if (this.#servers.has(name)) continue;
      if (this.#servers.size >= this.#options.maxServers)
        this.#problems.set(name, tooMany(name, this.#options.maxServers));
      else added.push(this.#add(name, config));
    }
    this.#surroundings = surroundings;
    this.#tellProblems(before);
    return { added, removed, changed };
  }

  /** Moves to a new set of servers; untouched ones keep their connection. Resolves when all is in effect. */
  async replace(parsed: ParsedServers): Promise<SetServersResult> {
    const { added, removed, changed } = this.adopt(parsed);
    for (const server of removed) {
      const left: Promise<void> = server.close().finally(() => this.#leaving.delete(left));
      this.#leaving.add(left);
    }
    await Promise.all(this.#leaving);
    const errors = Object.fromEntries([...this.#problems].map(([name, error]) => [name, error.message]));
    await Promise.all(
      added.filter(startsByItself).map((server) =>
        server.connection.open().catch((error: unknown) => {
          errors[server.name] = toTurnbuckleError(error).message;
        }),
      ),
    );
    const names = (servers: readonly Server[]): string[] =>
      servers.map(({ name }) => name).filter((name) => !changed.includes(name));
    return { added: names(added), removed: names(removed), changed, errors };
  }

  /** Brings up every server that starts by itself, all at once; one that fails is no matter of the others. */
  async connectAll(): Promise<void> {
    await Promise.all(
      this.all()
        .filter(startsByItself)
        .map((server) => server.connection.open().catch(() => {})),
    );
  }

  async connect(name: string): Promise<void> {
    await this.requireEnabled(name).connection.open();
  }

  async disconnect(name: string): Promise<void> {
    await this.require(name).disconnect();
  }

  async reconnect(name: string): Promise<void> {
    const server = this.requireEnabled(name);
    await server.disconnect();
    await server.connection.open();
  }

  /** Off: its tools are hidden and a live connection is kept. On: they are shown, and it is brought up. */
  async toggle(name: string, enabled: boolean): Promise<void> {
    const server = this.require(name);
    if (server.enabled === enabled) return;
    server.enabled = enabled;
    this.#options.catalog.setHidden(name, !enabled);
    this.#options.events.emit('server.toggled', { server: name, enabled });
    if (enabled) await server.connection.open();
  }

  /** All that are configured, those whose configuration cannot be used included; sorted. */
  names(): string[] {
    return [...new Set([...this.#servers.keys(), ...this.#problems.keys()])].sort();
  }

  status(): ServerStatus[] {
    const servers = this.all().map(({ name }) => this.statusOf(name));
    const problems = [...this.#problems].filter(([name]) => !this.#servers.has(name));
    return [...servers, ...problems.map(([name, error]) => describeProblem(name, error))].sort(
      (left, right) => (left.name < right.name ? -1 : 1),
    );
  }

  statusOf(name: string): ServerStatus {
    const problem = this.#problems.get(name);
    const server = this.#servers.get(name);
    if (server === undefined && problem !== undefined) return describeProblem(name, problem);
    const { catalog } = this.#options;
    const described = describeServer(this.require(name), catalog.listByServer(name));
    return { ...described, flags: catalog.serverFlags(name), leftOut: catalog.leftOut(name), problem };
  }

  require(name: string): Server {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    throw this.#problems.get(name) ?? unknownServer(name, this.#servers.keys());
  }

  /** SERVER_DISABLED for one that is switched off: nothing but switching it on brings it up. */
  requireEnabled(name: string): Server {
    const server = this.require(name);
    if (!server.enabled) throw disabled(name);
    return server;
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map((server) => server.close()));
  }

  /** Each once: a problem when it begins or changes, and that a server's is over. */
  #tellProblems(before: ReadonlyMap<string, TurnbuckleError>): void {
    const { events } = this.#options;
    for (const [server, error] of this.#problems) {
      if (before.get(server)?.message === error.message) continue;
      if (this.#servers.has(server)) events.emit('server.config', { server, problem: error });
      else events.emit('server.failed', { server, error });
    }
    for (const server of before.keys())
      if (!this.#problems.has(server) && this.#servers.has(server))
        events.emit('server.config', { server, problem: undefined });
  }

  #add(name: string, config: ServerConfig): Server {
    const server = this.#options.create(name, config);
    this.#servers.set(name, server);
    if (!server.enabled) this.#options.catalog.setHidden(name, true);
    this.#options.events.emit('server.added', { server: name });
    return server;
  }
}

const startsByItself = (server: Server): boolean => server.enabled && server.config.start === 'eager';

/** Objects in this process are the same only if they are the same object. */
function isSame(left: ServerConfig, right: ServerConfig): boolean {
  if (left.type === 'in-process' && right.type === 'in-process' && left.server !== right.server) return false;
  const comparable = (config: ServerConfig): string =>
    canonicalJson(config.type === 'in-process' ? { ...config, server: null } : config);
  return comparable(left) === comparable(right);
}

function tooMany(server: string, maxServers: number): TurnbuckleError {
  return new TurnbuckleError(
    'SERVER_LIMIT',
    `Server "${server}" is one more than the ${maxServers} that are allowed.`,
    {
      server,
      hint: 'Remove servers, or raise limits.maxServers.',
    },
  );
}
