import { Tasks } from './tasks.mjs';

/** @typedef {'tools' | 'prompts'} Kind */

/** What all servers of this process share: extra entries in the lists, tasks, and who is told of changes. */
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
   * Puts the extra entry into a list or takes it out, and says so.
   * @param {Kind} kind
   */
  change(kind) {
    if (!this.#extra.delete(kind)) this.#extra.add(kind);
    for (const listener of this.#listeners) listener(kind);
  }

  /**
   * Returns the function that ends it.
   * @param {(kind: Kind) => void} listener
   */
  listen(listener) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Tells the client of this server as long as it is connected.
   * @param {import('@modelcontextprotocol/server').Server} server
   */
  tell(server) {
    const end = this.listen((kind) => {
      const told = kind === 'tools' ? server.sendToolListChanged() : server.sendPromptListChanged();
      told.catch(() => {});
    });
    server.onclose = end;
  }
}
