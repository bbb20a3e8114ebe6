/**
 * Parses events from the complete lines of a stream, according to the HTML standard. One step per character, and no
 * allocation for empty lines: there may be tens of thousands of them in one chunk.
 */

export interface StreamEvent {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly data: string;
}

export interface EventSink {
  onEvent(event: StreamEvent): void;
  onRetry(ms: number): void;
}

type Field = 'data' | 'event' | 'id' | 'retry';
/** By the code of their first letter. */
const FIELDS = new Map<number, Field>(
  (['data', 'event', 'id', 'retry'] as const).map((name) => [name.charCodeAt(0), name]),
);
const COLON = 58;
const SPACE = 32;

export class EventReader {
  readonly #sink: EventSink;
  // Strips the byte order mark at the beginning of a stream.
  readonly #decoder = new TextDecoder();
  #data: string | undefined;
  #event: string | undefined;
  #id: string | undefined;

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  /** Each with its line feed, and without other line ends. */
  read(lines: Uint8Array): void {
    const text = this.#decoder.decode(lines, { stream: true });
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (end === start) this.#endEvent();
      else this.#readLine(text, start, end);
      start = end + 1;
    }
  }

  #readLine(text: string, start: number, end: number): void {
    const field = FIELDS.get(text.charCodeAt(start));
    if (field === undefined || !text.startsWith(field, start)) return;
    const colon = start + field.length;
    if (colon === end) return this.#take(field, '');
    if (text.charCodeAt(colon) !== COLON) return;
    this.#take(field, text.slice(colon + (text.charCodeAt(colon + 1) === SPACE ? 2 : 1), end));
  }

  #take(field: Field, value: string): void {
    if (field === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    else if (field === 'event') this.#event = value === '' ? undefined : value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^[0-9]+$/.test(value))
      this.#sink.onRetry(Math.min(Number(value), Number.MAX_SAFE_INTEGER));
  }

  #endEvent(): void {
    const [id, event, data] = [this.#id, this.#event, this.#data];
    this.#id = undefined;
    this.#event = undefined;
    this.#data = undefined;
    if (data !== undefined) this.#sink.onEvent({ id, event, data });
  }
}
