/**
 * One configured server and its link: opens it once for all callers, notices when it breaks, restores it with backoff
 * and then a slow probe, and checks that it is alive. All state changes go through the table in state.ts. It knows
 * nothing about tools: `onOpen` handles a fresh link.
 */
import { idleTimeOf, type ServerConfig } from '../config/schema/schema.js';
import { type ErrorCode, TurnbuckleError, toTurnbuckleError } from '../errors.js';
import type { Events } from '../events.js';
import { backoffDelay, DEFAULT_BACKOFF } from '../resilience/backoff.js';
import { shellQuote } from '../text/shell-quote.js';
import { Health } from './health.js';
import { IdleTimer } from './idle-timer.js';
import { type Link, type LinkOptions, openLink } from './link.js';
import { exitError, explainExit } from './processes/exit-error.js';
import { IgnoredMessages } from './protocol/ignored-messages.js';
import { ClientResponders } from './server-requests/client-responders.js';
import { type ConnectionEvent, type ConnectionState, transition } from './state.js';
import { Subscriptions } from './subscriptions.js';

export interface ConnectionOptions {
  readonly name: string;
  readonly config: ServerConfig;
  readonly events: Events;
  /** For timestamps. */
  readonly now: () => number;
  /** For durations. */
  readonly monotonicNow: () => number;
  readonly random: () => number;
  readonly link: Omit<
    LinkOptions,
    'config' | 'server' | 'onNotice' | 'onCleanup' | 'assumeLegacy' | 'responders' | 'ignored'
  >;
  /** The resolved configuration, requested at each attempt. */
  readonly resolve: () => Promise<ServerConfig>;
  /** Removes secrets from an error: every error that leaves this connection passes through it. */
  readonly redact: (error: TurnbuckleError) => TurnbuckleError;
  /** Runs on every fresh link before it counts as ready; if it fails, the connection fails. */
  readonly onOpen: (link: Link) => Promise<void>;
  /** The link is now in use. */
  readonly onReady: () => void;
  readonly onNotice: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** It was idle for the configured time. */
  readonly onIdle: () => void;
}

/** A link that lived this long was a success: failures are counted from zero again. */
const STABLE_LINK_MS = 5_000;

export class Connection {
  readonly name: string;
  readonly health: Health;
  readonly responders = new ClientResponders();
  /** Ignored messages of the server, over all its links. */
  readonly ignored: IgnoredMessages;
  /** Held by each call while it runs. */
  readonly idle: IdleTimer;
  readonly #options: ConnectionOptions;
  #state: ConnectionState = 'idle';
  #error: TurnbuckleError | undefined;
  readonly #closedLinks = new WeakSet<Link>();
  #link: Link | undefined;
  #subscriptions: Subscriptions | undefined;
  #opening: Promise<Link> | undefined;
  #abort: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #wasReady = false;
  #readyAt = 0;
  #failedSince: number | undefined;
  #shouldBeOpen = false;
  #assumeLegacy = false;
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.name = options.name;
    this.ignored = new IgnoredMessages((reason, count) =>
      options.events.emit('server.ignored', { server: options.name, reason, count }),
    );
    this.idle = new IdleTimer({
      idleMs: idleTimeOf(options.config),
      onIdle: () => {
        if (this.#subscriptions?.isWatching !== true) options.onIdle();
      },
    });
    this.health = new Health({
      pingMs: options.config.pingMs,
      now: options.now,
      monotonicNow: options.monotonicNow,
      onDead: (error) => this.#onLinkLost(error),
    });
  }

  get config(): ServerConfig {
    return this.#options.config;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get error(): TurnbuckleError | undefined {
    return this.#error;
  }

  get attempts(): number {
    return this.#attempts;
  }

  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** The live link, if there is one. The only check on the hot path. */
  get link(): Link | undefined {
    return this.#link;
  }

  get subscriptions(): Subscriptions | undefined {
    return this.#subscriptions;
  }

