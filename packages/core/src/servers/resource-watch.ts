/** Listeners for resource changes; kept across reconnects. */
import type { Connection } from '../connection/connection.js';
import type { Events } from '../events.js';

export type ResourceListener = (uri: string) => void;

export class ResourceWatch {
  readonly #events: Events;
  readonly #listeners = new Map<string, Map<string, Set<ResourceListener>>>();

  constructor(events: Events) {
    this.#events = events;
  }

  /** Listens across reconnects; returns a function that stops it. */
  async subscribe(
    connection: Connection,
    uri: string,
    listener: ResourceListener,
  ): Promise<() => Promise<void>> {
    const { name } = connection;
    await connection.open();
    try {
      if (this.#add(name, uri, listener)) await connection.subscriptions?.add(uri);
    } catch (error) {
      // Otherwise the next listener would not count as the first, and the server would never get the subscription.
      this.#remove(name, uri, listener);
      throw error;
    }
    return async () => {
      if (this.#remove(name, uri, listener)) await connection.subscriptions?.remove(uri);
    };
  }

  /** Adds a listener; true if it is the first for this resource, so that the server needs a subscription. */
  #add(server: string, uri: string, listener: ResourceListener): boolean {
    const uris = this.#listeners.get(server) ?? new Map<string, Set<ResourceListener>>();
    this.#listeners.set(server, uris);
    const listeners = uris.get(uri) ?? new Set();
    uris.set(uri, listeners);
    listeners.add(listener);
    return listeners.size === 1;
  }

  /** Removes a listener; true if none is left. */
  #remove(server: string, uri: string, listener: ResourceListener): boolean {
    const uris = this.#listeners.get(server);
    const listeners = uris?.get(uri);
    if (!listeners?.delete(listener) || listeners.size > 0) return false;
    uris?.delete(uri);
    return true;
  }

  notify(server: string, uri: string): void {
    for (const listener of this.#listeners.get(server)?.get(uri) ?? [])
      this.#events.runSafely('resource listener', () => listener(uri));
  }

  /** A new link has no subscriptions. */
  async renew(connection: Connection): Promise<void> {
    const uris = [...(this.#listeners.get(connection.name)?.keys() ?? [])];
    await Promise.all(uris.map((uri) => connection.subscriptions?.add(uri).catch(() => {})));
  }
}
