/**
 * The connections of a server, so many at most. Anybody can open one and then say nothing, or next to nothing; when
 * there is no more room, whoever has done so for longest makes some, and not whoever comes.
 */
import type { Socket } from 'node:net';

export class Connections {
  readonly #most: number;
  /** Nobody has shown a good token on these yet; the oldest comes first. */
  readonly #strangers = new Set<Socket>();
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** For `connection` of a server. One is ended when there are too many: the new one only if all others are known. */
  readonly add = (socket: Socket): void => {
    this.#count += 1;
    this.#strangers.add(socket);
    socket.once('close', () => {
      this.#count -= 1;
      this.#strangers.delete(socket);
    });
    if (this.#count <= this.#most) return;
    const [oldest = socket] = this.#strangers;
    this.#strangers.delete(oldest);
    oldest.destroy();
  };

  /** A good token came on it: it stays. */
  know(socket: Socket): void {
    this.#strangers.delete(socket);
  }
}
