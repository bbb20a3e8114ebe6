/** The text of an answer. The large part of one that many are sent is there once, as bytes, whoever it is on its way to. */
import type { Writable } from 'node:stream';

/** From so many bytes on, an answer is large: it is counted before it is written. */
export const LARGE_ANSWER = 64 * 1_024;

export class SharedText {
  readonly head: string;
  readonly shared: Buffer;
  readonly tail: string;

  constructor(head: string, shared: Buffer, tail: string) {
    this.head = head;
    this.shared = shared;
    this.tail = tail;
  }

  get byteLength(): number {
    return Buffer.byteLength(this.head) + this.shared.length + Buffer.byteLength(this.tail);
  }
}

export type AnswerText = string | SharedText;

/** The same with something before and behind it; the large part is not touched. */
export const within = (head: string, text: AnswerText, tail: string): AnswerText =>
  typeof text === 'string'
    ? `${head}${text}${tail}`
    : new SharedText(head + text.head, text.shared, text.tail + tail);

/** Text that is made once for many; as bytes, where that is worth while. */
export const toShare = (text: string): string | Buffer =>
  text.length < LARGE_ANSWER ? text : Buffer.from(text);

/** In one go, so that nothing comes in between. Answers as the last write does. */
export function writeText(output: Writable, text: AnswerText): boolean {
  if (typeof text === 'string') return output.write(text);
  output.cork();
  output.write(text.head);
  output.write(text.shared);
  const isTaken = output.write(text.tail);
  output.uncork();
  return isTaken;
}
