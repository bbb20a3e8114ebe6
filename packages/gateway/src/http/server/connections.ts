/**
 * Limits the connections of a server. Anyone can open one and send little or nothing. When the limit is reached, an
 * unauthenticated connection is closed to make room, not the new one. A connection with a valid token is kept, and no
 * token may hold more than its share.
 */
import type { Socket } from 'node:net';
import { identityOf } from 'turnbuckle/host';
import type { Identity } from '../../identity/identity.js';
import { isWithinFairShare } from '../limits/fair-share.js';
import { remoteNetwork } from '../limits/remote-network.js';

export class Connections {
  readonly #max: number;
  /** Connections without a valid token so far: by remote network, oldest first. */
  readonly #unauthenticated = new Map<string, Set<Socket>>();
  /** The identity of the last token on each of the others. */
  readonly #authenticated = new Map<Socket, string>();
  readonly #countByIdentity = new Map<string, number>();
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** For `connection` of a server. Above the limit one is closed: the new one only if all others are authenticated. */
  readonly add = (socket: Socket): void => {
    const from = remoteNetwork(socket.remoteAddress);
    const strangers = this.#unauthenticated.get(from) ?? new Set();
    this.#unauthenticated.set(from, strangers.add(socket));
    this.#count += 1;
    socket.once('close', () => {
      this.#count -= 1;
      this.#forgetUnauthenticated(socket, from);
      this.#release(socket);
    });
    if (this.#count <= this.#max) return;
    const [network = '', [oldest = socket] = []] = this.#busiestNetwork();
    this.#forgetUnauthenticated(oldest, network);
    oldest.destroy();
  };

  /** How many are open, and how many of them are authenticated. */
  get counts(): { readonly open: number; readonly known: number } {
    return { open: this.#count, known: this.#authenticated.size };
  }

  /** Marks it as authenticated. False if its identity already holds its share of connections. */
  markAuthenticated(socket: Socket, { caller, isOwner = false }: Identity): boolean {
    // It closed while the token was verified: its close event is over, and nothing would release it.
    if (socket.destroyed) return false;
    const identity = identityOf(caller);
    // Behind a proxy, one connection serves many identities.
    if (this.#authenticated.get(socket) === identity) return true;
    const own = this.#countByIdentity.get(identity) ?? 0;
    if (!isWithinFairShare({ own, taken: this.#authenticated.size, max: this.#max, isOwner })) return false;
    this.#forgetUnauthenticated(socket, remoteNetwork(socket.remoteAddress));
    this.#release(socket);
    this.#authenticated.set(socket, identity);
    this.#countByIdentity.set(identity, own + 1);
    return true;
  }

  isAuthenticated(socket: Socket): boolean {
    return this.#authenticated.has(socket);
  }

  /** The network with most unauthenticated connections: one address cannot push out those of another. */
  #busiestNetwork(): readonly [string, ReadonlySet<Socket>] | [] {
    let largest: readonly [string, ReadonlySet<Socket>] | [] = [];
    for (const entry of this.#unauthenticated) if (entry[1].size > (largest[1]?.size ?? 0)) largest = entry;
    return largest;
  }

  #forgetUnauthenticated(socket: Socket, network: string): void {
    const strangers = this.#unauthenticated.get(network);
    if (strangers?.delete(socket) === true && strangers.size === 0) this.#unauthenticated.delete(network);
  }

  #release(socket: Socket): void {
    const identity = this.#authenticated.get(socket);
    if (identity === undefined) return;
    this.#authenticated.delete(socket);
    const left = (this.#countByIdentity.get(identity) ?? 1) - 1;
    if (left === 0) this.#countByIdentity.delete(identity);
    else this.#countByIdentity.set(identity, left);
  }
}
