/**
 * The configured servers and their lifecycle. When the configuration changes, only the servers that changed are
 * touched.
 */

import type { Catalog } from '../catalog/catalog.js';
import { canonicalJson } from '../catalog/fingerprint.js';
import type { ParsedServers } from '../config/layers/parse.js';
import type { ServerConfig } from '../config/schema/schema.js';
import { type TurnbuckleError, toTurnbuckleError } from '../errors.js';
import type { Events } from '../events.js';
import type { Server } from './server.js';
import { nameTaken, serverDisabled, tooManyServers, unknownServer } from './server-errors.js';
import { describeProblem, describeServer, type ServerStatus } from './server-status.js';

export interface ServerSetOptions {
  readonly catalog: Catalog;
  readonly events: Events;
  readonly maxServers: number;
  readonly create: (name: string, config: ServerConfig) => Server;
  /** Called when a server is removed: forget what is cached for it. */
  readonly onRemoved: (name: string) => void;
}

export interface SetServersResult {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** A message for each server that is unusable or did not connect. */
  readonly errors: Readonly<Record<string, string>>;
}

export class ServerSet {
  readonly #options: ServerSetOptions;
  readonly #servers = new Map<string, Server>();
  /** Servers that the host added one by one. Files do not know them. */
  readonly #added = new Set<string>();
  /** The configuration problem of each name: the server keeps its previous configuration, or does not exist. */
  #problems = new Map<string, TurnbuckleError>();
  #contextKeys: ReadonlyMap<string, string> = new Map();
  /** Servers that are closing: a name never has two processes at a time. */
  readonly #closing = new Set<Promise<void>>();

  constructor(options: ServerSetOptions) {
    this.#options = options;
  }

  get(name: string): Server | undefined {
    return this.#servers.get(name);
  }

  /** Why a configured server is unusable. */
  problemOf(name: string): TurnbuckleError | undefined {
    return this.#problems.get(name);
  }

  /** Enabled servers with an open link. */
  live(): Server[] {
    return this.all().filter((server) => server.enabled && server.connection.link !== undefined);
  }

  all(): Server[] {
    return [...this.#servers.values()];
  }

  /** Applies a configuration without connecting anything. */
  adopt(parsed: ParsedServers): { added: Server[]; removed: Server[]; changed: string[] } {
    const before = this.#problems;
    this.#problems = new Map(parsed.problems);
    const { contextKeys = new Map<string, string>() } = parsed;
    const removed: Server[] = [];
    const added: Server[] = [];
    const changed: string[] = [];
    if (parsed.isFromFiles !== true) this.#added.clear();
    for (const [name, server] of this.#servers) {
      const config = parsed.servers.get(name);
      if (this.#added.has(name)) {
        if (config !== undefined) this.#problems.set(name, nameTaken(name));
        continue;
      }
      const isElsewhere = contextKeys.get(name) !== this.#contextKeys.get(name);
      if (config !== undefined && !isElsewhere && isSameServerConfig(server.config, config)) continue;
      if (config !== undefined) changed.push(name);
      this.#servers.delete(name);
      removed.push(server);
      this.#options.onRemoved(name);
    }
    for (const [name, config] of parsed.servers) {
      if (this.#servers.has(name)) continue;
      if (this.#servers.size >= this.#options.maxServers)
        this.#problems.set(name, tooManyServers(name, this.#options.maxServers));
      else added.push(this.#add(name, config));
    }
    this.#contextKeys = contextKeys;
    this.#emitProblems(before);
    return { added, removed, changed };
  }

  /**
   * Switches to a new set of servers; unchanged ones keep their connection. Resolves when everything is in effect.
   */
  async replace(parsed: ParsedServers): Promise<SetServersResult> {
    const { added, removed, changed } = this.adopt(parsed);
    await this.#close(removed);
    const errors = Object.fromEntries([...this.#problems].map(([name, error]) => [name, error.message]));
    await Promise.all(
      added.filter(startsEagerly).map((server) =>
        server.connection.open().catch((error: unknown) => {
          errors[server.name] = toTurnbuckleError(error).message;
        }),
      ),
    );
    const names = (servers: readonly Server[]): string[] =>
      servers.map(({ name }) => name).filter((name) => !changed.includes(name));
    return { added: names(added), removed: names(removed), changed, errors };
  }

  /** Adds one server and, if it is eager, connects it. Throws NAME_TAKEN and SERVER_LIMIT, not a failure to connect. */
  async add(name: string, config: ServerConfig): Promise<void> {
    if (this.#servers.has(name) || this.#problems.has(name)) throw nameTaken(name);
    if (this.#servers.size >= this.#options.maxServers) throw tooManyServers(name, this.#options.maxServers);
    const server = this.#add(name, config);
    this.#added.add(name);
    await this.#close([]);
    if (startsEagerly(server) && this.#servers.get(name) === server)
      await server.connection.open().catch(() => {});
  }

  /** Removes one server; resolves when its connections are closed. Throws SERVER_UNKNOWN. */
  async remove(name: string): Promise<void> {
    const server = this.#servers.get(name);
    const hadProblem = this.#problems.delete(name);
    if (server === undefined && !hadProblem) throw unknownServer(name, this.names());
    this.#added.delete(name);
    if (server === undefined) return;
    this.#servers.delete(name);
    this.#options.onRemoved(name);
    await this.#close([server]);
  }

  async disconnectAll(): Promise<void> {
    await Promise.all(this.all().map((server) => server.disconnect()));
  }

  /** Connects all eager servers in parallel; a failure does not affect the others. */
  async connectAll(): Promise<void> {
    await Promise.all(
      this.all()
        .filter(startsEagerly)
        .map((server) => server.connection.open().catch(() => {})),
    );
  }

  async disconnect(name: string): Promise<void> {
    await this.require(name).disconnect();
  }

  async reconnect(name: string): Promise<void> {
    const server = this.requireEnabled(name);
    await server.disconnect();
    await server.connection.open();
  }

  /** Disabled: its tools are hidden and its connection is kept. Enabled: they are shown, and it is connected. */
  async toggle(name: string, enabled: boolean): Promise<void> {
    const server = this.require(name);
    if (server.enabled === enabled) return;
    server.enabled = enabled;
    this.#options.catalog.setHidden(name, !enabled);
    this.#options.events.emit('server.toggled', { server: name, enabled });
    if (enabled) await server.connection.open();
  }

  /** All configured servers, including unusable ones; sorted. */
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

  /** SERVER_DISABLED for a disabled server: only enabling it connects it. */
  requireEnabled(name: string): Server {
    const server = this.require(name);
    if (!server.enabled) throw serverDisabled(name);
    return server;
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map((server) => server.close()));
  }

  /** Closes these, and waits for those that are closing already. */
  async #close(servers: readonly Server[]): Promise<void> {
    for (const server of servers) {
      const left: Promise<void> = server.close().finally(() => this.#closing.delete(left));
      this.#closing.add(left);
    }
    await Promise.all(this.#closing);
  }

  /** Reports each problem once, when it starts or changes, and when it is over. */
  #emitProblems(before: ReadonlyMap<string, TurnbuckleError>): void {
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

const startsEagerly = (server: Server): boolean => server.enabled && server.config.start === 'eager';

/** In-process servers are equal only if they are the same object. */
function isSameServerConfig(left: ServerConfig, right: ServerConfig): boolean {
  if (left.type === 'in-process' && right.type === 'in-process' && left.server !== right.server) return false;
  const comparable = (config: ServerConfig): string =>
    canonicalJson(config.type === 'in-process' ? { ...config, server: null } : config);
  return comparable(left) === comparable(right);
}
