const endOfEvent = /\r?\n\r?\n/;

/** Reads the events of a `text/event-stream` from its chunks. */
export class EventStream {
  #onEvent;
  #unfinished = '';

  /** @param {(event: { type: string, data: string }) => void} onEvent */
  constructor(onEvent) {
    this.#onEvent = onEvent;
  }

  /** @param {string} chunk */
  push(chunk) {
    const blocks = (this.#unfinished + chunk).split(endOfEvent);
    this.#unfinished = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = [...block.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join('\n');
      const type = /^event: ?(.*)$/m.exec(block)?.[1] ?? 'message';
      if (data !== '') this.#onEvent({ type, data });
    }
  }
}
