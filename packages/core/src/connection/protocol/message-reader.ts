/**
 * Reads the texts of one connection in the order in which they come: small ones at once, large ones in slices, so that
 * nobody else has to wait, and large ones that nobody asked for not at all.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { parseLarge } from '../json/parse-large.js';
import { type Room, type RoomWish, rooms } from '../json/rooms.js';
import { inSlices, LARGE_TEXT, PLAIN_TEXT, type Steps, takesTooLong } from '../json/slices.js';
import { rememberLarge } from '../json/spelling.js';
import { answeredIds, type Id } from './answered-ids.js';
import type { IgnoredReason } from './ignored-messages.js';
import { deliverText, levelsOf, type MessageRules, type ReadMessage, readParsed } from './message.js';
import { EDGE_LENGTH, readEdges } from './message-edges.js';
import { toAnswer } from './server-error.js';

export interface ReaderSink {
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  onignored?: ((reason: IgnoredReason) => void) | undefined;
  /** Does somebody wait for the answer to this request? Absent: that is not known. */
  isawaited?: ((id: string | number) => boolean) | undefined;
}

/** No notice and no question is as long as that. */
const MAX_UNASKED = 1_024 * 1_024;
/** Of a server's message. What is done with a result takes time for each of them, here and wherever it goes. */
const MAX_PARTS = 2_000_000;
/** Messages of a batch: they are handed on in one go. Nobody sends as many. */
const MAX_BATCH = 1_000;
/** Measured: what the dearest values take in memory, for each of their parts and for each character of their text. */
const BYTES_OF_PART = 96;
const BYTES_OF_CHARACTER = 24;
/** What a text takes beside its characters while it waits: a million empty ones are not nothing. */
const TEXT_COST = 64;

export interface ReaderOptions {
  /** A large message is being read; what comes meanwhile waits, and better waits elsewhere. */
  readonly onBusy?: ((isBusy: boolean) => void) | undefined;
  /** Hands on what a text says, and does around that what it has to; `isLate`: not at once when the text came. */
  readonly around?: ((deliver: () => void, length: number, isLate: boolean) => void) | undefined;
}

export class MessageReader {
  readonly #rules: MessageRules;
  readonly #sink: ReaderSink;
  readonly #options: ReaderOptions;
  #waiting: string[] = [];
  #held = 0;
  #reading: Promise<void> | undefined;

  constructor(rules: MessageRules, sink: ReaderSink, options: ReaderOptions = {}) {
    this.#rules = rules;
    this.#sink = sink;
    this.#options = options;
  }

  /** How much waits to be read, in characters; each text counts as some more. */
  get waiting(): number {
    return this.#held;
  }

  push(text: string): void {
    if (this.#reading === undefined && !isLarge(text)) return this.#deliverSmall(text, false);
    this.#waiting.push(text);
    this.#held += text.length + TEXT_COST;
    this.#reading ??= this.#readAll();
  }

  /** Runs when everything that has come so far has been read: at once, if nothing waits. */
  whenIdle(work: () => void): void {
    if (this.#reading === undefined) work();
    else void this.#reading.then(work);
  }

  /** Never rejects: whoever takes the messages contains what goes wrong over them. */
  async #readAll(): Promise<void> {
    this.#options.onBusy?.(true);
    while (this.#waiting.length > 0) {
      // From the end: to take the first out of a long list moves all the others.
      const texts = this.#waiting.reverse();
      this.#waiting = [];
      while (texts.length > 0) {
        await inSlices(this.#smallOnes(texts));
        const text = this.#take(texts);
        if (text !== undefined) await this.#deliverLarge(text);
      }
    }
    this.#reading = undefined;
    this.#options.onBusy?.(false);
  }

  /** Hands on the small ones up to the next that is large: thousands of them take as long as a large one. */
  *#smallOnes(texts: string[]): Steps<void> {
    for (let text = texts.at(-1); text !== undefined && !isLarge(text); text = texts.at(-1)) {
      this.#take(texts);
      this.#deliverSmall(text, true);
      yield;
    }
  }

  #take(texts: string[]): string | undefined {
    const text = texts.pop();
    if (text !== undefined) this.#held -= text.length + TEXT_COST;
    return text;
  }

