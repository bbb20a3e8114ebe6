/** Listeners for resource changes; kept across reconnects. */
import type { Connection } from '../connection/connection.js';
import type { Events } from '../events.js';

export type ResourceListener = (uri: string) => void;

/** A connection that resources are followed on; the key stays the same when it is replaced. */
export interface WatchSource {
  readonly connection: Connection;
  readonly key: string;
}

/** The key of the shared connection of a server, or of one of its dedicated connections. */
export const watchKey = (server: string, dedicated?: string): string =>
  JSON.stringify(dedicated === undefined ? [server] : [server, dedicated]);

export class ResourceWatch {
  readonly #events: Events;
  readonly #listeners = new Map<string, Map<string, Set<ResourceListener>>>();

  constructor(events: Events) {
    this.#events = events;
  }

  /** Listens across reconnects; returns a function that stops it. */
  async subscribe(
    { connection, key }: WatchSource,
    uri: string,
    listener: ResourceListener,
  ): Promise<() => Promise<void>> {
    await connection.open();
    try {
      if (this.#add(key, uri, listener)) await connection.subscriptions?.add(uri);
    } catch (error) {
      // Otherwise the next listener would not count as the first, and the server would never get the subscription.
      this.#remove(key, uri, listener);
      throw error;
    }
    return async () => {
      if (this.#remove(key, uri, listener)) await connection.subscriptions?.remove(uri);
    };
  }

  /** Adds a listener; true if it is the first for this resource, so that the server needs a subscription. */
  #add(key: string, uri: string, listener: ResourceListener): boolean {
    const uris = this.#listeners.get(key) ?? new Map<string, Set<ResourceListener>>();
    this.#listeners.set(key, uris);
    const listeners = uris.get(uri) ?? new Set();
    uris.set(uri, listeners);
    listeners.add(listener);
    return listeners.size === 1;
  }

  /** Removes a listener; true if none is left. */
  #remove(key: string, uri: string, listener: ResourceListener): boolean {
    const uris = this.#listeners.get(key);
    const listeners = uris?.get(uri);
    if (!listeners?.delete(listener) || listeners.size > 0) return false;
    uris?.delete(uri);
    if (uris?.size === 0) this.#listeners.delete(key);
    return true;
  }

  /** False if nobody listens. */
  notify(key: string, uri: string): boolean {
    const listeners = this.#listeners.get(key)?.get(uri);
    for (const listener of listeners ?? []) this.#events.runSafely('resource listener', () => listener(uri));
    return listeners !== undefined;
  }

  /** A new link has no subscriptions. */
  async renew({ connection, key }: WatchSource): Promise<void> {
    const uris = [...(this.#listeners.get(key)?.keys() ?? [])];
    await Promise.all(uris.map((uri) => connection.subscriptions?.add(uri).catch(() => {})));
  }
}
