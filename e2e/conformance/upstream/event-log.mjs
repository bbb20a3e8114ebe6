/** @typedef {import('@modelcontextprotocol/server').EventStore} EventStore */

/**
 * Stores the events of streams, for clients that resume a broken stream.
 * @implements {EventStore}
 */
export class EventLog {
  /** @type {Map<string, import('@modelcontextprotocol/server').JSONRPCMessage[]>} */
  #streams = new Map();

  /**
   * @param {string} stream
   * @param {import('@modelcontextprotocol/server').JSONRPCMessage} message
   */
  async storeEvent(stream, message) {
    const messages = this.#streams.get(stream) ?? [];
    this.#streams.set(stream, messages);
    return `${stream}#${messages.push(message)}`;
  }

  /**
   * @param {string} last
   * @param {{ send: (id: string, message: import('@modelcontextprotocol/server').JSONRPCMessage) => Promise<void> }} to
   */
  async replayEventsAfter(last, { send }) {
    const cut = last.lastIndexOf('#');
    const stream = last.slice(0, cut);
    const seen = Number(last.slice(cut + 1));
    const missed = (this.#streams.get(stream) ?? []).slice(seen);
    for (const [index, message] of missed.entries()) await send(`${stream}#${seen + index + 1}`, message);
    return stream;
  }
}
