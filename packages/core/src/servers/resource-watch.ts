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
  /** The latest connection of each key with listeners. */
  readonly #connections = new Map<string, Connection>();

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
    this.#connections.set(key, connection);
    this.#add(key, uri, listener);
    try {
      await connection.subscriptions?.add(uri);
    } catch (error) {
      this.#remove(key, uri, listener);
      throw error;
    }
    return async () => {
      // It may have been replaced since.
      const current = this.#connections.get(key);
      if (this.#remove(key, uri, listener)) await current?.subscriptions?.remove(uri);
    };
  }

  #add(key: string, uri: string, listener: ResourceListener): void {
    const uris = this.#listeners.get(key) ?? new Map<string, Set<ResourceListener>>();
    this.#listeners.set(key, uris);
    const listeners = uris.get(uri) ?? new Set();
    uris.set(uri, listeners);
    listeners.add(listener);
  }

  /** Removes a listener; true if none is left. */
  #remove(key: string, uri: string, listener: ResourceListener): boolean {
    const uris = this.#listeners.get(key);
    const listeners = uris?.get(uri);
    if (!listeners?.delete(listener) || listeners.size > 0) return false;
    uris?.delete(uri);
    if (uris?.size === 0) {
      this.#listeners.delete(key);
      this.#connections.delete(key);
    }
    return true;
  }

  /** False if nobody listens. */
  notify(key: string, uri: string): boolean {
    const listeners = this.#listeners.get(key)?.get(uri);
    for (const listener of listeners ?? []) this.#events.runSafely('resource listener', () => listener(uri));
    return listeners !== undefined;
  }

  /** A new link has no subscriptions, and what changed before it was open is not known. */
  async renew({ connection, key }: WatchSource): Promise<void> {
    const uris = [...(this.#listeners.get(key)?.keys() ?? [])];
    if (uris.length > 0) this.#connections.set(key, connection);
    const renewOne = async (uri: string): Promise<void> => {
      await connection.subscriptions?.add(uri);
      this.notify(key, uri);
    };
    await Promise.all(uris.map((uri) => renewOne(uri).catch(() => {})));
  }
}
