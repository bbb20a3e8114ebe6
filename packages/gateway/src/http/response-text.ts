/** The text of a response. A large part that many clients get exists once, as bytes, for all of them. */
import type { Writable } from 'node:stream';

/** A response of this size or more is counted before it is written. */
export const LARGE_RESPONSE_BYTES = 64 * 1_024;

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

export type ResponseText = string | SharedText;

/** Adds text before and after; the large part is not copied. */
export const wrapText = (head: string, text: ResponseText, tail: string): ResponseText =>
  typeof text === 'string'
    ? `${head}${text}${tail}`
    : new SharedText(head + text.head, text.shared, text.tail + tail);

/** Text that is made once for many clients; as bytes if it is large. */
export const toShareableText = (text: string): string | Buffer =>
  text.length < LARGE_RESPONSE_BYTES ? text : Buffer.from(text);

/** Written in one piece, so that nothing comes in between. Returns what the last write returned. */
export function writeText(output: Writable, text: ResponseText): boolean {
  if (typeof text === 'string') return output.write(text);
  output.cork();
  output.write(text.head);
  output.write(text.shared);
  const isTaken = output.write(text.tail);
  output.uncork();
  return isTaken;
}
