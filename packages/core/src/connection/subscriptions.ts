/**
 * The changes that the host wants from a server: of its lists and of single resources. Older servers send list
 * changes without a subscription and accept subscribe requests; the newer revision has one stream for all, which is
 * reopened when it ends.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../json/is-record.js';
import type { Subscription } from './handshake/peer.js';
import type { Link } from './link.js';
import { ReconnectDelay } from './transports/http/reconnect-delay.js';

const REQUEST_TIMEOUT_MS = 10_000;
/** A stream that lived this long was a success. */
const STABLE_STREAM_MS = 30_000;
const METHOD_NOT_FOUND = -32601;
const NOT_SUPPORTED_STATUSES = [404, 405, 501];

export class Subscriptions {
  readonly #link: Link;
  readonly #uris = new Set<string>();
  readonly #reconnectDelay: ReconnectDelay;
  #stream: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(link: Link, random?: () => number) {
    this.#link = link;
    this.#reconnectDelay = new ReconnectDelay(random);
  }

  /** Subscribes to changes of a resource. */
  get isWatching(): boolean {
    return this.#uris.size > 0;
  }

  /** Starts listening for list changes. A failure does not reject the server: lists have other triggers. */
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
      // A rejected subscription is requested again by the next caller.
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
    await this.#link.lane.request({
      method,
      params: { uri },
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxTotalMs: REQUEST_TIMEOUT_MS,
    });
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
      const stream = await this.#link.peer.listen(filter, REQUEST_TIMEOUT_MS);
      this.#stream = stream;
      const openedAt = performance.now();
      void stream.closed.then(() => {
        if (performance.now() - openedAt >= STABLE_STREAM_MS) this.#reconnectDelay.reset();
        if (this.#stream === stream) this.#reopenLater();
      });
    }
    await previous?.close().catch(() => {});
  }

  /** Not if the server does not support it: it would reject it for as long as the link lives. */
  #reopenLater(error?: unknown): void {
    if (this.#closed || isUnknownMethod(error)) return;
    clearTimeout(this.#timer);
    const reopen = (): void => void this.#open().catch((thrown: unknown) => this.#reopenLater(thrown));
    this.#timer = setTimeout(reopen, this.#reconnectDelay.next()).unref();
  }
}

/** The server responded that the method is unknown: by JSON-RPC, or by HTTP. */
function isUnknownMethod(thrown: unknown): boolean {
  for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
    const rpc =
      error instanceof TurnbuckleError && isRecord(error.data?.rpc) ? error.data.rpc.code : undefined;
    const code = 'code' in error ? error.code : undefined;
    if (rpc === METHOD_NOT_FOUND || code === METHOD_NOT_FOUND) return true;
    if ('status' in error && NOT_SUPPORTED_STATUSES.includes(Number(error.status))) return true;
  }
  return false;
}
