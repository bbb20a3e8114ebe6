/**
 * One configured server and its link: opens it once for all who ask, notices when it breaks, heals it with
 * backoff and then a slow probe, and proves by real answers that it is alive. All state changes go through
 * the table in state.ts. Does not know tools: what to do with a fresh link is handed in as `onOpen`.
 */
import type { ServerConfig } from '../config/schema.js';
import { type ErrorCode, TurnbuckleError, toTurnbuckleError } from '../errors.js';
import type { Events } from '../events.js';
import { backoffDelay, DEFAULT_BACKOFF } from '../resilience/backoff.js';
import { exitError, explainExit } from './exit.js';
import { Health } from './health.js';
import { IdleStop } from './idle-stop.js';
import { IgnoredMessages } from './ignored-messages.js';
import { type Link, type LinkOptions, openLink } from './link.js';
import { Respondents } from './respondents.js';
import { type ConnectionEvent, type ConnectionState, transition } from './state.js';
import { Subscriptions } from './subscriptions.js';

export interface ConnectionOptions {
  readonly name: string;
  readonly config: ServerConfig;
  readonly events: Events;
  readonly now: () => number;
  readonly random: () => number;
  readonly link: Omit<
    LinkOptions,
    'config' | 'server' | 'onNotice' | 'onCleanup' | 'assumeLegacy' | 'respondents' | 'ignored'
  >;
  /** The configuration with everything filled in, asked for at each attempt. */
  readonly resolve: () => Promise<ServerConfig>;
  /** The same error without secrets: what leaves this connection has been through it. */
  readonly redact: (error: TurnbuckleError) => TurnbuckleError;
  /** Runs on every fresh link before it counts as ready; its failure is the connection's failure. */
  readonly onOpen: (link: Link) => Promise<void>;
  /** The link is in use from now on. */
  readonly onReady: () => void;
  readonly onNotice: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** Nobody has used it for the configured time. */
  readonly onIdle: () => void;
}

/** A link that lived this long was a success: the next failure starts counting anew. */
const STEADY_MS = 5_000;
const IDLE_MS = 300_000;

export class Connection {
  readonly name: string;
  readonly health: Health;
  readonly respondents = new Respondents();
  /** What the server said in vain, over all its links. */
  readonly ignored: IgnoredMessages;
  /** Entered by each call for as long as it takes. */
  readonly idle: IdleStop;
  readonly #options: ConnectionOptions;
  #state: ConnectionState = 'idle';
  #error: TurnbuckleError | undefined;
  #link: Link | undefined;
  #subscriptions: Subscriptions | undefined;
  #opening: Promise<Link> | undefined;
  #abort: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #wasReady = false;
  #readyAt = 0;
  #failedSince: number | undefined;
  #wanted = false;
  #assumeLegacy = false;
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.name = options.name;
    const { idleMs, share } = options.config;
    this.ignored = new IgnoredMessages((reason, count) =>
      options.events.emit('server.ignored', { server: options.name, reason, count }),
    );
    this.idle = new IdleStop({
      idleMs: idleMs ?? (share === 'shared' ? 0 : IDLE_MS),
      stop: () => {
        if (this.#subscriptions?.isWatching !== true) options.onIdle();
      },
    });
    this.health = new Health({
      pingMs: options.config.pingMs,
      now: options.now,
      onDead: (error) => this.#lose(error),
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

  /** The live link, if there is one now. The hot path's only question. */
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
    this.#wanted = true;
    this.#opening ??= this.#openAnew();
    return this.#opening;
  }

  /** Takes it down until somebody opens it again. */
  disconnect(): Promise<void> {
    return this.#takeDown('disconnect');
  }

  /** The end of this connection. Safe to call twice. */
  close(): Promise<void> {
    return this.#takeDown('close');
  }

  /** A call found the link broken although no close came. */
  reportBroken(link: Link, error: TurnbuckleError): void {
    if (this.#link === link) this.#lose(error);
  }

  /** A call was answered: proof of life, and a reason to forgive earlier failures. */
  reportAnswer(): void {
    this.health.answered();
    this.#attempts = 0;
  }

  #openAnew(): Promise<Link> {
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
    this.#move('open');
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
      opened.carrier.onBroken = (error) => {
        broken = error;
        this.reportBroken(opened, error);
      };
      await this.#take(opened, abort.signal);
      if (abort.signal.aborted) throw abort.signal.reason;
      if (broken !== undefined) throw broken;
      this.#ready(opened);
      return opened;
    } catch (thrown) {
      const error = abort.signal.aborted
        ? closedError(this.name)
        : this.#options.redact(await this.#connectError(broken ?? thrown, link));
      if (link !== undefined) this.#cleanUp(link.close().catch(() => {}));
      if (!abort.signal.aborted) this.#failed(error);
      throw error;
    }
  }

  /** Whoever takes it down does not wait for a server that hangs at its first list. */
  async #take(link: Link, signal: AbortSignal): Promise<void> {
    const close = (): void => this.#cleanUp(link.close().catch(() => {}));
    signal.addEventListener('abort', close);
    try {
      await this.#options.onOpen(link);
    } finally {
      signal.removeEventListener('abort', close);
    }
  }

