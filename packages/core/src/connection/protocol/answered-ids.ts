/** Finds the ids that a text responds to without parsing it: for one that is too large to parse. */
import type { Steps } from '../../json/slices.js';

export type Id = string | number;

const CHARACTERS_PER_STEP = 8_192;
/** More than are ever pending. */
const MAX_IDS = 10_000;
/** The maximum length of a member that identifies a message. */
const MAX_MEMBER_LENGTH = 1_024;
const ID_OR_METHOD = /^\s*"(?:id|method)"\s*:/;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * The pending requests that the message, or the messages of a batch, respond to. Only members of the messages
 * themselves count, at any position.
 */
export function* answeredIds(text: string, isAwaited: (id: Id) => boolean): Steps<Id[]> {
  const ids = new Set<Id>();
  // The messages of a batch are one level down.
  const level = text.trimStart().startsWith('[') ? 2 : 1;
  let depth = 0;
  let message: MessageScanner | undefined;
  let isInString = false;
  for (let at = 0, left = CHARACTERS_PER_STEP; at < text.length && ids.size < MAX_IDS; at += 1, left -= 1) {
    if (left <= 0) {
      left = CHARACTERS_PER_STEP;
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
      if (depth === level) message = code === OPEN_OBJECT ? new MessageScanner(at + 1) : undefined;
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

class MessageScanner {
  #memberStart: number;
  #members: Readonly<Record<string, unknown>> = {};

  constructor(start: number) {
    this.#memberStart = start;
  }

  endMember(text: string, end: number): void {
    const start = this.#memberStart;
    this.#memberStart = end + 1;
    if (end - start > MAX_MEMBER_LENGTH) return;
    const member = text.slice(start, end);
    if (!ID_OR_METHOD.test(member)) return;
    try {
      this.#members = { ...this.#members, ...JSON.parse(`{${member}}`) };
    } catch {
      // Not a member: irrelevant.
    }
  }

  get answeredId(): Id | undefined {
    const { id, method } = this.#members;
    return method === undefined && (typeof id === 'string' || Number.isFinite(id)) ? (id as Id) : undefined;
  }
}
