/**
 * Large messages on transports of the SDK, which parses each in one go however large it is. They are parsed here, in
 * slices; the SDK gets a small placeholder for each, and what it passes on is replaced by the large message again.
 */
import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { SERVER_BUG_HINT, TurnbuckleError } from '../../errors.js';
import { copyRawNumbers } from '../../json/lossless-json.js';
import { parseJson } from '../../json/parse-json.js';
import type { IgnoredMessages } from '../protocol/ignored-messages.js';
import type { MessageRules } from '../protocol/message.js';
import { isExpensive, MessageReader } from '../protocol/message-reader.js';
import type { StreamEvent } from '../transports/http/event-reader.js';

/** Random, so that no one else can name a stored message. */
const REFERENCE_KEY = 'turnbuckle/stands-for';
/** Of a batch. */
const MAX_BATCH_MESSAGES = 1_000;
/** For one stream. The SDK reads on immediately, so only a few are ever on their way to it. */
const MAX_PENDING_REFERENCES = 16;

/** The messages of one stream. */
export interface StreamReferences {
  /** The key of its last message. */
  readonly ids: Set<string>;
  isEnded: boolean;
}

export class LargeMessages {
  readonly #rules: MessageRules;
  readonly #ignored: IgnoredMessages;
  readonly #messages = new Map<string, JSONRPCMessage>();

  constructor(rules: MessageRules, ignored: IgnoredMessages) {
    this.#rules = rules;
    this.#ignored = ignored;
  }

  /** What the SDK reads instead of the event's data; empty if there is no message in it. */
  async replaceEventData({ event, data }: StreamEvent, brought: StreamReferences): Promise<string> {
    // The SDK would pass on no other message, so its placeholder would never be resolved.
    if (event !== undefined && event !== 'message') return '';
    if (!isExpensive(data)) return data;
    const [only, ...others] = await this.#read(data);
    // An event stream has no batches.
    if (only === undefined || others.length > 0 || brought.isEnded) return '';
    const name = randomUUID();
    const { ids } = brought;
    ids.add(name);
    const [oldest] = ids;
    if (ids.size > MAX_PENDING_REFERENCES && oldest !== undefined) {
      ids.delete(oldest);
      this.#messages.delete(oldest);
    }
    return JSON.stringify(this.#createReference(only, name));
  }

  /** The stream ended: its messages will not be claimed. */
  release(brought: StreamReferences): void {
    brought.isEnded = true;
    for (const name of brought.ids) this.#messages.delete(name);
  }

  /** What the SDK gets as the value of a body. */
  async parseBody(text: string): Promise<unknown> {
    if (!isExpensive(text)) return parseJson(text);
    const messages = await this.#read(text);
    const { server } = this.#rules;
    if (messages.length === 0 || messages.length > MAX_BATCH_MESSAGES)
      throw new TurnbuckleError(
        'PROTOCOL_VIOLATION',
        `Server "${server}" sent a large message that is not a response to the request.`,
        { server, hint: SERVER_BUG_HINT },
      );
    const standIns = messages.map((message) => this.#createReference(message, randomUUID()));
    return standIns.length === 1 ? standIns[0] : standIns;
  }

  /** The message behind this placeholder, validated; undefined if it is not a placeholder. */
  resolve(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if (this.#messages.size === 0) return undefined;
    const part = 'method' in message ? message.params : 'result' in message ? message.result : undefined;
    const name = part?.[REFERENCE_KEY];
    const kept = typeof name === 'string' ? this.#messages.get(name) : undefined;
    if (kept === undefined || typeof name !== 'string') return undefined;
    this.#messages.delete(name);
    // The SDK changes the id in the response to a request that it repeated.
    if (!('id' in message) || !('id' in kept) || message.id === kept.id) return kept;
    return copyRawNumbers(kept, { ...kept, id: message.id } as JSONRPCMessage);
  }

  #createReference(message: JSONRPCMessage, name: string): JSONRPCMessage {
    this.#messages.set(name, message);
    const id = 'id' in message && message.id !== undefined ? { id: message.id } : {};
    const said =
      'method' in message
        ? { method: message.method, params: { [REFERENCE_KEY]: name } }
        : { result: { [REFERENCE_KEY]: name, resultType: 'complete' } };
    return { jsonrpc: '2.0', ...id, ...said } as JSONRPCMessage;
  }

  async #read(text: string): Promise<JSONRPCMessage[]> {
    const messages: JSONRPCMessage[] = [];
    const reader = new MessageReader(this.#rules, {
      onmessage: (message) => {
        if (isAcceptedBySdk(message)) messages.push(message);
        else this.#ignored.note('method' in message ? 'malformed' : 'unasked');
      },
      onignored: (reason) => this.#ignored.note(reason),
    });
    reader.push(text);
    await new Promise<void>((resolve) => reader.whenIdle(resolve));
    return messages;
  }
}

/** The SDK passes on no message with another kind of id, such as a fraction, and no request has one. */
const isAcceptedBySdk = (message: JSONRPCMessage): boolean =>
  !('id' in message) || typeof message.id === 'string' || Number.isSafeInteger(message.id);
