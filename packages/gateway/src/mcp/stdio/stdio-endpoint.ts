/** The MCP endpoint over stdin and stdout, for one client of either revision: its first message says which. */
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { type Caller, Cancellation, type CancelSignal, TurnbuckleError } from 'turnbuckle';
import { type AnswerText, within, writeText } from '../http/answer-text.js';
import { LineGate, tooMuch } from '../http/line-gate.js';
import type { Desk } from './desk.js';
import { BatchRefused, type Incoming, parseMessage } from './incoming.js';
import { type Dropped, linesOf, type WholeLine } from './lines.js';
import { serveModern } from './modern.js';
import { checkNameLengths } from './name-lengths.js';
import { errorText, idIn, isRecord, META, metaOf, type RequestId, type RpcRequest } from './protocol.js';
import type { Reply } from './reply.js';
import { checkEnvelope } from './request-headers.js';
import { toRpcError } from './rpc-error.js';
import { Session } from './session.js';

export interface StdioEndpointOptions {
  readonly desk: Desk;
  /** Who the client is, or whom it is taken for by what it calls itself in its first message. */
  readonly caller: Caller | ((clientName: string) => Caller);
  readonly input: Readable;
  readonly output: Writable;
  readonly maxBytes: number;
  /** Aborted: nothing more is taken in, and what is on its way is still answered. */
  readonly ends?: CancelSignal | undefined;
  /** Aborted: nothing of the client takes effect any more, and what it began ends. */
  readonly ended?: CancelSignal | undefined;
  /** What its requests take of what all share; absent: there is nobody else. */
  readonly gate?: LineGate | undefined;
}

/** Serves until the input ends; then everything that belongs to the client has ended too. */
export async function serveStdio(options: StdioEndpointOptions): Promise<void> {
  const { input, maxBytes, ends, ended, gate = LineGate.alone(options.output) } = options;
  const client = new StdioClient({ ...options, gate });
  const leave = (): void => void client.drain().then(() => options.output.end());
  const finish = (): void => void client.close();
  ends?.addEventListener('abort', leave, { once: true });
  ended?.addEventListener('abort', finish, { once: true });
  if (ended?.aborted === true) finish();
  try {
    for await (const line of linesOf(input, maxBytes, gate)) {
      if (client.isOver) break;
      await client.take(line);
    }
  } finally {
    ends?.removeEventListener('abort', leave);
    ended?.removeEventListener('abort', finish);
    await client.close();
  }
}

class StdioClient {
  readonly #options: StdioEndpointOptions & { readonly gate: LineGate };
  readonly #running = new Map<RequestId, Cancellation>();
  readonly #served = new Set<Promise<void>>();
  readonly #reply: Reply;
  /** Calls that wait for their client wait for nobody once it is over. */
  readonly #over = new Cancellation();
  #closed: Promise<void> | undefined;
  #began: { readonly caller: Caller; readonly session: Session } | undefined;
  #isModern = false;

  constructor(options: StdioEndpointOptions & { readonly gate: LineGate }) {
    this.#options = options;
    const { output, maxBytes, gate } = options;
    // An answer always passes, however large; who has left too much of the others unread is cut off.
    const write = (text: AnswerText, may: boolean): void => {
      if (may) gate.watch(writeText(output, within('', text, '\n')));
      else output.destroy();
    };
    const finish = (text: AnswerText): void | Promise<void> => {
      const may = gate.mayAnswer(text);
      return may instanceof Promise ? may.then((isTurn) => write(text, isTurn)) : write(text, may);
    };
    // News are not for who is far behind.
    const send = (text: string): void => {
      const unsent = output.writableLength;
      if (unsent === 0 || unsent + text.length <= maxBytes) void finish(text);
    };
    this.#reply = { canStream: true, send, finish };
  }

  get isOver(): boolean {
    return this.#over.aborted;
  }