  async #deliverLarge(text: string): Promise<void> {
    const isUnread = isUnasked(text, this.#sink);
    const room = isUnread ? undefined : await rooms.enter(roomFor(text, this.#rules));
    // Nobody may wait for it any more.
    const read = isUnread || isUnasked(text, this.#sink) ? 'unasked' : await this.#readLarge(text, room);
    const isOne = !Array.isArray(read) && typeof read !== 'string';
    const result = isOne && 'result' in read ? read.result : undefined;
    if (isRecord(result)) room?.handOnWith(result);
    this.#around(() => deliver(read, this.#sink), text.length, true);
    if (!isRecord(result)) room?.release();
  }

  async #readLarge(text: string, room: Room | undefined): Promise<ReadMessage | ReadMessage[]> {
    const rules = this.#rules;
    const sorry = (why: TurnbuckleError) => (id: Id) =>
      ({ jsonrpc: '2.0', id, error: toAnswer(why) }) as const;
    if (room === undefined) return this.#refuse(text, 'too-large', sorry(noRoom(rules)));
    try {
      return await readLarge(text, rules, room);
    } catch (error) {
      if (!(error instanceof TurnbuckleError)) return 'noise';
      if (error.code === 'REQUEST_INVALID')
        return this.#refuse(text, 'too-deep', (id) => readParsed({ value: { id }, isDeep: true }, rules));
      return this.#refuse(text, 'too-large', sorry(tooManyParts(rules, error)));
    }
  }

  /** Whoever waits for an answer in it is told at once, for each of a batch; where nobody does, it is ignored. */
  async #refuse(
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
    if (this.#options.around === undefined) deliverText(text, this.#rules, this.#sink);
    else this.#around(() => deliverText(text, this.#rules, this.#sink), text.length, isLate);
  }

  #around(work: () => void, length: number, isLate: boolean): void {
    const { around } = this.#options;
    if (around === undefined) work();
    else around(work, length, isLate);
  }
}

function deliver(read: ReadMessage | ReadMessage[], sink: ReaderSink): void {
  for (const message of Array.isArray(read) ? read : [read])
    if (typeof message === 'string') sink.onignored?.(message);
    else sink.onmessage?.(message);
}

/** Many at once hold up everybody as one large one does. */
const isLarge = (text: string): boolean =>
  text.length > PLAIN_TEXT && (isDear(text) || takesTooLong(text.length));

/** Too dear to be read at once: it is long, or a batch with room for many messages. */
export const isDear = (text: string): boolean =>
  text.length > LARGE_TEXT || (text.length > PLAIN_TEXT && BATCH.test(text));
const BATCH = /^\ufeff?[ \t\n\r]*\[/;

const answeredId = (text: string): Id | undefined => {
  const { id, hasMethod } = readEdges(text.slice(0, EDGE_LENGTH), text.slice(-EDGE_LENGTH));
  return hasMethod ? undefined : id;
};

/** Too long for what nobody asked for. */
function isUnasked(text: string, { isawaited }: ReaderSink): boolean {
  if (text.length <= MAX_UNASKED) return false;
  const { id, hasMethod } = readEdges(text.slice(0, EDGE_LENGTH), text.slice(-EDGE_LENGTH));
  return hasMethod || (id !== undefined && isawaited?.(id) === false);
}

function roomFor({ length }: string, { server }: MessageRules): RoomWish {
  const bytes = Math.min(length * BYTES_OF_CHARACTER, bytesOf(length, MAX_PARTS));
  return { length, bytes, owner: server };
}

/** The text may be remembered beside its values. */
const bytesOf = (length: number, parts: number): number => length * 2 + parts * BYTES_OF_PART;

async function readLarge(
  text: string,
  rules: MessageRules,
  room: Room,
): Promise<ReadMessage | ReadMessage[]> {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const limits = { maxDepth: levelsOf(rules), maxParts: MAX_PARTS };
  const read = await inSlices(parseLarge(start === 0 ? text : text.slice(start), limits));
  room.shrinkTo(bytesOf(text.length, read.parts));
  if (Array.isArray(read.value) && read.value.length > MAX_BATCH)
    throw new TurnbuckleError('RESPONSE_TOO_LARGE', `The JSON has more than ${MAX_BATCH} messages.`);
  if (isRecord(read.value) && !read.isDeep) await inSlices(rememberLarge(read.value, text));
  return readParsed(read, rules);
}

function noRoom({ server }: MessageRules): TurnbuckleError {
  const message = `Server "${server}" answered, but too many large answers are held in memory for this one to be read.`;
  return new TurnbuckleError('OVERLOADED', message, {
    server,
    hint: 'The server did what it was asked. Ask for less at once, or for smaller answers (a page, a range).',
  });
}

function tooManyParts({ server }: MessageRules, cause: TurnbuckleError): TurnbuckleError {
  const what = cause.message.replace('The JSON ', '');
  return new TurnbuckleError('RESPONSE_TOO_LARGE', `The answer of server "${server}" ${what}`, {
    server,
    hint: 'Ask the tool for less (a page, a range).',
  });
}
