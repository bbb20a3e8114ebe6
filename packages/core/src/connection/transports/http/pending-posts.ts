/** Messages that the SDK posts, until the server starts to respond: bounded, and aborted when cancelled. */
import type { FetchLike } from '@modelcontextprotocol/client';
import { SMALL_REQUEST_CHARACTERS, slowReaderError, type UnsentLimits } from '../outbox.js';

export interface PendingPostsOptions {
  readonly server: string;
  readonly unsent: UnsentLimits;
}

/** Where the lane and the SDK write the id of a request: at either end, so that it cannot be a nested one. */
const LEADING_ID = /^\{"jsonrpc":"2\.0","id":(\d+),/;
const TRAILING_ID = /,"jsonrpc":"2\.0","id":(\d+)\}$/;
const EDGE_LENGTH = 64;
/** Only for a notification: its outermost method. */
const CANCEL_METHOD = /"method":"notifications\/cancelled"/;
const CANCEL_TIMEOUT_MS = 5_000;
/** For every other message that is not a request: the server only has to accept it. */
const ACCEPT_TIMEOUT_MS = 60_000;
/** How long a server may take to end the request after its response came on another stream. */
const END_TIMEOUT_MS = 1_000;
const REQUEST_ID = /"requestId":(\d+)/;

interface Post {
  readonly fetch: FetchLike;
  readonly url: Parameters<FetchLike>[0];
  readonly init: Parameters<FetchLike>[1];
}

export class PendingPosts {
  readonly #options: PendingPostsOptions;
  readonly #open = new Map<string, AbortController>();
  #bytes = 0;

  constructor(options: PendingPostsOptions) {
    this.#options = options;
  }

  /** The same, with its bodies counted. Rejects with OVERLOADED if there is no room. */
  limitFetch(fetch: FetchLike): FetchLike {
    return (url, init) => {
      const { body } = init ?? {};
      return typeof body === 'string' ? this.#post(body, { fetch, url, init }) : fetch(url, init);
    };
  }

  async #post(body: string, { fetch, url, init }: Post): Promise<Response> {
    const { server, unsent } = this.#options;
    const id =
      LEADING_ID.exec(body.slice(0, EDGE_LENGTH))?.[1] ?? TRAILING_ID.exec(body.slice(-EDGE_LENGTH))?.[1];
    const isCancelling =
      id === undefined && body.length <= SMALL_REQUEST_CHARACTERS && CANCEL_METHOD.test(body);
    if (isCancelling) this.#abortCancelled(body);
    const isFull = this.#bytes > 0 && this.#bytes + body.length > unsent.maxUnsentBytes;
    if (isFull && body.length > SMALL_REQUEST_CHARACTERS) throw slowReaderError(server, this.#bytes, unsent);
    const own = new AbortController();
    const signal = init?.signal == null ? own.signal : AbortSignal.any([init.signal, own.signal]);
    // While it is in flight, the SDK keeps the request that it belongs to.
    const timeoutMs = isCancelling ? CANCEL_TIMEOUT_MS : ACCEPT_TIMEOUT_MS;
    const timer = id === undefined ? setTimeout(() => own.abort(), timeoutMs).unref() : undefined;
    if (id !== undefined) this.#open.set(id, own);
    this.#bytes += body.length;
    try {
      // Its body may be open until the answer: from here on, `answered` or a cancellation ends it.
      return await fetch(url, { ...init, signal });
    } catch (error) {
      if (id !== undefined && this.#open.get(id) === own) this.#open.delete(id);
      throw error;
    } finally {
      clearTimeout(timer);
      this.#bytes -= body.length;
    }
  }

  /** The request has its response. A server that does not end it would keep the socket. */
  answered(id: unknown): void {
    const own = this.#open.get(String(id));
    if (own === undefined) return;
    this.#open.delete(String(id));
    setTimeout(() => own.abort(), END_TIMEOUT_MS).unref();
  }

  /** The request that a notification cancels need not be read to its end any more. */
  #abortCancelled(notice: string): void {
    const id = REQUEST_ID.exec(notice)?.[1];
    if (id === undefined) return;
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }
}
