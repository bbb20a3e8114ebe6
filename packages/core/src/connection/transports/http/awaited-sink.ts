/** Passes what a channel reads to the current listener, and records whether a response was expected. */
import { AwaitedAnswers } from '../../protocol/flood-meter.js';
import type { ReaderSink } from '../../protocol/message-reader.js';

export class AwaitedSink implements ReaderSink {
  readonly #answers = new AwaitedAnswers();
  readonly #listener: ReaderSink;
  /** An expected response arrived since this was last set to false. */
  sawAwaitedAnswer = false;

  constructor(listener: ReaderSink) {
    this.#listener = listener;
  }

  /** A request was sent. */
  sent(): void {
    this.#answers.sent();
  }

  readonly onmessage: NonNullable<ReaderSink['onmessage']> = (message) => {
    if (this.#answers.take(message)) this.sawAwaitedAnswer = true;
    this.#listener.onmessage?.(message);
  };

  readonly onignored: NonNullable<ReaderSink['onignored']> = (reason) => this.#listener.onignored?.(reason);

  readonly isawaited: NonNullable<ReaderSink['isawaited']> = (id) => this.#listener.isawaited?.(id) ?? true;
}