  /** Resolves when it is taken, not when it is answered. Never rejects. */
  async take(line: WholeLine | Dropped): Promise<void> {
    if (!this.#takesMore) return;
    if ('text' in line) return this.#takeLine(line);
    const error = line.isTooLong ? tooLong(this.#options.maxBytes) : tooMuch();
    this.#reply.finish(errorText({ json: line.id }, toRpcError(error)));
  }

  async #takeLine({ text, weight }: WholeLine): Promise<void> {
    let id: RequestId | null = null;
    try {
      const incoming = await parseMessage(text);
      // Reading a long one takes a while.
      if (!this.#takesMore) return;
      if (incoming.kind === 'request') id = incoming.message.id;
      checkNameLengths(incoming);
      const { session } = this.#begin(incoming);
      const leave = incoming.kind === 'request' ? this.#options.gate.enter(weight) : () => {};
      this.#serve(this.#take(incoming, session).finally(leave));
    } catch (thrown) {
      const error = toRpcError(thrown);
      const ids = thrown instanceof BatchRefused && thrown.ids.length > 0 ? thrown.ids : [id];
      for (const one of ids) this.#reply.finish(errorText(one, error));
    }
  }

  get #takesMore(): boolean {
    return !this.isOver && this.#options.ends?.aborted !== true;
  }

  /** Resolves when what was taken in is answered. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#served);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#over.cancel();
    for (const cancellation of this.#running.values()) cancellation.cancel();
    await this.#began?.session.close();
  }

  /** Who it is is said once, by the first message. */
  #begin(incoming: Incoming): { readonly caller: Caller; readonly session: Session } {
    if (this.#began !== undefined) return this.#began;
    const { desk, caller: known } = this.#options;
    const caller = typeof known === 'function' ? known(clientNameOf(incoming)) : known;
    const id = `stdio-${randomBytes(9).toString('base64url')}`;
    this.#options.gate.actAs(caller);
    const session = new Session({ id, desk, caller, push: (text) => this.#push(text) });
    this.#began = { caller, session };
    return this.#began;
  }

  #take(incoming: Incoming, session: Session): Promise<void> {
    const isNew = isModern(incoming) || (this.#isModern && incoming.kind === 'notice');
    return isNew ? this.#takeModern(incoming) : session.take(incoming, this.#reply);
  }

  #serve(served: Promise<void>): void {
    this.#served.add(served);
    void served.catch(() => {}).finally(() => this.#served.delete(served));
  }

  /** News that nobody asked for are for clients that know them. */
  #push(text: string): void {
    if (!this.#isModern) this.#reply.send(text);
  }

  async #takeModern(incoming: Incoming): Promise<void> {
    this.#isModern = true;
    if (incoming.kind === 'request') return this.#answer(incoming.message);
    if (incoming.kind !== 'notice' || incoming.message.method !== 'notifications/cancelled') return;
    const requestId = idIn(incoming.message.params, 'requestId');
    for (const [id, cancellation] of this.#running) if (id === requestId) cancellation.cancel();
  }

  async #answer(message: RpcRequest): Promise<void> {
    const { desk } = this.#options;
    const caller = this.#began?.caller;
    if (caller === undefined) return;
    const cancellation = new Cancellation();
    this.#running.set(message.id, cancellation);
    try {
      checkEnvelope(message);
      const ended = this.#over;
      await serveModern(desk, { message, caller, signal: cancellation, ended, reply: this.#reply });
    } catch (thrown) {
      if (!cancellation.aborted) this.#reply.finish(errorText(message.id, toRpcError(thrown)));
    } finally {
      this.#running.delete(message.id);
    }
  }
}

/** What the client calls itself; a stranger's text. */
function clientNameOf(incoming: Incoming): string {
  if (incoming.kind === 'answer') return '';
  const { method, params } = incoming.message;
  const told = method === 'initialize' ? params.clientInfo : metaOf(params)[META.clientInfo];
  return isRecord(told) && typeof told.name === 'string' ? told.name : '';
}

/** A notice of cancellation looks the same in both; then the id tells whose it is. */
function isModern(incoming: Incoming): boolean {
  if (incoming.kind === 'answer') return false;
  const { method, params } = incoming.message;
  return method === 'server/discover' || metaOf(params)[META.version] !== undefined;
}

const tooLong = (maxBytes: number): TurnbuckleError =>
  new TurnbuckleError('REQUEST_TOO_LARGE', `The message has more than ${maxBytes} characters.`, {
    hint: 'Nothing was done. Send less at once.',
    data: { maxBytes },
  });
