/**
 * The changes that the host wants from a server: of its lists and of single resources. Older servers send list
 * changes without a subscription and accept subscribe requests; the newer revision has one stream for all, which is
 * reopened when it ends. What may have changed while no stream was open counts as changed when the next one opens.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../json/is-record.js';
import type { ListenFilter, Subscription } from './handshake/peer.js';
import { translateError } from './lanes/translate-error.js';
import type { Link } from './link.js';
import { ReconnectDelay } from './transports/http/reconnect-delay.js';

const REQUEST_TIMEOUT_MS = 10_000;
/** A stream that lived this long was a success. */
const STABLE_STREAM_MS = 30_000;
const METHOD_NOT_FOUND = -32601;
const NOT_SUPPORTED_STATUSES = [404, 405, 501];

export interface SubscriptionsOptions {
  readonly server: string;
  readonly random?: (() => number) | undefined;
  /** Called for a change that may have been missed, as if the server had reported it. */
  readonly onNotice: (method: string, params: Readonly<Record<string, unknown>>) => void;
}

export class Subscriptions {
  readonly #link: Link;
  readonly #server: string;
  readonly #onNotice: SubscriptionsOptions['onNotice'];
  /** The resources, and when the server has the subscription. */
  readonly #uris = new Map<string, Promise<void>>();
  readonly #reconnectDelay: ReconnectDelay;
  #stream: Subscription | undefined;
  /** The stream is being replaced by one for the resources as they were at the start. */
  #opening: Promise<void> | undefined;
  /** What comes after it: one more for all changes since. */
  #nextOpening: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** No stream was open for some time, at first since the lists were read. */
  #hasMissed = true;
  /** The resources that were subscribed to when the stream ended. */
  #missedUris: readonly string[] = [];

  constructor(link: Link, { server, random, onNotice }: SubscriptionsOptions) {
    this.#link = link;
    this.#server = server;
    this.#onNotice = onNotice;
    this.#reconnectDelay = new ReconnectDelay(random);
  }

  get isWatching(): boolean {
    return this.#uris.size > 0;
  }

  /** Starts listening for list changes. A failure does not reject the server: lists have other triggers. */
  async start(): Promise<void> {
    if (this.#link.era === 'modern') return this.#open().catch((error: unknown) => this.#reopenLater(error));
    const { eventStream } = this.#link.serverTransport;
    if (eventStream === undefined) return;
    if (eventStream.isOpened) this.#reportMissed();
    eventStream.onOpened = () => {
      this.#missedUris = [...this.#uris.keys()];
      this.#reportMissed();
    };
  }

  /** Subscribes to changes of a resource; resolves when the server has accepted it. Rejects with a TurnbuckleError. */
  add(uri: string): Promise<void> {
    const known = this.#uris.get(uri);
    if (known !== undefined) return known;
    const adding: Promise<void> = Promise.resolve()
      .then(() => this.#update('resources/subscribe', uri))
      .catch((error: unknown) => {
        // A rejected subscription is requested again by the next caller.
        if (this.#uris.get(uri) === adding) this.#uris.delete(uri);
        throw error;
      });
    this.#uris.set(uri, adding);
    return adding;
  }

  /** Rejects with a TurnbuckleError. */
  async remove(uri: string): Promise<void> {
    const adding = this.#uris.get(uri);
    if (adding === undefined) return;
    this.#uris.delete(uri);
    await adding.catch(() => {});
    if (!this.#uris.has(uri)) await this.#update('resources/unsubscribe', uri);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const stream = this.#stream;
    this.#stream = undefined;
    await stream?.close().catch(() => {});
  }

  async #update(method: string, uri: string): Promise<void> {
    if (this.#link.era !== 'modern') return this.#request(method, uri);
    try {
      await this.#open();
    } catch (thrown) {
      throw await translateError(thrown, {
        server: this.#server,
        step: 'call',
        timeoutMs: REQUEST_TIMEOUT_MS,
      });
    }
  }

  async #request(method: string, uri: string): Promise<void> {
    await this.#link.lane.request({
      method,
      params: { uri },
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxTotalMs: REQUEST_TIMEOUT_MS,
    });
  }

  /** Opens a stream for what is wanted now. One at a time: two would each replace the same one. */
  #open(): Promise<void> {
    if (this.#nextOpening !== undefined) return this.#nextOpening;
    if (this.#opening === undefined) return this.#startOpening();
    this.#nextOpening = this.#opening
      .catch(() => {})
      .then(() => {
        this.#nextOpening = undefined;
        return this.#startOpening();
      });
    return this.#nextOpening;
  }

  #startOpening(): Promise<void> {
    const opening = this.#replaceStream().finally(() => {
      this.#opening = undefined;
    });
    this.#opening = opening;
    return opening;
  }

  /** If it fails, the previous stream stays: it is also for others. */
  async #replaceStream(): Promise<void> {
    if (this.#closed) return;
    const filter = this.#filter();
    const isWanted = Object.keys(filter).length > 0;
    const stream = isWanted ? await this.#link.peer.listen(filter, REQUEST_TIMEOUT_MS) : undefined;
    if (this.#closed) return void (await stream?.close().catch(() => {}));
    const previous = this.#stream;
    this.#stream = stream;
    clearTimeout(this.#timer);
    if (stream !== undefined) {
      this.#watch(stream);
      if (this.#hasMissed) this.#reportMissed();
      this.#hasMissed = false;
    }
    await previous?.close().catch(() => {});
  }

  #filter(): ListenFilter {
    const { tools, prompts, resources } = this.#link.peer.capabilities;
    return {
      ...(tools?.listChanged && { toolsListChanged: true }),
      ...(prompts?.listChanged && { promptsListChanged: true }),
      ...(resources?.listChanged && { resourcesListChanged: true }),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris.keys()] }),
    };
  }

  #watch(stream: Subscription): void {
    const openedAt = performance.now();
    void stream.closed.then(() => {
      if (performance.now() - openedAt >= STABLE_STREAM_MS) this.#reconnectDelay.reset();
      if (this.#stream !== stream) return;
      this.#stream = undefined;
      this.#hasMissed = true;
      this.#missedUris = [...this.#uris.keys()];
      this.#reopenLater();
    });
  }

  #reportMissed(): void {
    if (this.#closed) return;
    for (const kind of ['tools', 'prompts', 'resources'] as const)
      if (this.#link.peer.capabilities[kind]?.listChanged)
        this.#onNotice(`notifications/${kind}/list_changed`, {});
    for (const uri of this.#missedUris)
      if (this.#uris.has(uri)) this.#onNotice('notifications/resources/updated', { uri });
    this.#missedUris = [];
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
