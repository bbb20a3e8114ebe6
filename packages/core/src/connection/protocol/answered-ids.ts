/** Whose answers a text holds, told without reading it: for one that is too large to be read. */
import type { Steps } from '../json/slices.js';

export type Id = string | number;

const STEP = 8_192;
/** More than ever wait at once. */
const MAX_IDS = 10_000;
/** A member that says whose a message is is no longer. */
const MAX_MEMBER = 1_024;
const TELLING = /^\s*"(?:id|method)"\s*:/;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * The requests that the message answers, or those that the messages of a batch do, of those that are awaited. Only
 * members of the messages themselves count, wherever they stand in them.
 */
export function* answeredIds(text: string, isAwaited: (id: Id) => boolean): Steps<Id[]> {
  const ids = new Set<Id>();
  // The messages of a batch are one level down.
  const level = text.trimStart().startsWith('[') ? 2 : 1;
  let depth = 0;
  let message: Message | undefined;
  let isInString = false;
  for (let at = 0, left = STEP; at < text.length && ids.size < MAX_IDS; at += 1, left -= 1) {
    if (left <= 0) {
      left = STEP;
      yield;
    }
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at += 1;
      else isInString = code !== QUOTE;
    } else if (code === QUOTE) isInString = true;
    else if (code === COMMA && depth === level) message?.endMember(text, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth === level) message = code === OPEN_OBJECT ? new Message(at + 1) : undefined;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      if (depth === level) {
        message?.endMember(text, at);
        const id = message?.answeredId;
        if (id !== undefined && isAwaited(id)) ids.add(id);
        message = undefined;
      }
      depth -= 1;
    }
  }
  return [...ids];
}

class Message {
  #member: number;
  #told: Readonly<Record<string, unknown>> = {};

  constructor(start: number) {
    this.#member = start;
  }

  endMember(text: string, end: number): void {
    const start = this.#member;
    this.#member = end + 1;
    if (end - start > MAX_MEMBER) return;
    const member = text.slice(start, end);
    if (!TELLING.test(member)) return;
    try {
      this.#told = { ...this.#told, ...JSON.parse(`{${member}}`) };
    } catch {
      // Not a member: it tells nothing.
    }
  }

  get answeredId(): Id | undefined {
    const { id, method } = this.#told;
    return method === undefined && (typeof id === 'string' || Number.isFinite(id)) ? (id as Id) : undefined;
  }
}
