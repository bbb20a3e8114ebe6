import { Tasks } from './tasks.mjs';

/** @typedef {'tools' | 'prompts'} Kind */

/** The state that all servers of this process share: extra list entries, tasks, and listeners for changes. */
export class World {
  tasks = new Tasks();
  /** @type {Set<Kind>} */
  #extra = new Set();
  /** @type {Set<(kind: Kind) => void>} */
  #listeners = new Set();

  /** @param {Kind} kind */
  hasExtra(kind) {
    return this.#extra.has(kind);
  }

  /**
   * Adds the extra entry to a list or removes it, and notifies the listeners.
   * @param {Kind} kind
   */
  change(kind) {
    if (!this.#extra.delete(kind)) this.#extra.add(kind);
    for (const listener of this.#listeners) listener(kind);
  }

  /**
   * Returns a function that removes the listener.
   * @param {(kind: Kind) => void} listener
   */
  listen(listener) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Sends list changes to the client of this server while it is connected.
   * @param {import('@modelcontextprotocol/server').Server} server
   */
  forwardChanges(server) {
    const end = this.listen((kind) => {
      const sent = kind === 'tools' ? server.sendToolListChanged() : server.sendPromptListChanged();
      sent.catch(() => {});
    });
    server.onclose = end;
  }
}
