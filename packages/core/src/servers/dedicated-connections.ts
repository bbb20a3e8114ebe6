/**
 * The connections of one server that belong to one agent or session each. Everybody has a share of them, which is smaller
 * the more there are, and never all; some are kept for the host. Who has its share gives up the one that it has not used
 * for the longest time, and so does who has more than that when somebody else needs one.
 */
import { tooManyConnections } from './call-errors.js';
import type { CatalogTool } from './catalog/tool.js';
import type { Connection } from './connection/connection.js';
import type { Link } from './connection/link.js';

/** A connection of one agent or session. */
export interface ConnectionApart {
  readonly connection: Connection;
  /** What the server listed there; undefined until it has been asked. */
  tools(): ReadonlyMap<string, CatalogTool> | undefined;
  /** Asks it again. */
  relist(link: Link): Promise<void>;
}

export interface ApartOptions {
  readonly server: string;
  readonly max: number;
  /** Another connection to the same server; `onIdle` is told when nobody has used it for a while. */
  readonly connect: (onIdle: () => void) => ConnectionApart;
}

/** Whose it is: the identity of an agent; undefined: the host itself. */
type Whose = string | undefined;

interface Known extends ConnectionApart {
  readonly key: string;
  readonly whose: Whose;
}

/** This part of them is kept for the host. */
const KEPT = 8;

export class ConnectionsApart {
  readonly #options: ApartOptions;
  readonly #known = new Map<string, Known>();
  /** On their way out: a server may take its time over that. */
  readonly #ending = new Set<Known>();

  constructor(options: ApartOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#known.size;
  }

  get connections(): Connection[] {
    return [...this.#known.values()].map(({ connection }) => connection);
  }

  find(key: string): ConnectionApart | undefined {
    return this.#known.get(key);
  }

  /** Reads again what was listed on this link; undefined when it is none of theirs. */
  relist(link: Link): Promise<void> | undefined {
    return [...this.#known.values()].find(({ connection }) => connection.link === link)?.relist(link);
  }

  /** A new one for who has none under this key. Throws OVERLOADED. */
  add(key: string, whose: Whose): Connection {
    this.#makeRoom(whose);
    const known: Known = { ...this.#options.connect(() => void this.#end(known)), key, whose };
    this.#known.set(key, known);
    return known.connection;
  }

  async end(key: string): Promise<void> {
    const known = this.#known.get(key);
    if (known !== undefined) await this.#end(known);
  }

  /** Also those that are on their way out already. */
  async close(): Promise<void> {
    await Promise.all([...this.#known.values(), ...this.#ending].map(({ connection }) => connection.close()));
  }

  async #end(known: Known): Promise<void> {
    if (this.#known.get(known.key) === known) this.#known.delete(known.key);
    this.#ending.add(known);
    try {
      await known.connection.close();
    } finally {
      this.#ending.delete(known);
    }
  }

  #makeRoom(whose: Whose): void {
    const { server } = this.#options;
    const overloaded = tooManyConnections({ name: server, connectionsApart: this.size });
    const share = this.#shareOf(whose);
    // However often they take another one in the place of one that will not end.
    if (countOf(this.#ending, whose) >= share) throw overloaded;
    if (this.#isFree(whose, share)) return;
    const own = countOf(this.#known.values(), whose);
    const given = this.#longestIdle(whose) ?? (own < share ? this.#idleAboveShare(share) : undefined);
    if (given === undefined) throw overloaded;
    void this.#end(given);
  }

  #isFree(whose: Whose, share: number): boolean {
    if (this.size >= this.#options.max) return false;
    if (whose === undefined) return true;
    const ofAgents = this.size - countOf(this.#known.values(), undefined);
    return ofAgents < this.#places && countOf(this.#known.values(), whose) < share;
  }

  get #places(): number {
    const { max } = this.#options;
    return max - Math.floor(max / KEPT);
  }

  /** There is always something left for one more. */
  #shareOf(whose: Whose): number {
    if (whose === undefined) return this.#options.max;
    const agents = new Set([whose, ...[...this.#known.values()].map((known) => known.whose)]);
    agents.delete(undefined);
    return Math.max(1, Math.ceil(this.#places / (agents.size + 1)));
  }

  #longestIdle(whose: Whose): Known | undefined {
    let found: Known | undefined;
    for (const known of this.#known.values())
      if (known.whose === whose && isUnused(known) && !(found && isSooner(found, known))) found = known;
    return found;
  }

  /** Of the agent that has the most, if these are more than all may have now. */
  #idleAboveShare(share: number): Known | undefined {
    const agents = [...new Set([...this.#known.values()].map(({ whose }) => whose))]
      .map((whose) => ({ whose, count: countOf(this.#known.values(), whose) }))
      .filter(({ whose, count }) => whose !== undefined && count > share)
      .sort((one, two) => two.count - one.count);
    for (const { whose } of agents) {
      const idle = this.#longestIdle(whose);
      if (idle !== undefined) return idle;
    }
    return undefined;
  }
}

function countOf(all: Iterable<Known>, whose: Whose): number {
  let count = 0;
  for (const known of all) if (known.whose === whose) count += 1;
  return count;
}

const isUnused = ({ connection }: Known): boolean =>
  !connection.idle.isInUse && connection.subscriptions?.isWatching !== true;

const isSooner = (one: Known, two: Known): boolean =>
  one.connection.idle.lastUse <= two.connection.idle.lastUse;
