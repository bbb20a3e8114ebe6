import type { AnswerText } from '../http/answer-text.js';

/** The way back to a client for one of its requests: perhaps messages on the way, then the answer. */
export interface Reply {
  /** False: nothing but the answer can be sent. */
  readonly canStream: boolean;
  /** A message that belongs to the request and comes before its answer. */
  send(text: string): void;
  /** The answer; `http` is its status where there is one. What it returns resolves when a large one has had its turn. */
  finish(text: AnswerText, http?: number): void | Promise<void>;
}
