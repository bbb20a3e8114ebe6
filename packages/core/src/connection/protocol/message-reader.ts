/**
 * Parses the texts of one connection in order: small ones in one go, large ones in slices, so that other work can
 * run, and large unrequested ones not at all.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { rememberRawNumbers } from '../../json/lossless-json.js';
import { type MemoryRequest, type MemoryReservation, memoryBudget } from '../../json/memory-budget.js';
import { parseLarge } from '../../json/parse-large.js';
import {
  exceedsTurnBudget,
  inSlices,
  LARGE_TEXT_LENGTH,
  SMALL_TEXT_LENGTH,
  type Steps,
} from '../../json/slices.js';
import { toRpcError } from '../lanes/server-error.js';
import { answeredIds, type Id } from './answered-ids.js';
import type { IgnoredReason } from './ignored-messages.js';
import { deliverText, type MessageRules, maxTextDepth, type ReadMessage, readParsed } from './message.js';
import { EDGE_LENGTH, readEdges } from './message-edges.js';

export interface ReaderSink {
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  onignored?: ((reason: IgnoredReason) => void) | undefined;
  /** Whether a request with this id is pending. Absent: unknown. */
  isawaited?: ((id: string | number) => boolean) | undefined;
}

/** No notification or request is this long. */
const MAX_UNSOLICITED_CHARACTERS = 1_024 * 1_024;
/** The maximum number of values in a message. Processing a result takes time for each of them, everywhere. */
const MAX_PARTS = 2_000_000;
/** Messages of a batch: they are handled in one go. No real server sends that many. */
const MAX_BATCH_MESSAGES = 1_000;
/** Measured: the memory of the most expensive values, for each of them and for each character of their text. */
const BYTES_PER_PART = 96;
const BYTES_PER_CHARACTER = 24;
/** The overhead of a waiting text: a million empty ones still take memory. */
const TEXT_OVERHEAD = 64;

export interface ReaderOptions {
  /** A large message is being parsed; what arrives meanwhile waits, preferably elsewhere. */
  readonly onBusy?: ((isBusy: boolean) => void) | undefined;
  /** Delivers the messages of a text; `isLate`: not immediately when the text arrived. */
  readonly wrapDelivery?: ((deliver: () => void, length: number, isLate: boolean) => void) | undefined;
}

export class MessageReader {
  readonly #rules: MessageRules;
  readonly #sink: ReaderSink;
  readonly #options: ReaderOptions;
  #queue: string[] = [];
  #queuedCharacters = 0;
  #reading: Promise<void> | undefined;

  constructor(rules: MessageRules, sink: ReaderSink, options: ReaderOptions = {}) {
    this.#rules = rules;
    this.#sink = sink;
    this.#options = options;
  }

  /** Characters waiting to be parsed; each text adds some overhead. */
  get queuedCharacters(): number {
    return this.#queuedCharacters;
  }

  push(text: string): void {
    if (this.#reading === undefined && !mustBeSliced(text)) return this.#deliverSmall(text, false);
    this.#queue.push(text);
    this.#queuedCharacters += text.length + TEXT_OVERHEAD;
    this.#reading ??= this.#readAll();
  }

  /** Runs when everything received so far has been parsed: immediately, if nothing waits. */
  whenIdle(work: () => void): void {
    if (this.#reading === undefined) work();
    else void this.#reading.then(work);
  }

  /** Never rejects: the receiver of the messages handles their failures. */
  async #readAll(): Promise<void> {
    this.#options.onBusy?.(true);
    while (this.#queue.length > 0) {
      // From the end: removing the first item of a long list moves all the others.
      const texts = this.#queue.reverse();
      this.#queue = [];
      while (texts.length > 0) {
        await inSlices(this.#deliverQueuedSmall(texts));
        const text = this.#dequeue(texts);
        if (text !== undefined) await this.#deliverLarge(text);
      }
    }
    this.#reading = undefined;
    this.#options.onBusy?.(false);
  }

  /** Delivers the small ones up to the next large one: thousands of them take as long as a large one. */
  *#deliverQueuedSmall(texts: string[]): Steps<void> {
    for (let text = texts.at(-1); text !== undefined && !mustBeSliced(text); text = texts.at(-1)) {
      this.#dequeue(texts);
      this.#deliverSmall(text, true);
      yield;
    }
  }

  #dequeue(texts: string[]): string | undefined {
    const text = texts.pop();
    if (text !== undefined) this.#queuedCharacters -= text.length + TEXT_OVERHEAD;
    return text;
  }