  #linkOptions(config: ServerConfig): LinkOptions {
    const { name, link, onNotice } = this.#options;
    const onCleanup = (done: Promise<void>): void => this.#cleanUp(done);
    const { respondents, ignored } = this;
    return {
      ...link,
      ignored,
      server: name,
      config,
      respondents,
      onNotice,
      onCleanup,
      assumeLegacy: this.#assumeLegacy,
    };
  }

  /** The next attempt begins when this is done; nobody else has to wait for it. */
  #cleanUp(done: Promise<void>): void {
    const all: Promise<void> = Promise.all([this.#closing, done]).then(() => {
      if (this.#closing === all) this.#closing = undefined;
    });
    this.#closing = all;
  }

  /** A list that did not come in time is a connection that did not come up: there was no call. */
  async #connectError(thrown: unknown, link: Link | undefined): Promise<TurnbuckleError> {
    const error = toTurnbuckleError(
      link === undefined ? thrown : await explainExit(this.name, link.carrier, thrown),
    );
    if (error.code !== 'CALL_TIMEOUT') return error;
    const { name, config } = this.#options;
    return new TurnbuckleError(
      'CONNECT_TIMEOUT',
      `Server "${name}" did not list its tools within ${config.listTimeoutMs} ms.`,
      {
        server: name,
        cause: error,
        hint: `Raise listTimeoutMs if it needs longer, or look at what it writes: turnbuckle logs ${name}`,
      },
    );
  }

  #ready(link: Link): void {
    const { now, events } = this.#options;
    this.#link = link;
    this.#subscriptions = new Subscriptions(link, this.#options.random);
    this.#wasReady = true;
    this.#readyAt = now();
    this.#move('opened');
    this.#error = undefined;
    if (this.#failedSince !== undefined) {
      events.emit('server.recovered', { server: this.name, afterMs: now() - this.#failedSince });
      this.#failedSince = undefined;
    }
    this.health.watch(link);
    void this.#subscriptions.start();
    this.#options.onReady();
    if (!this.idle.isInUse) this.idle.leave();
  }

  /** An attempt failed: say so once, and schedule the next one if the kind of failure allows it. */
  #failed(error: TurnbuckleError): void {
    this.#error = error;
    this.health.noteError(error);
    // A process that never answered may be one that dies of, or stays deaf after, the question for its era.
    this.#assumeLegacy = this.config.type === 'stdio' && DEAF.has(error.code) && !this.#assumeLegacy;
    const { events, now } = this.#options;
    if (this.#failedSince === undefined) {
      this.#failedSince = now();
      events.emit('server.failed', { server: this.name, error });
    }
    if (error.code === 'AUTH_REQUIRED') return this.#move('refused-auth', error);
    // A lazy server is tried again by its next call.
    if (!canHeal(error) || this.config.start === 'lazy') return this.#move('gave-up', error);
    this.#retryLater(error);
  }

  /** A live link broke. */
  #lose(reason: TurnbuckleError): void {
    const link = this.#link;
    const error = this.#options.redact(reason);
    if (link === undefined) return;
    if (this.#options.now() - this.#readyAt >= STEADY_MS) this.#attempts = 0;
    this.#release();
    void link.close().catch(() => {});
    this.#error = error;
    this.health.noteError(error);
    if (error.code === 'AUTH_REQUIRED') return this.#move('refused-auth', error);
    if (error.code === 'SERVER_FLOODED') return this.#giveUp(error);
    // Whoever wanted it up wants it back; a lazy server waits for its next call.
    if (!this.#wanted || this.config.start === 'lazy') return this.#move('lost', error);
    this.#retryLater(error);
  }

  /** It would only do the same again: the next call, or a person, may try. */
  #giveUp(error: TurnbuckleError): void {
    const { events, now } = this.#options;
    this.#failedSince ??= now();
    this.#move('gave-up', error);
    events.emit('server.failed', { server: this.name, error });
  }

  #retryLater(error: TurnbuckleError): void {
    const delayMs = backoffDelay(this.#backoff(), Math.max(this.#attempts, 1), this.#options.random);
    if (delayMs === undefined) return this.#move('gave-up', error);
    this.#move('retry-scheduled', error);
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

  #takeDown(event: 'disconnect' | 'close'): Promise<void> {
    clearTimeout(this.#timer);
    this.idle.cancel();
    this.#wanted = false;
    const link = this.#link;
    const opening = this.#opening;
    this.#opening = undefined;
    this.#release();
    this.#abort?.abort(closedError(this.name));
    this.#move(event);
    this.#cleanUp(Promise.all([link?.close().catch(() => {}), opening?.catch(() => {})]).then(() => {}));
    return this.#settled();
  }

  /** When nothing is being cleaned up any more: an attempt that is cut off begins to only as it ends. */
  async #settled(): Promise<void> {
    while (this.#closing !== undefined) await this.#closing;
  }

  #backoff(): typeof DEFAULT_BACKOFF {
    return { ...DEFAULT_BACKOFF, ...this.config.reconnect } as typeof DEFAULT_BACKOFF;
  }

  #move(event: ConnectionEvent, error?: TurnbuckleError): void {
    const from = this.#state;
    this.#state = transition(from, event);
    if (from !== this.#state)
      this.#options.events.emit('server.state', { server: this.name, from, to: this.#state, error });
  }
}

const DEAF = new Set<ErrorCode>(['CONNECT_TIMEOUT', 'SERVER_EXITED', 'CONNECTION_LOST']);

/** Trying again helps only where something may have changed by itself. */
function canHeal(error: TurnbuckleError): boolean {
  return (
    error.retryable ||
    error.code === 'SERVER_ERROR' ||
    error.code === 'CALL_TIMEOUT' ||
    error.code === 'PROTOCOL_VIOLATION'
  );
}

function closedError(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'RUNTIME_CLOSED',
    `The connection to server "${server}" was closed by the host.`,
    { server, data: { sent: false } },
  );
}

const lostError = (link: Link, server: string): TurnbuckleError =>
  exitError(server, link.carrier) ??
  new TurnbuckleError('CONNECTION_LOST', `The connection to server "${server}" was lost.`, { server });