  /** The link: the live one, the one being opened, or a new one. Many callers share one attempt. */
  open(): Promise<Link> {
    if (this.#link !== undefined) return Promise.resolve(this.#link);
    if (this.#state === 'closed') return Promise.reject(closedError(this.name));
    this.#shouldBeOpen = true;
    this.#opening ??= this.#startOpening();
    return this.#opening;
  }

  /** Disconnects until the connection is opened again. */
  disconnect(): Promise<void> {
    return this.#shutDown('disconnect');
  }

  /** Closes this connection for good. Idempotent. */
  close(): Promise<void> {
    return this.#shutDown('close');
  }

  /** Whether we closed this link ourselves. */
  hasClosed(link: Link): boolean {
    return this.#closedLinks.has(link);
  }

  /** A call found the link broken although no close event came. */
  reportBroken(link: Link, error: TurnbuckleError): void {
    if (this.#link === link) this.#onLinkLost(error);
  }

  /** A call got a response: the server is alive, and earlier failures are forgiven. */
  reportAnswer(): void {
    this.health.answered();
    this.#attempts = 0;
  }

  #startOpening(): Promise<Link> {
    const opening: Promise<Link> = Promise.resolve(this.#closing)
      .then(() => this.#attempt())
      .finally(() => {
        if (this.#opening === opening) this.#opening = undefined;
      });
    return opening;
  }

  async #attempt(): Promise<Link> {
    if (this.#state === 'closed') throw closedError(this.name);
    clearTimeout(this.#timer);
    this.#attempts += 1;
    this.#transition('open');
    const abort = new AbortController();
    this.#abort = abort;
    let link: Link | undefined;
    let broken: TurnbuckleError | undefined;
    try {
      const opened = await openLink(this.#linkOptions(await this.#options.resolve()), abort.signal);
      link = opened;
      opened.peer.onclose = () => {
        broken = lostError(opened, this.name);
        this.reportBroken(opened, broken);
      };
      opened.serverTransport.onBroken = (error) => {
        broken = error;
        this.reportBroken(opened, error);
      };
      await this.#runOnOpen(opened, abort.signal);
      if (abort.signal.aborted) throw abort.signal.reason;
      if (broken !== undefined) throw broken;
      this.#onLinkReady(opened);
      return opened;
    } catch (thrown) {
      const error = abort.signal.aborted
        ? closedError(this.name)
        : this.#options.redact(await this.#connectError(broken ?? thrown, link));
      if (link !== undefined) this.#trackCleanup(link.close().catch(() => {}));
      if (!abort.signal.aborted) this.#onAttemptFailed(error);
      throw error;
    }
  }

  /** Disconnecting does not wait for a server that hangs at its first list. */
  async #runOnOpen(link: Link, signal: AbortSignal): Promise<void> {
    const close = (): void => this.#trackCleanup(link.close().catch(() => {}));
    signal.addEventListener('abort', close);
    try {
      await this.#options.onOpen(link);
    } finally {
      signal.removeEventListener('abort', close);
    }
  }

  #linkOptions(config: ServerConfig): LinkOptions {
    const { name, link, onNotice } = this.#options;
    const onCleanup = (done: Promise<void>): void => this.#trackCleanup(done);
    const { responders, ignored } = this;
    return {
      ...link,
      ignored,
      server: name,
      config,
      responders,
      onNotice,
      onCleanup,
      assumeLegacy: this.#assumeLegacy,
    };
  }

  /** The next attempt starts after this; nothing else waits for it. */
  #trackCleanup(done: Promise<void>): void {
    const all: Promise<void> = Promise.all([this.#closing, done]).then(() => {
      if (this.#closing === all) this.#closing = undefined;
    });
    this.#closing = all;
  }

  /** A list that timed out means that the connection failed: there was no call. */
  async #connectError(thrown: unknown, link: Link | undefined): Promise<TurnbuckleError> {
    const error = toTurnbuckleError(
      link === undefined ? thrown : await explainExit(this.name, link.serverTransport, thrown),
    );
    if (error.code !== 'CALL_TIMEOUT') return error;
    const { name, config } = this.#options;
    return new TurnbuckleError(
      'CONNECT_TIMEOUT',
      `Server "${name}" did not list its tools within ${config.listTimeoutMs} ms.`,
      {
        server: name,
        cause: error,
        hint: `Increase listTimeoutMs if the server needs longer, or check the server's output: turnbuckle logs ${shellQuote(name)}`,
      },
    );
  }

  #onLinkReady(link: Link): void {
    const { monotonicNow, events } = this.#options;
    this.#link = link;
    this.#subscriptions = new Subscriptions(link, { ...this.#options, server: this.name });
    this.#wasReady = true;
    this.#readyAt = monotonicNow();
    this.#transition('opened');
    this.#error = undefined;
    if (this.#failedSince !== undefined) {
      events.emit('server.recovered', { server: this.name, afterMs: monotonicNow() - this.#failedSince });
      this.#failedSince = undefined;
    }
    this.health.watch(link);
    void this.#subscriptions.start();
    this.#options.onReady();
    if (!this.idle.isInUse) this.idle.leave();
  }

  /** An attempt failed: report it once, and schedule the next one if the kind of failure allows it. */
  #onAttemptFailed(error: TurnbuckleError): void {
    this.#error = error;
    this.health.noteError(error);
    // The probe for the era may have crashed or blocked a process that never responded.
    this.#assumeLegacy =
      this.config.type === 'stdio' && NO_ANSWER_CODES.has(error.code) && !this.#assumeLegacy;
    const { events, monotonicNow } = this.#options;
    if (this.#failedSince === undefined) {
      this.#failedSince = monotonicNow();
      events.emit('server.failed', { server: this.name, error });
    }
    if (error.code === 'AUTH_REQUIRED') return this.#transition('refused-auth', error);
    // A lazy server is retried by its next call.
    if (!isRecoverable(error) || this.config.start === 'lazy') return this.#transition('gave-up', error);
    this.#retryLater(error);
  }

  /** A live link broke. */
  #onLinkLost(reason: TurnbuckleError): void {
    const link = this.#link;
    const error = this.#options.redact(reason);
    if (link === undefined) return;
    if (this.#options.monotonicNow() - this.#readyAt >= STABLE_LINK_MS) this.#attempts = 0;
    this.#release();
    void link.close(error).catch(() => {});
    this.#error = error;
    this.health.noteError(error);
    if (error.code === 'AUTH_REQUIRED') return this.#transition('refused-auth', error);
    if (error.code === 'SERVER_FLOODED') return this.#giveUp(error);
    // A server that was kept connected is reconnected; a lazy one waits for its next call.
    if (!this.#shouldBeOpen || this.config.start === 'lazy') return this.#transition('lost', error);
    this.#retryLater(error);
  }

  /** It would only fail the same way: the next call, or a person, may retry. */
  #giveUp(error: TurnbuckleError): void {
    const { events, monotonicNow } = this.#options;
    this.#failedSince ??= monotonicNow();
    this.#transition('gave-up', error);
    events.emit('server.failed', { server: this.name, error });
  }

  #retryLater(error: TurnbuckleError): void {
    const delayMs = backoffDelay(this.#backoff(), Math.max(this.#attempts, 1), this.#options.random);
    if (delayMs === undefined) return this.#transition('gave-up', error);
    this.#transition('retry-scheduled', error);
    this.#schedule(delayMs);
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.open().catch(() => {}), delayMs).unref();
  }

  #release(): void {
    this.#link = undefined;
    this.health.stop();
    void this.#subscriptions?.close();
    this.#subscriptions = undefined;
  }

  #shutDown(event: 'disconnect' | 'close'): Promise<void> {
    clearTimeout(this.#timer);
    this.idle.cancel();
    this.#shouldBeOpen = false;
    const link = this.#link;
    if (link !== undefined) this.#closedLinks.add(link);
    const opening = this.#opening;
    this.#opening = undefined;
    this.#release();
    this.#abort?.abort(closedError(this.name));
    this.#transition(event);
    this.#trackCleanup(Promise.all([link?.close().catch(() => {}), opening?.catch(() => {})]).then(() => {}));
    return this.#cleanupDone();
  }

  /** When no cleanup is pending: an aborted attempt starts its cleanup only when it ends. */
  async #cleanupDone(): Promise<void> {
    while (this.#closing !== undefined) await this.#closing;
  }

  #backoff(): typeof DEFAULT_BACKOFF {
    return { ...DEFAULT_BACKOFF, ...this.config.reconnect } as typeof DEFAULT_BACKOFF;
  }

  #transition(event: ConnectionEvent, error?: TurnbuckleError): void {
    const from = this.#state;
    this.#state = transition(from, event);
    if (from !== this.#state)
      this.#options.events.emit('server.state', { server: this.name, from, to: this.#state, error });
  }
}

const NO_ANSWER_CODES = new Set<ErrorCode>(['CONNECT_TIMEOUT', 'SERVER_EXITED', 'CONNECTION_LOST']);

/** Retrying helps only if something may have changed on its own. */
function isRecoverable(error: TurnbuckleError): boolean {
  return (
    error.retryable ||
    error.code === 'SERVER_ERROR' ||
    error.code === 'CALL_TIMEOUT' ||
    error.code === 'PROTOCOL_VIOLATION'
  );
}

/** The host has closed it, or removed its server: nothing is sent on it any more. */
export function closedError(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'RUNTIME_CLOSED',
    `The connection to server "${server}" was closed by the host.`,
    { server, data: { sent: false } },
  );
}

const lostError = (link: Link, server: string): TurnbuckleError =>
  exitError(server, link.serverTransport) ??
  new TurnbuckleError('CONNECTION_LOST', `The connection to server "${server}" was lost.`, { server });