  async #deliverLarge(text: string): Promise<void> {
    const isUnread = isUnsolicited(text, this.#sink);
    const room = isUnread ? undefined : await memoryBudget.reserve(memoryRequestFor(text, this.#rules));
    // The request may no longer be pending.
    const read = isUnread || isUnsolicited(text, this.#sink) ? 'unasked' : await this.#readLarge(text, room);
    const isOne = !Array.isArray(read) && typeof read !== 'string';
    const result = isOne && 'result' in read ? read.result : undefined;
    if (isRecord(result)) room?.attachTo(result);
    this.#wrapDelivery(() => deliver(read, this.#sink), text.length, true);
    if (!isRecord(result)) room?.release();
  }

  async #readLarge(text: string, room: MemoryReservation | undefined): Promise<ReadMessage | ReadMessage[]> {
    const rules = this.#rules;
    const sorry = (why: TurnbuckleError) => (id: Id) =>
      ({ jsonrpc: '2.0', id, error: toRpcError(why) }) as const;
    if (room === undefined) return this.#rejectText(text, 'too-large', sorry(outOfMemoryBudget(rules)));
    try {
      return await readLarge(text, rules, room);
    } catch (error) {
      if (!(error instanceof TurnbuckleError)) return 'noise';
      if (error.code === 'REQUEST_INVALID')
        return this.#rejectText(text, 'too-deep', (id) => readParsed({ value: { id }, isDeep: true }, rules));
      return this.#rejectText(text, 'too-large', sorry(tooManyParts(rules, error)));
    }
  }

  /** Pending requests fail immediately, for each message of a batch; without any, the text is ignored. */
  async #rejectText(
    text: string,
    reason: IgnoredReason,
    answer: (id: Id) => ReadMessage | ReadMessage[],
  ): Promise<ReadMessage | ReadMessage[]> {
    const isAwaited = (id: Id): boolean => this.#sink.isawaited?.(id) ?? true;
    const known = answeredId(text);
    const ids = known === undefined ? await inSlices(answeredIds(text, isAwaited)) : [known];
    return ids.length === 0 ? reason : ids.flatMap(answer);
  }

  #deliverSmall(text: string, isLate: boolean): void {
    if (this.#options.wrapDelivery === undefined) deliverText(text, this.#rules, this.#sink);
    else this.#wrapDelivery(() => deliverText(text, this.#rules, this.#sink), text.length, isLate);
  }

  #wrapDelivery(work: () => void, length: number, isLate: boolean): void {
    const { wrapDelivery } = this.#options;
    if (wrapDelivery === undefined) work();
    else wrapDelivery(work, length, isLate);
  }
}

function deliver(read: ReadMessage | ReadMessage[], sink: ReaderSink): void {
  for (const message of Array.isArray(read) ? read : [read])
    if (typeof message === 'string') sink.onignored?.(message);
    else sink.onmessage?.(message);
}

/** Many small ones block the event loop just like one large one. */
const mustBeSliced = (text: string): boolean =>
  text.length > SMALL_TEXT_LENGTH && (isExpensive(text) || exceedsTurnBudget(text.length));

/** Too expensive to parse in one go: it is long, or a batch that may have many messages. */
export const isExpensive = (text: string): boolean =>
  text.length > LARGE_TEXT_LENGTH || (text.length > SMALL_TEXT_LENGTH && BATCH_START.test(text));
const BATCH_START = /^\ufeff?[ \t\n\r]*\[/;

const answeredId = (text: string): Id | undefined => {
  const { id, hasMethod } = readEdges(text.slice(0, EDGE_LENGTH), text.slice(-EDGE_LENGTH));
  return hasMethod ? undefined : id;
};

/** Too long for unrequested data. */
function isUnsolicited(text: string, { isawaited }: ReaderSink): boolean {
  if (text.length <= MAX_UNSOLICITED_CHARACTERS) return false;
  const { id, hasMethod } = readEdges(text.slice(0, EDGE_LENGTH), text.slice(-EDGE_LENGTH));
  return hasMethod || (id !== undefined && isawaited?.(id) === false);
}

function memoryRequestFor({ length }: string, { server }: MessageRules): MemoryRequest {
  const bytes = Math.min(length * BYTES_PER_CHARACTER, estimateBytes(length, MAX_PARTS));
  return { length, bytes, owner: server };
}

/** The text may be remembered with its values. */
const estimateBytes = (length: number, parts: number): number => length * 2 + parts * BYTES_PER_PART;

async function readLarge(
  text: string,
  rules: MessageRules,
  room: MemoryReservation,
): Promise<ReadMessage | ReadMessage[]> {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const limits = { maxDepth: maxTextDepth(rules), maxParts: MAX_PARTS };
  const read = await inSlices(parseLarge(start === 0 ? text : text.slice(start), limits));
  room.shrinkTo(estimateBytes(text.length, read.parts));
  if (Array.isArray(read.value) && read.value.length > MAX_BATCH_MESSAGES)
    throw new TurnbuckleError('RESPONSE_TOO_LARGE', `The JSON has more than ${MAX_BATCH_MESSAGES} messages.`);
  if (isRecord(read.value) && !read.isDeep) await inSlices(rememberRawNumbers(read.value, text));
  return readParsed(read, rules);
}

function outOfMemoryBudget({ server }: MessageRules): TurnbuckleError {
  const message = `Server "${server}" responded, but the response was not read because too many large responses are already in memory.`;
  return new TurnbuckleError('OVERLOADED', message, {
    server,
    hint: 'The server executed the request. Make fewer requests at a time, or request less data (a page, a range).',
  });
}

function tooManyParts({ server }: MessageRules, cause: TurnbuckleError): TurnbuckleError {
  const what = cause.message.replace('The JSON ', '');
  return new TurnbuckleError('RESPONSE_TOO_LARGE', `The response from server "${server}" ${what}`, {
    server,
    hint: 'Request less data from the tool (a page, a range).',
  });
}
