/** The MCP endpoint over stdin and stdout, for one client of either revision: its first message says which. */
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type Caller, Cancellation, type CancelSignal } from 'turnbuckle';
import type { Desk } from './desk.js';
import { type Incoming, idsInBatch, parseMessage } from './incoming.js';
import { serveModern } from './modern.js';
import {
  CODES,
  errorText,
  idIn,
  isRecord,
  META,
  metaOf,
  type RequestId,
  RpcError,
  type RpcRequest,
} from './protocol.js';
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
}

/** Serves until the input ends; then everything that belongs to the client has ended too. */
export async function serveStdio(options: StdioEndpointOptions): Promise<void> {
  const { input, maxBytes, ends } = options;
  const client = new StdioClient(options);
  const leave = (): void => void client.drain().then(() => options.output.end());
  ends?.addEventListener('abort', leave, { once: true });
  try {
    for await (const line of linesOf(input, maxBytes)) if (ends?.aborted !== true) await client.take(line);
  } finally {
    ends?.removeEventListener('abort', leave);
    await client.close();
  }
}

/** The lines that have something in them. What has come of one is joined once, when its end is there. */
async function* linesOf(input: Readable, maxBytes: number): AsyncGenerator<string> {
  // By hand: the socket of an HTTP server does not take an encoding.
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  let length = 0;
  for await (const bytes of input as AsyncIterable<Buffer>) {
    const [first = '', ...others] = decoder.write(bytes).split('\n');
    parts.push(first);
    length += first.length;
    for (const next of others) {
      const line = parts.join('');
      if (line.trim() !== '') yield line;
      parts = [next];
      length = next.length;
    }
    if (length > maxBytes) throw new RpcError(CODES.parse, `A message has more than ${maxBytes} bytes`);
  }
}

class StdioClient {
  readonly #options: StdioEndpointOptions;
  readonly #running = new Map<RequestId, Cancellation>();
  readonly #served = new Set<Promise<void>>();
  readonly #reply: Reply;
  #began: { readonly caller: Caller; readonly session: Session } | undefined;
  #isModern = false;

  constructor(options: StdioEndpointOptions) {
    this.#options = options;
    const { output, maxBytes } = options;
    const push = (text: string): void => {
      output.write(`${text}\n`);
      // Who does not read is not told more and more.
      if (output.writableLength > maxBytes) output.destroy();
    };
    this.#reply = { canStream: true, send: push, finish: push };
  }

  /** Resolves when it is taken, not when it is answered. Never rejects. */
  async take(line: string): Promise<void> {
    let id: RequestId | null = null;
    try {
      const incoming = await parseMessage(line);
      if (incoming.kind === 'request') id = incoming.message.id;
      const { session } = this.#begin(incoming);
      if (isModern(incoming) || (this.#isModern && incoming.kind === 'notice')) this.#takeModern(incoming);
      else this.#serve(session.take(incoming, this.#reply));
    } catch (thrown) {
      const error = toRpcError(thrown);
      const batch = id === null && line.trimStart().startsWith('[') ? idsInBatch(line) : [];
      for (const one of batch.length > 0 ? batch : [id]) this.#reply.finish(errorText(one, error));
    }
  }

  /** Resolves when what was taken in is answered. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#served);
  }

  async close(): Promise<void> {
    for (const cancellation of this.#running.values()) cancellation.cancel();
    await this.#began?.session.close();
  }

  /** Who it is is said once, by the first message. */
  #begin(incoming: Incoming): { readonly caller: Caller; readonly session: Session } {
    if (this.#began !== undefined) return this.#began;
    const { desk, caller: known } = this.#options;
    const caller = typeof known === 'function' ? known(clientNameOf(incoming)) : known;
    const id = `stdio-${randomBytes(9).toString('base64url')}`;
    const session = new Session({ id, desk, caller, push: (text) => this.#push(text) });
    this.#began = { caller, session };
    return this.#began;
  }

  #serve(served: Promise<void>): void {
    this.#served.add(served);
    void served.catch(() => {}).finally(() => this.#served.delete(served));
  }

  /** News that nobody asked for are for clients that know them. */
  #push(text: string): void {
    if (!this.#isModern) this.#reply.send(text);
  }

  #takeModern(incoming: Incoming): void {
    this.#isModern = true;
    if (incoming.kind === 'request') this.#serve(this.#answer(incoming.message));
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
      await serveModern(desk, { message, caller, signal: cancellation, reply: this.#reply });
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
