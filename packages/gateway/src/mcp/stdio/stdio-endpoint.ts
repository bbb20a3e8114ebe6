/** The MCP endpoint over stdin and stdout, for one client of either revision: its first message shows which. */
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { type Caller, TurnbuckleError } from 'turnbuckle';
import { Cancellation, type CancelSignal, isRecord } from 'turnbuckle/host';
import { type ResponseText, wrapText, writeText } from '../../http/response-text.js';
import { LineLimiter, lineMemoryExceeded } from '../../http/server/line-limiter.js';
import { checkEnvelope } from '../http/request-headers.js';
import { serveModern } from '../modern/modern.js';
import { BatchRejected, type Incoming, parseMessage } from '../protocol/incoming.js';
import { checkNameLengths } from '../protocol/name-lengths.js';
import { errorText, exactIdOf, META, metaOf, type RequestId, type RpcRequest } from '../protocol/protocol.js';
import type { Reply } from '../protocol/reply.js';
import { toRpcError } from '../protocol/to-rpc-error.js';
import { Session } from '../sessions/session.js';
import type { ViewContext } from '../view-context.js';
import { type DroppedLine, readLines, type WholeLine } from './read-lines.js';

export interface StdioEndpointOptions {
  readonly viewContext: ViewContext;
  /** The caller, or a function that derives it from the name in the client's first message. */
  readonly caller: Caller | ((clientName: string) => Caller);
  readonly input: Readable;
  readonly output: Writable;
  readonly maxBytes: number;
  /** Aborted: no more input is accepted, but requests in progress still get a response. */
  readonly closing?: CancelSignal | undefined;
  /** Aborted: nothing of the client takes effect any more, and what it started ends. */
  readonly ended?: CancelSignal | undefined;
  /** What its requests hold of shared limits; absent: there are no other clients. */
  readonly limiter?: LineLimiter | undefined;
}

/** Serves until the input ends and everything that belongs to the client has ended. */
export async function serveStdio(options: StdioEndpointOptions): Promise<void> {
  const { input, maxBytes, closing, ended, limiter = LineLimiter.forSingleClient(options.output) } = options;
  const client = new StdioClient({ ...options, limiter });
  const leave = (): void => void client.drain().then(() => options.output.end());
  const finish = (): void => void client.close();
  closing?.addEventListener('abort', leave, { once: true });
  ended?.addEventListener('abort', finish, { once: true });
  if (ended?.aborted === true) finish();
  try {
    for await (const line of readLines(input, maxBytes, limiter)) {
      if (client.isClosed) break;
      await client.handle(line);
    }
  } finally {
    closing?.removeEventListener('abort', leave);
    ended?.removeEventListener('abort', finish);
    await client.close();
  }
}

class StdioClient {
  readonly #options: StdioEndpointOptions & { readonly limiter: LineLimiter };
  readonly #running = new Map<RequestId, Cancellation>();
  readonly #pending = new Set<Promise<void>>();
  readonly #reply: Reply;
  /** Calls parked for this client are dropped when it ends. */
  readonly #ended = new Cancellation();
  #closed: Promise<void> | undefined;
  #client: { readonly caller: Caller; readonly session: Session } | undefined;
  #isModern = false;

  constructor(options: StdioEndpointOptions & { readonly limiter: LineLimiter }) {
    this.#options = options;
    const { output, maxBytes, limiter } = options;
    // A response is always sent, however large; a client that has left too much unread is cut off.
    const write = (text: ResponseText, may: boolean): void => {
      if (may) limiter.watchSlowReader(writeText(output, wrapText('', text, '\n')));
      else output.destroy();
    };
    const finish = (text: ResponseText): void | Promise<void> => {
      const may = limiter.canRespond(text);
      return may instanceof Promise ? may.then((isTurn) => write(text, isTurn)) : write(text, may);
    };
    // Notices are skipped for a client that is too far behind.
    const send = (text: string): void => {
      const unsent = output.writableLength;
      if (unsent === 0 || unsent + text.length <= maxBytes) void finish(text);
    };
    this.#reply = { canStream: true, send, finish };
  }

  get isClosed(): boolean {
    return this.#ended.aborted;
  }

