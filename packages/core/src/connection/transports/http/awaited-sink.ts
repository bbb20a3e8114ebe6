/** What a channel reads, handed on to who listens to it then, and whether somebody was waiting for it. */
import { AwaitedAnswers } from './flood-meter.js';
import type { ReaderSink } from './message-reader.js';

export class AwaitedSink implements ReaderSink {
  readonly #answers = new AwaitedAnswers();
  readonly #listener: ReaderSink;
  /** An answer came that a request waited for, since this was last made false. */
  isAwaited = false;

  constructor(listener: ReaderSink) {
    this.#listener = listener;
  }

  /** A request went out. */
  sent(): void {
    this.#answers.sent();
  }

  readonly onmessage: NonNullable<ReaderSink['onmessage']> = (message) => {
    if (this.#answers.take(message)) this.isAwaited = true;
    this.#listener.onmessage?.(message);
  };

  readonly onignored: NonNullable<ReaderSink['onignored']> = (reason) => this.#listener.onignored?.(reason);

  readonly isawaited: NonNullable<ReaderSink['isawaited']> = (id) => this.#listener.isawaited?.(id) ?? true;
}
