/**
 * Large messages on transports of the SDK, which reads each at once however large it is. They are read here, in
 * slices; the SDK gets a small one in the place of each, and what it hands on for that is the large one again.
 */
import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';
import { parseJson } from '../json/parse-json.js';
import { keepSpelling } from '../json/spelling.js';
import type { StreamEvent } from './event-reader.js';
import type { IgnoredMessages } from './ignored-messages.js';
import type { MessageRules } from './message.js';
import { isDear, MessageReader } from './message-reader.js';

/** Nobody else knows the names of what is kept. */
const KEY = 'turnbuckle/stands-for';
/** Of a batch. */
const MAX_MESSAGES = 1_000;
/** Of one stream. The SDK reads on as soon as it has something: more than a few are never on their way to it. */
const MAX_UNTAKEN = 16;

/** What one stream brought. */
export interface Brought {
  /** Of the last that it brought. */
  readonly names: Set<string>;
  isOver: boolean;
}

export class StandIns {
  readonly #rules: MessageRules;
  readonly #ignored: IgnoredMessages;
  readonly #kept = new Map<string, JSONRPCMessage>();

  constructor(rules: MessageRules, ignored: IgnoredMessages) {
    this.#rules = rules;
    this.#ignored = ignored;
  }

  /** What the SDK is to read instead of the data of an event; empty when there is no message in it. */
  async forEvent({ event, data }: StreamEvent, brought: Brought): Promise<string> {
    // The SDK would hand on no other: nobody would ever take what stands for it.
    if (event !== undefined && event !== 'message') return '';
    if (!isDear(data)) return data;
    const [only, ...others] = await this.#read(data);
    // A stream of events has no batches.
    if (only === undefined || others.length > 0 || brought.isOver) return '';
    const name = randomUUID();
    const { names } = brought;
    names.add(name);
    const [oldest] = names;
    if (names.size > MAX_UNTAKEN && oldest !== undefined) {
      names.delete(oldest);
      this.#kept.delete(oldest);
    }
    return JSON.stringify(this.#standIn(only, name));
  }

  /** Nothing more of a stream will be taken. */
  forget(brought: Brought): void {
    brought.isOver = true;
    for (const name of brought.names) this.#kept.delete(name);
  }

  /** What the SDK is to take for the value of a body. */
  async forBody(text: string): Promise<unknown> {
    if (!isDear(text)) return parseJson(text);
    const messages = await this.#read(text);
    const { server } = this.#rules;
    if (messages.length === 0 || messages.length > MAX_MESSAGES)
      throw new TurnbuckleError(
        'PROTOCOL_VIOLATION',
        `Server "${server}" answered with a large text that is no answer to the request.`,
        { server, hint: 'This is a defect of the server.' },
      );
    const standIns = messages.map((message) => this.#standIn(message, randomUUID()));
    return standIns.length === 1 ? standIns[0] : standIns;
  }

  /** The message that this one stands for, in the right shape; undefined when it is one itself. */
  take(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if (this.#kept.size === 0) return undefined;
    const part = 'method' in message ? message.params : 'result' in message ? message.result : undefined;
    const name = part?.[KEY];
    const kept = typeof name === 'string' ? this.#kept.get(name) : undefined;
    if (kept === undefined || typeof name !== 'string') return undefined;
    this.#kept.delete(name);
    // The SDK changes the id of an answer that it asked for once more.
    if (!('id' in message) || !('id' in kept) || message.id === kept.id) return kept;
    return keepSpelling(kept, { ...kept, id: message.id } as JSONRPCMessage);
  }

  #standIn(message: JSONRPCMessage, name: string): JSONRPCMessage {
    this.#kept.set(name, message);
    const id = 'id' in message && message.id !== undefined ? { id: message.id } : {};
    const said =
      'method' in message
        ? { method: message.method, params: { [KEY]: name } }
        : { result: { [KEY]: name, resultType: 'complete' } };
    return { jsonrpc: '2.0', ...id, ...said } as JSONRPCMessage;
  }

  async #read(text: string): Promise<JSONRPCMessage[]> {
    const messages: JSONRPCMessage[] = [];
    const reader = new MessageReader(this.#rules, {
      onmessage: (message) => {
        if (isForSdk(message)) messages.push(message);
        else this.#ignored.note('method' in message ? 'malformed' : 'unasked');
      },
      onignored: (reason) => this.#ignored.note(reason),
    });
    reader.push(text);
    await new Promise<void>((resolve) => reader.whenIdle(resolve));
    return messages;
  }
}

/** The SDK hands on no message with another id, such as half a number, and nobody asked as such. */
const isForSdk = (message: JSONRPCMessage): boolean =>
  !('id' in message) || typeof message.id === 'string' || Number.isSafeInteger(message.id);
