/** One configured server at run time: its connections and their guards. */
import type { SignInOwner } from '../auth/sign-ins.js';
import type { CatalogTool } from '../catalog/tool.js';
import { hasCredentials, hasOwnCredentials, hasOwnSignIn, sharesCredentials } from '../config/credentials.js';
import type { ServerConfig } from '../config/schema/schema.js';
import { type Connection, closedError } from '../connection/connection.js';
import type { Link } from '../connection/link.js';
import type { RequestGuard } from '../connection/server-requests/request-guard.js';
import { agentOf, type Caller, identityOf } from '../policy/capabilities.js';
import { Breaker, type BreakerOptions } from '../resilience/breaker.js';
import { Limiter } from '../resilience/limiter.js';
import { RetryBudget } from '../resilience/retry-budget.js';
import {
  DedicatedConnections,
  type DedicatedConnectionsOptions,
  type DedicatedOwner,
} from './dedicated-connections.js';
import { type WatchSource, watchKey } from './resource-watch.js';
import { credentialsMissing, serverDisabled } from './server-errors.js';
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
  readonly #connectDedicated: DedicatedConnectionsOptions['connect'];
  readonly #breakerOptions: BreakerOptions;
  /** Of agents with credentials of their own. */
  readonly #breakers = new Map<string, Breaker>();
  #isClosed = false;

  constructor(connection: Connection, options: ServerOptions) {
    this.connection = connection;
    const { maxConnections: max, connectDedicated: connect } = options;
    this.#dedicated = new DedicatedConnections({ server: connection.name, max, connect });
    this.requests = options.requests;
    this.enabled = connection.config.enabled;
    this.#connectDedicated = connect;
    this.#breakerOptions = options.breaker;
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

  /**
   * The connection for a call of this caller, by the server's `share` setting. Throws OVERLOADED, AUTH_REQUIRED, and
   * RUNTIME_CLOSED once the server was removed or replaced.
   */
  connectionFor(caller: Caller | undefined): Connection {
    this.#assertOpen();
    this.assertCredentials(caller);
    const key = this.#keyOf(caller);
    if (key === undefined || caller === undefined) return this.connection;
    const known = this.#dedicated.find(key);
    if (known !== undefined) return known.connection;
    return this.#dedicated.add(key, this.#ownerOf(caller));
  }

  /** Where a caller follows resources: on its own connection if it has credentials of its own. Throws like the above. */
  watchSource(caller: Caller | undefined): WatchSource {
    this.assertCredentials(caller);
    const key = this.credentialsAgent(caller) === undefined ? undefined : this.#keyOf(caller);
    const connection = key === undefined ? this.connection : this.connectionFor(caller);
    return { connection, key: watchKey(this.name, key) };
  }

  /** The connection of a caller, if it exists already. */
  findConnection(caller: Caller | undefined): Connection | undefined {
    const key = this.#keyOf(caller);
    return key === undefined ? this.connection : this.#dedicated.find(key)?.connection;
  }

  /** A connection like those of an agent, which belongs to none; for its sign-in. */
  createProbe(agent: string): Connection {
    this.#assertOpen();
    return this.#connectDedicated({ key: '', agent, connectionOf: 'host', onIdle: () => {} }).connection;
  }

  /** The agent whose credentials this caller uses; undefined: it uses those of the server. */
  credentialsAgent(caller: Caller | undefined): string | undefined {
    const agent = agentOf(caller);
    return agent !== undefined && hasOwnCredentials(this.config, agent.id) ? agent.id : undefined;
  }

  /** Whose sign-in this caller uses. */
  signInOwner(caller: Caller | undefined): SignInOwner {
    return signInOwnerOf(this, this.credentialsAgent(caller));
  }

  /** A failure of a connection with other credentials says nothing about this one. */
  breakerFor(caller: Caller | undefined): Breaker {
    const agent = this.credentialsAgent(caller);
    if (agent === undefined) return this.breaker;
    const breaker = this.#breakers.get(agent) ?? new Breaker(this.#breakerOptions);
    this.#breakers.set(agent, breaker);
    return breaker;
  }

  /** The tools listed on the dedicated connection of this caller; undefined if there is none. */
  toolsFor(caller: Caller | undefined): ReadonlyMap<string, CatalogTool> | undefined {
    const key = this.#keyOf(caller);
    return key === undefined ? undefined : this.#dedicated.find(key)?.tools();
  }

  /** The same for a caller with credentials of its own: it may have tools that nobody else has. */
  ownToolsFor(caller: Caller | undefined): ReadonlyMap<string, CatalogTool> | undefined {
    return this.enabled && this.credentialsAgent(caller) !== undefined ? this.toolsFor(caller) : undefined;
  }

  /** Lists the tools again on this dedicated link; undefined if it is the shared link. */
  relistDedicated(link: Link): Promise<void> | undefined {
    return this.#dedicated.relist(link);
  }

  #ownerOf(caller: Caller): DedicatedOwner {
    const owner = agentOf(caller);
    const identity = identityOf(caller);
    const run = this.config.share === 'session' ? caller.run : undefined;
    return {
      ownerId: owner && identityOf(owner),
      agent: this.credentialsAgent(caller),
      connectionOf: { callerId: caller.id, identity, ...(run !== undefined && { run }) },
    };
  }

  #keyOf(caller: Caller | undefined): string | undefined {
    const { share } = this.config;
    if (share === 'shared' || caller === undefined) return undefined;
    return share === 'agent' ? this.#agentKeyOf(caller) : this.#runKeyOf(caller);
  }

  /** With credentials for callers: two of one identity share a connection only if they use the same ones. */
  #agentKeyOf(caller: Caller): string {
    const identity = identityOf(caller);
    if (!hasCredentials(this.config)) return identity;
    return JSON.stringify([identity, this.credentialsAgent(caller) ?? null]);
  }

  #runKeyOf(caller: Caller): string {
    return JSON.stringify([this.#agentKeyOf(caller), caller.run]);
  }

  /** A session or, for a caller without a run, the caller has ended: closes its dedicated connections. */
  async forget(caller: Caller): Promise<void> {
    const runKey = this.#runKeyOf(caller);
    const keys = caller.run === undefined ? [this.#agentKeyOf(caller), runKey] : [runKey];
    await Promise.all(keys.map((key) => this.#dedicated.closeKey(key)));
  }

  /** A sign-in has ended, or is that of somebody else now: closes the connections that used it. */
  async disconnectSignIn(agent: SignInOwner['agent']): Promise<void> {
    await Promise.all([
      agent === undefined ? this.connection.disconnect() : undefined,
      this.#dedicated.closeFor((owner) => signInOwnerOf(this, owner.agent).agent === agent),
    ]);
  }

  /** Throws if no call may be sent to it: it is disabled, or it was removed or replaced while the call waited. */
  assertUsable(): void {
    this.#assertOpen();
    if (!this.enabled) throw serverDisabled(this.name);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw closedError(this.name);
  }

  /** Throws AUTH_REQUIRED for a caller that has no credentials and must not use those of the server. */
  assertCredentials(caller: Caller | undefined): void {
    const agent = agentOf(caller);
    if (agent === undefined || sharesCredentials(this.config) || hasOwnCredentials(this.config, agent.id))
      return;
    throw credentialsMissing(this.name, agent.id);
  }

  async disconnect(): Promise<void> {
    const all = [this.connection, ...this.#dedicated.connections];
    await Promise.all(all.map((connection) => connection.disconnect()));
  }

  /** For good: whoever still has this object gets no connection from it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.connection.close(), this.#dedicated.close()]);
  }
}

/** Whose sign-in a connection with the credentials of this agent uses. */
export const signInOwnerOf = (
  { name, config }: Pick<Connection, 'name' | 'config'>,
  agent: string | undefined,
): SignInOwner => (agent !== undefined && hasOwnSignIn(config, agent) ? { name, agent } : { name });
