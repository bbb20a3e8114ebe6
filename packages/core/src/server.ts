/** One configured server at run time: its connections and what guards them. */
import { tooManyConnections } from './call-errors.js';
import type { CatalogTool } from './catalog/tool.js';
import type { ServerConfig } from './config/schema.js';
import type { Connection } from './connection/connection.js';
import type { RequestGuard } from './connection/request-guard.js';
import { ServerStats } from './observe/server-stats.js';
import { type Caller, identityOf } from './policy/capabilities.js';
import { Breaker, type BreakerOptions } from './resilience/breaker.js';
import { Limiter } from './resilience/limiter.js';
import { RetryBudget } from './resilience/retry-budget.js';

export interface ServerOptions {
  readonly maxQueued: number;
  readonly breaker: BreakerOptions;
  readonly requests: RequestGuard;
  /** The most connections beside the one that all share. */
  readonly maxConnections: number;
  /** Another connection to the same server; `onIdle` is told when nobody has used it for a while. */
  readonly connectApart: (onIdle: () => void) => ConnectionApart;
}

/** A connection of one agent or session. */
export interface ConnectionApart {
  readonly connection: Connection;
  /** What the server listed there; undefined until it has been asked. */
  tools(): ReadonlyMap<string, CatalogTool> | undefined;
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
  readonly #options: ServerOptions;
  readonly #apart = new Map<string, ConnectionApart>();

  constructor(connection: Connection, options: ServerOptions) {
    this.connection = connection;
    this.#options = options;
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
    const known = this.#apart.get(key);
    if (known !== undefined) return known.connection;
    if (this.#apart.size >= this.#options.maxConnections) throw tooManyConnections(this);
    const apart = this.#options.connectApart(() => void this.#end(key, apart.connection));
    this.#apart.set(key, apart);
    return apart.connection;
  }

  /** The tools that it listed on the connection of this caller alone; undefined while there is none. */
  toolsFor(caller: Caller | undefined): ReadonlyMap<string, CatalogTool> | undefined {
    const key = this.#keyOf(caller);
    return key === undefined ? undefined : this.#apart.get(key)?.tools();
  }

  #keyOf(caller: Caller | undefined): string | undefined {
    const { share } = this.config;
    if (share === 'shared' || caller === undefined) return undefined;
    return share === 'agent' ? identityOf(caller) : runKeyOf(caller);
  }

  /** A session is over, or, for a caller without a run, the caller: what belonged to it alone ends with it. */
  async forget(caller: Caller): Promise<void> {
    const keys = caller.run === undefined ? [identityOf(caller), runKeyOf(caller)] : [runKeyOf(caller)];
    await Promise.all(
      keys.map(async (key) => {
        const connection = this.#apart.get(key)?.connection;
        if (connection !== undefined) await this.#end(key, connection);
      }),
    );
  }

  disconnect(): Promise<void> {
    return this.#all((connection) => connection.disconnect());
  }

  close(): Promise<void> {
    return this.#all((connection) => connection.close());
  }

  async #end(key: string, connection: Connection): Promise<void> {
    this.#apart.delete(key);
    await connection.close();
  }

  async #all(end: (connection: Connection) => Promise<void>): Promise<void> {
    await Promise.all(
      [this.connection, ...[...this.#apart.values()].map(({ connection }) => connection)].map(end),
    );
  }
}

const runKeyOf = (caller: Caller): string => JSON.stringify([identityOf(caller), caller.run]);
