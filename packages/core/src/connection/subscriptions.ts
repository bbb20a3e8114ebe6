/**
 * What the host wants to be told by a server: changes of its lists and of single resources. Older servers
 * send list changes unasked and take subscribe requests; the newer revision has one stream for all, which
 * is opened again when it ends.
 */
import type { Link } from './link.js';
import type { Listening } from './peer.js';

const REOPEN_MS = 1_000;
const REQUEST_MS = 10_000;

export class Subscriptions {
  readonly #link: Link;
  readonly #uris = new Set<string>();
  #stream: Listening | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(link: Link) {
    this.#link = link;
  }

  /** Somebody wants to know when a resource changes. */
  get isWatching(): boolean {
    return this.#uris.size > 0;
  }

  /** Starts listening for list changes. Failure is no reason to refuse the server: lists have other triggers. */
  async start(): Promise<void> {
    if (this.#link.era === 'modern') await this.#open().catch(() => this.#reopenLater());
  }

  async add(uri: string): Promise<void> {
    if (this.#uris.has(uri)) return;
    this.#uris.add(uri);
    if (this.#link.era === 'modern') await this.#open();
    else await this.#request('resources/subscribe', uri);
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
      void stream.closed.then(() => {
        if (this.#stream === stream) this.#reopenLater();
      });
    }
    await previous?.close().catch(() => {});
  }

  #reopenLater(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#open().catch(() => this.#reopenLater()), REOPEN_MS).unref();
  }
}
