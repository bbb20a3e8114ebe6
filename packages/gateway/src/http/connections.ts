/**
 * The connections of a server, so many at most. Anybody can open one and then say nothing, or next to nothing; when
 * there is no more room, somebody who has done so makes some, and not whoever comes. Who has shown a good token keeps
 * what it has, and has no more than its share.
 */
import type { Socket } from 'node:net';
import { identityOf } from 'turnbuckle';
import { remoteNetwork } from './remote-network.js';
import { mayTake } from './shares.js';
import type { Visitor } from './visitor.js';

export class Connections {
  readonly #max: number;
  /** Nobody has shown a good token on these yet: by where they come from, the oldest first. */
  readonly #strangers = new Map<string, Set<Socket>>();
  /** Whose token came last on each of the others. */
  readonly #known = new Map<Socket, string>();
  readonly #shares = new Map<string, number>();
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** For `connection` of a server. One is ended when there are too many: the new one only if all others are known. */
  readonly add = (socket: Socket): void => {
    const from = remoteNetwork(socket.remoteAddress);
    const strangers = this.#strangers.get(from) ?? new Set();
    this.#strangers.set(from, strangers.add(socket));
    this.#count += 1;
    socket.once('close', () => {
      this.#count -= 1;
      this.#forgetStranger(socket, from);
      this.#release(socket);
    });
    if (this.#count <= this.#max) return;
    const [network = '', [oldest = socket] = []] = this.#largest();
    this.#forgetStranger(oldest, network);
    oldest.destroy();
  };

  /** How many are open, and how many of them are known. */
  get counts(): { readonly open: number; readonly known: number } {
    return { open: this.#count, known: this.#known.size };
  }

  /** A good token came on it: it stays. False when that token has its share of connections already. */
  know(socket: Socket, { caller, isOwner = false }: Visitor): boolean {
    // Who left while the token was looked at: its end was told already, and nothing would release it.
    if (socket.destroyed) return false;
    const identity = identityOf(caller);
    // Behind a proxy, one connection serves many.
    if (this.#known.get(socket) === identity) return true;
    const own = this.#shares.get(identity) ?? 0;
    if (!mayTake({ own, taken: this.#known.size, max: this.#max, isOwner })) return false;
    this.#forgetStranger(socket, remoteNetwork(socket.remoteAddress));
    this.#release(socket);
    this.#known.set(socket, identity);
    this.#shares.set(identity, own + 1);
    return true;
  }

  isKnown(socket: Socket): boolean {
    return this.#known.has(socket);
  }

  /** Where most strangers come from: one address does not push out those of another. */
  #largest(): readonly [string, ReadonlySet<Socket>] | [] {
    let largest: readonly [string, ReadonlySet<Socket>] | [] = [];
    for (const entry of this.#strangers) if (entry[1].size > (largest[1]?.size ?? 0)) largest = entry;
    return largest;
  }

  #forgetStranger(socket: Socket, network: string): void {
    const strangers = this.#strangers.get(network);
    if (strangers?.delete(socket) === true && strangers.size === 0) this.#strangers.delete(network);
  }

  #release(socket: Socket): void {
    const identity = this.#known.get(socket);
    if (identity === undefined) return;
    this.#known.delete(socket);
    const left = (this.#shares.get(identity) ?? 1) - 1;
    if (left === 0) this.#shares.delete(identity);
    else this.#shares.set(identity, left);
  }
}
