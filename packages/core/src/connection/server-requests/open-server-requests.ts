/** The pending requests of an older server: each answered once, or ended when the server cancels it. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { copyRawNumbers } from '../../json/lossless-json.js';
import type { ServerRequest } from '../protocol/message.js';
import type { ClientResponder } from './client-responders.js';
import { answerRequest } from './input-rounds.js';
import type { RequestGuard } from './request-guard.js';

export interface ServerRequestsOptions {
  readonly guard: RequestGuard;
  readonly send: (message: JSONRPCMessage) => Promise<void>;
}

const FAILED_REPLY = { error: { code: -32603, message: 'The host failed to respond' } };

export class ServerRequests {
  readonly #options: ServerRequestsOptions;
  readonly #open = new Map<unknown, AbortController>();

  constructor(options: ServerRequestsOptions) {
    this.#options = options;
  }

  /** Resolves when the answer was sent, or cannot be sent any more. Never rejects. */
  async answer(question: ServerRequest, responder: ClientResponder | undefined): Promise<void> {
    const { id, method, params } = question;
    const { guard, send } = this.#options;
    const abort = new AbortController();
    this.#open.set(id, abort);
    const reply = await answerRequest(method, params, { guard, signal: abort.signal, responder, id }).catch(
      () => FAILED_REPLY,
    );
    this.#open.delete(id);
    if (abort.signal.aborted) return;
    // An id with more digits than a number can hold is returned unchanged.
    const tell = async (said: object): Promise<void> =>
      send(copyRawNumbers(question, { jsonrpc: '2.0', id, ...said } as JSONRPCMessage));
    // The host's answer may not be JSON; the server must not wait forever because of that.
    await tell(reply)
      .catch(() => tell(FAILED_REPLY))
      .catch(() => {});
  }

  /** The server cancelled it. */
  cancel(id: unknown): void {
    this.#open.get(id)?.abort();
  }

  close(): void {
    for (const abort of this.#open.values()) abort.abort();
  }
}
