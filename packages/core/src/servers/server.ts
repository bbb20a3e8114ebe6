/** One configured server at run time: its connections and what guards them. */
import type { CatalogTool } from './catalog/tool.js';
import type { ServerConfig } from './config/schema.js';
import type { Connection } from './connection/connection.js';
import type { Link } from './connection/link.js';
import type { RequestGuard } from './connection/request-guard.js';
import { type ApartOptions, ConnectionsApart } from './connections-apart.js';
import { ServerStats } from './observe/server-stats.js';
import { agentOf, type Caller, identityOf } from './policy/capabilities.js';
import { Breaker, type BreakerOptions } from './resilience/breaker.js';
import { Limiter } from './resilience/limiter.js';
import { RetryBudget } from './resilience/retry-budget.js';

export interface ServerOptions {
  readonly maxQueued: number;
  readonly breaker: BreakerOptions;
  readonly requests: RequestGuard;
  /** The most connections beside the one that all share. */
  readonly maxConnections: number;
  readonly connectApart: ApartOptions['connect'];
}

export class Server {
  /** The connection of all callers, or, where they do not share one, that which knows the tools. */
  readonly connection: Connection;
  /** What it asks the host goes through this, over all its connections. */
  readonly requests: RequestGuard;
  readonly breaker: Breaker;
  readonly limiter: Limiter;
  readonly retries = new RetryBudget();
  readonly stats = new ServerStats();
  enabled: boolean;
  readonly #apart: ConnectionsApart;

  constructor(connection: Connection, options: ServerOptions) {
    this.connection = connection;
    const { maxConnections: max, connectApart: connect } = options;
    this.#apart = new ConnectionsApart({ server: connection.name, max, connect });
    this.requests = options.requests;
    this.enabled = connection.config.enabled;
    this.breaker = new Breaker(options.breaker);
    this.limiter = new Limiter({ maxInFlight: connection.config.maxInFlight, maxQueued: options.maxQueued });
  }

  get name(): string {
    return this.connection.name;
  }

  get config(): ServerConfig {
    return this.connection.config;
  }

  /** The connections that belong to one agent or session each. */
  get connectionsApart(): number {
    return this.#apart.size;
  }

  /** The connection for a call of this caller, by the server's sharing policy. Throws OVERLOADED. */
  connectionFor(caller: Caller | undefined): Connection {
    const key = this.#keyOf(caller);
    if (key === undefined) return this.connection;
    const known = this.#apart.find(key);
    if (known !== undefined) return known.connection;
    const agent = agentOf(caller);
    return this.#apart.add(key, agent === undefined ? undefined : identityOf(agent));
  }

  /** The tools that it listed on the connection of this caller alone; undefined while there is none. */
  toolsFor(caller: Caller | undefined): ReadonlyMap<string, CatalogTool> | undefined {
    const key = this.#keyOf(caller);
    return key === undefined ? undefined : this.#apart.find(key)?.tools();
  }

  /** Reads the tools again that it listed on this link; undefined when that is the link of all. */
  relistApart(link: Link): Promise<void> | undefined {
    return this.#apart.relist(link);
  }

  #keyOf(caller: Caller | undefined): string | undefined {
    const { share } = this.config;
    if (share === 'shared' || caller === undefined) return undefined;
    return share === 'agent' ? identityOf(caller) : runKeyOf(caller);
  }

  /** A session is over, or, for a caller without a run, the caller: what belonged to it alone ends with it. */
  async forget(caller: Caller): Promise<void> {
    const keys = caller.run === undefined ? [identityOf(caller), runKeyOf(caller)] : [runKeyOf(caller)];
    await Promise.all(keys.map((key) => this.#apart.end(key)));
  }

  async disconnect(): Promise<void> {
    const all = [this.connection, ...this.#apart.connections];
    await Promise.all(all.map((connection) => connection.disconnect()));
  }

  async close(): Promise<void> {
    await Promise.all([this.connection.close(), this.#apart.close()]);
  }
}

const runKeyOf = (caller: Caller): string => JSON.stringify([identityOf(caller), caller.run]);
