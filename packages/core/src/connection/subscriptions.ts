/**
 * What the host wants to be told by a server: changes of its lists and of single resources. Older servers
 * send list changes unasked and take subscribe requests; the newer revision has one stream for all, which
 * is opened again when it ends.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import type { Link } from './link.js';
import type { Listening } from './peer.js';
import { ReopenPace } from './reopen-pace.js';

const REQUEST_MS = 10_000;
/** A stream that lived so long was a success. */
const STEADY_MS = 30_000;
const METHOD_NOT_FOUND = -32601;
const NO_SUCH_THING = [404, 405, 501];

export class Subscriptions {
  readonly #link: Link;
  readonly #uris = new Set<string>();
  readonly #pace: ReopenPace;
  #stream: Listening | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(link: Link, random?: () => number) {
    this.#link = link;
    this.#pace = new ReopenPace(random);
  }

  /** Somebody wants to know when a resource changes. */
  get isWatching(): boolean {
    return this.#uris.size > 0;
  }

  /** Starts listening for list changes. Failure is no reason to refuse the server: lists have other triggers. */
  async start(): Promise<void> {
    if (this.#link.era === 'modern') await this.#open().catch((error: unknown) => this.#reopenLater(error));
  }

  async add(uri: string): Promise<void> {
    if (this.#uris.has(uri)) return;
    this.#uris.add(uri);
    try {
      if (this.#link.era === 'modern') await this.#open();
      else await this.#request('resources/subscribe', uri);
    } catch (error) {
      // What the server refused is asked for again by the next one who wants it, not taken for granted.
      this.#uris.delete(uri);
      throw error;
    }
  }

  async remove(uri: string): Promise<void> {
    if (!this.#uris.delete(uri)) return;
    if (this.#link.era === 'modern') await this.#open();
    else await this.#request('resources/unsubscribe', uri);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#stream?.close().catch(() => {});
  }

  async #request(method: string, uri: string): Promise<void> {
    await this.#link.lane.request({ method, params: { uri }, timeoutMs: REQUEST_MS, maxTotalMs: REQUEST_MS });
  }

  async #open(): Promise<void> {
    const { tools, prompts, resources } = this.#link.peer.capabilities;
    const filter = {
      ...(tools?.listChanged && { toolsListChanged: true }),
      ...(prompts?.listChanged && { promptsListChanged: true }),
      ...(resources?.listChanged && { resourcesListChanged: true }),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
    };
    const previous = this.#stream;
    this.#stream = undefined;
    if (Object.keys(filter).length > 0) {
      const stream = await this.#link.peer.listen(filter, REQUEST_MS);
      this.#stream = stream;
      const openedAt = performance.now();
      void stream.closed.then(() => {
        if (performance.now() - openedAt >= STEADY_MS) this.#pace.worked();
        if (this.#stream === stream) this.#reopenLater();
      });
    }
    await previous?.close().catch(() => {});
  }

  /** Not where the server has no such thing: it would say so for as long as the link lives. */
  #reopenLater(error?: unknown): void {
    if (this.#closed || isUnknownMethod(error)) return;
    clearTimeout(this.#timer);
    const reopen = (): void => void this.#open().catch((thrown: unknown) => this.#reopenLater(thrown));
    this.#timer = setTimeout(reopen, this.#pace.next()).unref();
  }
}

/** The server answered that it does not know what was asked: by JSON-RPC, or by HTTP. */
function isUnknownMethod(thrown: unknown): boolean {
  for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
    const rpc =
      error instanceof TurnbuckleError && isRecord(error.data?.rpc) ? error.data.rpc.code : undefined;
    const code = 'code' in error ? error.code : undefined;
    if (rpc === METHOD_NOT_FOUND || code === METHOD_NOT_FOUND) return true;
    if ('status' in error && NO_SUCH_THING.includes(Number(error.status))) return true;
  }
  return false;
}
