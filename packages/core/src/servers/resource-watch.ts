/** Who wants to know when a resource changes; kept across reconnects. */
import type { Connection } from './connection/connection.js';
import type { Events } from './events.js';

export type ResourceListener = (uri: string) => void;

export class ResourceWatch {
  readonly #events: Events;
  readonly #listeners = new Map<string, Map<string, Set<ResourceListener>>>();

  constructor(events: Events) {
    this.#events = events;
  }

  /** Adds a listener; true when it is the first for this resource, so that the server has to be told. */
  add(server: string, uri: string, listener: ResourceListener): boolean {
    const uris = this.#listeners.get(server) ?? new Map<string, Set<ResourceListener>>();
    this.#listeners.set(server, uris);
    const listeners = uris.get(uri) ?? new Set();
    uris.set(uri, listeners);
    listeners.add(listener);
    return listeners.size === 1;
  }

  /** Removes a listener; true when nobody is left. */
  remove(server: string, uri: string, listener: ResourceListener): boolean {
    const uris = this.#listeners.get(server);
    const listeners = uris?.get(uri);
    if (!listeners?.delete(listener) || listeners.size > 0) return false;
    uris?.delete(uri);
    return true;
  }

  notify(server: string, uri: string): void {
    for (const listener of this.#listeners.get(server)?.get(uri) ?? [])
      this.#events.contain('resource listener', () => listener(uri));
  }

  /** A fresh link knows nothing of earlier subscriptions. */
  async renew(connection: Connection): Promise<void> {
    const uris = [...(this.#listeners.get(connection.name)?.keys() ?? [])];
    await Promise.all(uris.map((uri) => connection.subscriptions?.add(uri).catch(() => {})));
  }
}
