/**
 * The dedicated connections of one server: one agent or session each. Every agent has a quota, which shrinks as more
 * agents connect and never covers all; some are reserved for the host. An agent at its quota gives up its least
 * recently used connection, and an agent above it when another one needs it. An agent without a connection gets one as
 * long as any is unused.
 */

import type { CatalogTool } from '../catalog/tool.js';
import { type Connection, closedError } from '../connection/connection.js';
import type { Link } from '../connection/link.js';
import type { ConnectionOwner } from '../events.js';
import { tooManyConnections } from './server-errors.js';

/** A connection for one agent or session. */
export interface DedicatedConnection {
  readonly connection: Connection;
  /** The tools listed on it; undefined until then. */
  tools(): ReadonlyMap<string, CatalogTool> | undefined;
  /** Lists the tools again. */
  relist(link: Link): Promise<void>;
}

export interface DedicatedConnectionsOptions {
  readonly server: string;
  readonly max: number;
  /** Another connection to the same server; calls `onIdle` when it has been unused for a while. */
  readonly connect: (request: ConnectionRequest) => DedicatedConnection;
}

export interface ConnectionRequest {
  /** Identifies it among the dedicated connections of the server. */
  readonly key: string;
  /** The agent whose credentials it is opened with; undefined: those of the server. */
  readonly agent: string | undefined;
  readonly connectionOf: ConnectionOwner | 'host';
  readonly onIdle: () => void;
}

/** Who a connection is for. */
export interface DedicatedOwner {
  /** The identity of an agent; undefined: the host. */
  readonly ownerId: string | undefined;
  /** The agent whose credentials it is opened with; undefined: those of the server. */
  readonly agent: string | undefined;
  /** The same caller for events. */
  readonly connectionOf: ConnectionOwner;
}

type OwnerId = DedicatedOwner['ownerId'];

interface OwnedConnection extends DedicatedConnection, DedicatedOwner {
  readonly key: string;
}

/** The part reserved for the host. */
const HOST_SHARE_DIVISOR = 8;

export class DedicatedConnections {
  readonly #options: DedicatedConnectionsOptions;
  readonly #owned = new Map<string, OwnedConnection>();
  /** Closing connections: a server may take its time. */
  readonly #closing = new Set<OwnedConnection>();
  #isClosed = false;

  constructor(options: DedicatedConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#owned.size;
  }

  get connections(): Connection[] {
    return [...this.#owned.values()].map(({ connection }) => connection);
  }

  find(key: string): DedicatedConnection | undefined {
    return this.#owned.get(key);
  }

  /** Lists the tools again on this link; undefined if the link is not one of these. */
  relist(link: Link): Promise<void> | undefined {
    return [...this.#owned.values()].find(({ connection }) => connection.link === link)?.relist(link);
  }

  /** A new connection for this key. Throws OVERLOADED, and RUNTIME_CLOSED after `close`. */
  add(key: string, owner: DedicatedOwner): Connection {
    if (this.#isClosed) throw closedError(this.#options.server);
    this.#ensureCapacity(owner.ownerId);
    const { agent, connectionOf } = owner;
    const onIdle = (): void => void this.#closeConnection(known);
    const known: OwnedConnection = {
      ...this.#options.connect({ key, agent, connectionOf, onIdle }),
      ...owner,
      key,
    };
    this.#owned.set(key, known);
    return known.connection;
  }

  async closeKey(key: string): Promise<void> {
    const known = this.#owned.get(key);
    if (known !== undefined) await this.#closeConnection(known);
  }

  async closeFor(isMeant: (owner: DedicatedOwner) => boolean): Promise<void> {
    const meant = [...this.#owned.values()].filter(isMeant);
    await Promise.all(meant.map((known) => this.#closeConnection(known)));
  }

  /** For good, including those that are already closing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#owned.values(), ...this.#closing].map(({ connection }) => connection.close()),
    );
  }

  async #closeConnection(known: OwnedConnection): Promise<void> {
    if (this.#owned.get(known.key) === known) this.#owned.delete(known.key);
    this.#closing.add(known);
    try {
      await known.connection.close();
    } finally {
      this.#closing.delete(known);
    }
  }

  #ensureCapacity(whose: OwnerId): void {
    const { server } = this.#options;
    const overloaded = tooManyConnections({ name: server, connectionsApart: this.size });
    const share = this.#shareOf(whose);
    // Even if an agent keeps replacing connections that do not close.
    if (countOf(this.#closing, whose) >= share) throw overloaded;
    if (this.#isFree(whose, share)) return;
    const own = countOf(this.#owned.values(), whose);
    const given =
      this.#longestIdle((ownerId) => ownerId === whose) ??
      (own < share ? this.#idleAboveShare(share) : undefined) ??
      (own === 0 ? this.#idleOfAnyone(whose) : undefined);
    if (given === undefined) throw overloaded;
    void this.#closeConnection(given);
  }

  #isFree(whose: OwnerId, share: number): boolean {
    if (this.size >= this.#options.max) return false;
    if (whose === undefined) return true;
    return !this.#areAgentsFull && countOf(this.#owned.values(), whose) < share;
  }

  get #areAgentsFull(): boolean {
    return this.size - countOf(this.#owned.values(), undefined) >= this.#agentCapacity;
  }

  get #agentCapacity(): number {
    const { max } = this.#options;
    return max - Math.floor(max / HOST_SHARE_DIVISOR);
  }

  /** There is always room for one more agent. */
  #shareOf(whose: OwnerId): number {
    if (whose === undefined) return this.#options.max;
    const agents = new Set([whose, ...[...this.#owned.values()].map((known) => known.ownerId)]);
    agents.delete(undefined);
    return Math.max(1, Math.ceil(this.#agentCapacity / (agents.size + 1)));
  }

  #longestIdle(isMeant: (ownerId: OwnerId) => boolean): OwnedConnection | undefined {
    let found: OwnedConnection | undefined;
    for (const known of this.#owned.values())
      if (isMeant(known.ownerId) && isUnused(known) && !(found && isUsedEarlier(found, known))) found = known;
    return found;
  }

  /** From the agent with the most connections, if it exceeds the current quota. */
  #idleAboveShare(share: number): OwnedConnection | undefined {
    const agents = [...new Set([...this.#owned.values()].map(({ ownerId }) => ownerId))]
      .map((whose) => ({ whose, count: countOf(this.#owned.values(), whose) }))
      .filter(({ whose, count }) => whose !== undefined && count > share)
      .sort((one, two) => two.count - one.count);
    for (const { whose } of agents) {
      const idle = this.#longestIdle((ownerId) => ownerId === whose);
      if (idle !== undefined) return idle;
    }
    return undefined;
  }

  /** All have no more than their share. Those of the host are given up only if that makes room. */
  #idleOfAnyone(whose: OwnerId): OwnedConnection | undefined {
    // Replaced connections may not close.
    if (this.#closing.size >= this.#options.max) return undefined;
    const isFullOfAgents = whose !== undefined && this.#areAgentsFull;
    return this.#longestIdle((ownerId) => !isFullOfAgents || ownerId !== undefined);
  }
}

function countOf(all: Iterable<OwnedConnection>, whose: OwnerId): number {
  let count = 0;
  for (const known of all) if (known.ownerId === whose) count += 1;
  return count;
}

const isUnused = ({ connection }: OwnedConnection): boolean =>
  !connection.idle.isInUse && connection.subscriptions?.isWatching !== true;

const isUsedEarlier = (one: OwnedConnection, two: OwnedConnection): boolean =>
  one.connection.idle.lastUse <= two.connection.idle.lastUse;