  /** Resolves when the message is accepted, not when it has a response. Never rejects. */
  async handle(line: WholeLine | DroppedLine): Promise<void> {
    if (!this.#acceptsMore) return;
    if ('text' in line) return this.#handleLine(line);
    const error = line.isTooLong ? tooLong(this.#options.maxBytes) : lineMemoryExceeded();
    this.#reply.finish(errorText({ json: line.id }, toRpcError(error)));
  }

  async #handleLine({ text, weight }: WholeLine): Promise<void> {
    let id: RequestId | null = null;
    try {
      const incoming = await parseMessage(text);
      // Parsing a long line takes a while.
      if (!this.#acceptsMore) return;
      if (incoming.kind === 'request') id = incoming.message.id;
      checkNameLengths(incoming);
      const { session } = this.#begin(incoming);
      const leave = incoming.kind === 'request' ? this.#options.limiter.startRequest(weight) : () => {};
      this.#track(this.#handleMessage(incoming, session).finally(leave));
    } catch (thrown) {
      const error = toRpcError(thrown);
      const ids = thrown instanceof BatchRejected && thrown.ids.length > 0 ? thrown.ids : [id];
      for (const one of ids) this.#reply.finish(errorText(one, error));
    }
  }

  get #acceptsMore(): boolean {
    return !this.isClosed && this.#options.closing?.aborted !== true;
  }

  /** Resolves when all accepted requests have a response. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#ended.cancel();
    for (const cancellation of this.#running.values()) cancellation.cancel();
    await this.#client?.session.close();
  }

  /** The first message decides who the client is. */
  #begin(incoming: Incoming): { readonly caller: Caller; readonly session: Session } {
    if (this.#client !== undefined) return this.#client;
    const { viewContext, caller: known } = this.#options;
    const caller = typeof known === 'function' ? known(clientNameOf(incoming)) : known;
    const id = `stdio-${randomBytes(9).toString('base64url')}`;
    this.#options.limiter.setCaller(caller);
    const push = (text: string): void => this.#push(text);
    const session = new Session({ id, viewContext, caller, push, isHttp: false });
    this.#client = { caller, session };
    return this.#client;
  }

  #handleMessage(incoming: Incoming, session: Session): Promise<void> {
    const isNew = isModern(incoming) || (this.#isModern && incoming.kind === 'notice');
    return isNew ? this.#handleModern(incoming) : session.handle(incoming, this.#reply);
  }

  #track(served: Promise<void>): void {
    this.#pending.add(served);
    void served.catch(() => {}).finally(() => this.#pending.delete(served));
  }

  /** Unrequested notices are only for clients that know them. */
  #push(text: string): void {
    if (!this.#isModern) this.#reply.send(text);
  }

  async #handleModern(incoming: Incoming): Promise<void> {
    this.#isModern = true;
    if (incoming.kind === 'request') return this.#dispatch(incoming.message);
    if (incoming.kind !== 'notice' || incoming.message.method !== 'notifications/cancelled') return;
    const requestId = exactIdOf(incoming.message.params, 'requestId');
    for (const [id, cancellation] of this.#running) if (id === requestId) cancellation.cancel();
  }

  async #dispatch(message: RpcRequest): Promise<void> {
    const { viewContext } = this.#options;
    const caller = this.#client?.caller;
    if (caller === undefined) return;
    const cancellation = new Cancellation();
    this.#running.set(message.id, cancellation);
    try {
      checkEnvelope(message);
      const ended = this.#ended;
      await serveModern(viewContext, { message, caller, signal: cancellation, ended, reply: this.#reply });
    } catch (thrown) {
      if (!cancellation.aborted) this.#reply.finish(errorText(message.id, toRpcError(thrown)));
    } finally {
      this.#running.delete(message.id);
    }
  }
}

/** The name that the client reports; untrusted text. */
function clientNameOf(incoming: Incoming): string {
  if (incoming.kind === 'answer') return '';
  const { method, params } = incoming.message;
  const info = method === 'initialize' ? params.clientInfo : metaOf(params)[META.clientInfo];
  return isRecord(info) && typeof info.name === 'string' ? info.name : '';
}

/** A cancellation looks the same in both revisions; then the id tells which one it belongs to. */
function isModern(incoming: Incoming): boolean {
  if (incoming.kind === 'answer') return false;
  const { method, params } = incoming.message;
  return method === 'server/discover' || metaOf(params)[META.version] !== undefined;
}

const tooLong = (maxBytes: number): TurnbuckleError =>
  new TurnbuckleError('REQUEST_TOO_LARGE', `The message is longer than ${maxBytes} characters.`, {
    hint: 'Nothing was done. Send a smaller message.',
    data: { maxBytes },
  });
