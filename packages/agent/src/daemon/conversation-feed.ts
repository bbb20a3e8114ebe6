/** Tells open streams that their conversation has something new. */
export class ConversationFeed {
  readonly #listeners = new Map<string, Set<() => void>>();

  get size(): number {
    return [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  listen(conversation: string, listener: () => void): () => void {
    const known = this.#listeners.get(conversation) ?? new Set();
    this.#listeners.set(conversation, known.add(listener));
    return () => {
      known.delete(listener);
      if (known.size === 0) this.#listeners.delete(conversation);
    };
  }

  changed(conversation: string): void {
    for (const listener of this.#listeners.get(conversation) ?? []) listener();
  }
}
