/** One configured server at run time: its connections and their guards. */
import type { CatalogTool } from '../catalog/tool.js';
import type { ServerConfig } from '../config/schema/schema.js';
import type { Connection } from '../connection/connection.js';
import type { Link } from '../connection/link.js';
import type { RequestGuard } from '../connection/server-requests/request-guard.js';
import { agentOf, type Caller, identityOf } from '../policy/capabilities.js';
import { Breaker, type BreakerOptions } from '../resilience/breaker.js';
import { Limiter } from '../resilience/limiter.js';
import { RetryBudget } from '../resilience/retry-budget.js';
import { DedicatedConnections, type DedicatedConnectionsOptions } from './dedicated-connections.js';
import { ServerStats } from './server-stats.js';

export interface ServerOptions {
  readonly maxQueued: number;
  readonly breaker: BreakerOptions;
  readonly requests: RequestGuard;
  /** The maximum number of dedicated connections. */
  readonly maxConnections: number;
  readonly connectDedicated: DedicatedConnectionsOptions['connect'];
}

export class Server {
  /** The shared connection, or, if callers do not share one, the connection that lists the tools. */
  readonly connection: Connection;
  /** Handles its requests to the host, on all its connections. */
  readonly requests: RequestGuard;
  readonly breaker: Breaker;
  readonly limiter: Limiter;
  readonly retries = new RetryBudget();
  readonly stats = new ServerStats();
  enabled: boolean;
  readonly #dedicated: DedicatedConnections;

  constructor(connection: Connection, options: ServerOptions) {
    this.connection = connection;
    const { maxConnections: max, connectDedicated: connect } = options;
    this.#dedicated = new DedicatedConnections({ server: connection.name, max, connect });
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

  /** The dedicated connections of agents and sessions. */
  get dedicatedConnectionCount(): number {
    return this.#dedicated.size;
  }

  /** The connection for a call of this caller, by the server's `share` setting. Throws OVERLOADED. */
  connectionFor(caller: Caller | undefined): Connection {
    const key = this.#keyOf(caller);
    if (key === undefined) return this.connection;
    const known = this.#dedicated.find(key);
    if (known !== undefined) return known.connection;
    const agent = agentOf(caller);
    return this.#dedicated.add(key, agent === undefined ? undefined : identityOf(agent));
  }

  /** The tools listed on the dedicated connection of this caller; undefined if there is none. */
  toolsFor(caller: Caller | undefined): ReadonlyMap<string, CatalogTool> | undefined {
    const key = this.#keyOf(caller);
    return key === undefined ? undefined : this.#dedicated.find(key)?.tools();
  }

  /** Lists the tools again on this dedicated link; undefined if it is the shared link. */
  relistDedicated(link: Link): Promise<void> | undefined {
    return this.#dedicated.relist(link);
  }

  #keyOf(caller: Caller | undefined): string | undefined {
    const { share } = this.config;
    if (share === 'shared' || caller === undefined) return undefined;
    return share === 'agent' ? identityOf(caller) : runKeyOf(caller);
  }

  /** A session or, for a caller without a run, the caller has ended: closes its dedicated connections. */
  async forget(caller: Caller): Promise<void> {
    const keys = caller.run === undefined ? [identityOf(caller), runKeyOf(caller)] : [runKeyOf(caller)];
    await Promise.all(keys.map((key) => this.#dedicated.closeFor(key)));
  }

  async disconnect(): Promise<void> {
    const all = [this.connection, ...this.#dedicated.connections];
    await Promise.all(all.map((connection) => connection.disconnect()));
  }

  async close(): Promise<void> {
    await Promise.all([this.connection.close(), this.#dedicated.close()]);
  }
}

const runKeyOf = (caller: Caller): string => JSON.stringify([identityOf(caller), caller.run]);
