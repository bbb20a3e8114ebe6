/** Messages that the SDK posts, until the server begins to answer: bounded, and broken off when they are cancelled. */
import type { FetchLike } from '@modelcontextprotocol/client';
import { readsTooSlowly, SMALL_REQUEST, type UnsentLimits } from './outbox.js';

export interface PostsOptions {
  readonly server: string;
  readonly unsent: UnsentLimits;
}

/** Where the lane and the SDK write the id of a request: at either end, so that it cannot be one of something inside. */
const FIRST = /^\{"jsonrpc":"2\.0","id":(\d+),/;
const LAST = /,"jsonrpc":"2\.0","id":(\d+)\}$/;
const ENDS = 64;
/** Of a notice, and nothing but one: its outermost method. */
const CANCELLED = /"method":"notifications\/cancelled"/;
const CANCEL_MS = 5_000;
const REQUEST_ID = /"requestId":(\d+)/;

interface Post {
  readonly fetch: FetchLike;
  readonly url: Parameters<FetchLike>[0];
  readonly init: Parameters<FetchLike>[1];
}

export class Posts {
  readonly #options: PostsOptions;
  readonly #open = new Map<string, AbortController>();
  #bytes = 0;

  constructor(options: PostsOptions) {
    this.#options = options;
  }

  /** The same, with its bodies counted. Rejects with OVERLOADED what there is no room for. */
  counted(fetch: FetchLike): FetchLike {
    return (url, init) => {
      const { body } = init ?? {};
      return typeof body === 'string' ? this.#post(body, { fetch, url, init }) : fetch(url, init);
    };
  }

  async #post(body: string, { fetch, url, init }: Post): Promise<Response> {
    const { server, unsent } = this.#options;
    const id = FIRST.exec(body.slice(0, ENDS))?.[1] ?? LAST.exec(body.slice(-ENDS))?.[1];
    const isCancelling = id === undefined && body.length <= SMALL_REQUEST && CANCELLED.test(body);
    if (isCancelling) this.#breakOff(body);
    const isFull = this.#bytes > 0 && this.#bytes + body.length > unsent.maxUnsentBytes;
    if (isFull && body.length > SMALL_REQUEST) throw readsTooSlowly(server, this.#bytes, unsent);
    const own = new AbortController();
    const signal = init?.signal == null ? own.signal : AbortSignal.any([init.signal, own.signal]);
    // As long as it is on its way, the SDK keeps the request that it is about.
    const timer = isCancelling ? setTimeout(() => own.abort(), CANCEL_MS).unref() : undefined;
    if (id !== undefined) this.#open.set(id, own);
    this.#bytes += body.length;
    try {
      return await fetch(url, { ...init, signal });
    } finally {
      clearTimeout(timer);
      this.#bytes -= body.length;
      if (id !== undefined && this.#open.get(id) === own) this.#open.delete(id);
    }
  }

  /** The request that a notice cancels need not be read to its end any more. */
  #breakOff(notice: string): void {
    const id = REQUEST_ID.exec(notice)?.[1];
    if (id !== undefined) this.#open.get(id)?.abort();
  }
}
