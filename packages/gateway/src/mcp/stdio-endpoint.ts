/** The MCP endpoint over stdin and stdout, for one client of either revision: its first message says which. */
import type { Readable, Writable } from 'node:stream';
import { type Caller, Cancellation } from 'turnbuckle';
import type { Desk } from './desk.js';
import { type Incoming, idsInBatch, parseMessage } from './incoming.js';
import { serveModern } from './modern.js';
import {
  CODES,
  errorText,
  idIn,
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
  readonly caller: Caller;
  readonly input: Readable;
  readonly output: Writable;
  readonly maxBytes: number;
}

/** Serves until the input ends; then everything that belongs to the client has ended too. */
export async function serveStdio(options: StdioEndpointOptions): Promise<void> {
  const { input, maxBytes } = options;
  const client = new StdioClient(options);
  let rest = '';
  input.setEncoding('utf8');
  for await (const part of input as AsyncIterable<string>) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxBytes) throw new RpcError(CODES.parse, `A message has more than ${maxBytes} bytes`);
    for (const line of lines) if (line.trim() !== '') client.take(line);
  }
  await client.close();
}

class StdioClient {
  readonly #options: StdioEndpointOptions;
  readonly #session: Session;
  readonly #running = new Map<RequestId, Cancellation>();
  readonly #reply: Reply;
  #isModern = false;

  constructor(options: StdioEndpointOptions) {
    this.#options = options;
    const { desk, caller, output } = options;
    const push = (text: string): void => void output.write(`${text}\n`);
    this.#reply = { canStream: true, send: push, finish: push };
    this.#session = new Session({ id: 'stdio', desk, caller, push: (text) => this.#push(text) });
  }

  take(line: string): void {
    let id: RequestId | null = null;
    try {
      const incoming = parseMessage(line);
      if (incoming.kind === 'request') id = incoming.message.id;
      if (isModern(incoming) || (this.#isModern && incoming.kind === 'notice')) this.#takeModern(incoming);
      else this.#session.take(incoming, this.#reply).catch(() => {});
    } catch (thrown) {
      const error = toRpcError(thrown);
      const batch = id === null && line.trimStart().startsWith('[') ? idsInBatch(line) : [];
      for (const one of batch.length > 0 ? batch : [id]) this.#reply.finish(errorText(one, error));
    }
  }

  async close(): Promise<void> {
    for (const cancellation of this.#running.values()) cancellation.cancel();
    await this.#session.close();
  }

  /** News that nobody asked for are for clients that know them. */
  #push(text: string): void {
    if (!this.#isModern) this.#reply.send(text);
  }

  #takeModern(incoming: Incoming): void {
    this.#isModern = true;
    if (incoming.kind === 'request') void this.#serve(incoming.message);
    if (incoming.kind !== 'notice' || incoming.message.method !== 'notifications/cancelled') return;
    const requestId = idIn(incoming.message.params, 'requestId');
    for (const [id, cancellation] of this.#running) if (id === requestId) cancellation.cancel();
  }

  async #serve(message: RpcRequest): Promise<void> {
    const { desk, caller } = this.#options;
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

/** A notice of cancellation looks the same in both; then the id tells whose it is. */
function isModern(incoming: Incoming): boolean {
  if (incoming.kind === 'answer') return false;
  const { method, params } = incoming.message;
  return method === 'server/discover' || metaOf(params)[META.version] !== undefined;
}
