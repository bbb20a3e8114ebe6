/** Sessions of older clients over HTTP: limited in number, usable only by their owner, ended when idle. */
import { randomBytes } from 'node:crypto';
import { identityOf, monotonicNow } from 'turnbuckle/host';
import { EventStream } from '../../http/event-stream.js';
import { isWithinFairShare } from '../../http/limits/fair-share.js';
import type { RequestContext } from '../../http/request-context.js';
import { requireActiveToken } from '../../identity/identity-end.js';
import { PostResponse } from '../http/post-response.js';
import type { Incoming } from '../protocol/incoming.js';
import { CODES, RpcError } from '../protocol/protocol.js';
import type { ViewContext } from '../view-context.js';
import { Session } from './session.js';

export interface SessionLimits {
  readonly maxSessions: number;
  readonly maxSessionsPerCaller: number;
  readonly idleMs: number;
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = {
  maxSessions: 1_000,
  maxSessionsPerCaller: 200,
  idleMs: 30 * 60_000,
};

/** Messages for a client that has no open stream. */
const MAX_QUEUED_MESSAGES = 100;
const MAX_QUEUED_CHARACTERS = 256 * 1_024;
const SWEEP_MS = 30_000;

interface OpenSession {
  readonly session: Session;
  /** Its owner: a new token of the same name is another identity. */
  readonly identity: string;
  /** Stops waiting for the end of its owner. */
  readonly forget: () => void;
  readonly view: string;
  readonly queued: string[];
  stream: EventStream | undefined;
  usedAt: number;
}

/** What the endpoints need of an HTTP request. */
export interface McpRequestContext
  extends Pick<RequestContext, 'request' | 'response' | 'caller' | 'signal'> {
  readonly usage?: RequestContext['usage'] | undefined;
  readonly identity?: Pick<RequestContext['identity'], 'ended' | 'isOwner' | 'expiresAt'> | undefined;
  /** Aborts when a stream has to end; absent: `signal` is used. */
  readonly streamSignal?: RequestContext['signal'] | undefined;
}

export class Sessions {
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  readonly #open = new Map<string, OpenSession>();
  readonly #timer: NodeJS.Timeout;

  /** `now` from a monotonic clock. */
  constructor(limits: SessionLimits, now: () => number = monotonicNow) {
    this.#limits = limits;
    this.#now = now;
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Handles a message of an older client: in its session, or the one that starts a session. */
  async post(viewContext: ViewContext, context: McpRequestContext, incoming: Incoming): Promise<void> {
    const { response } = context;
    const isFirst = incoming.kind === 'request' && incoming.message.method === 'initialize';
    const open = isFirst ? this.#begin(viewContext, context) : this.#find(viewContext, context);
    open.usedAt = this.#now();
    const answer = new PostResponse(context, { 'mcp-session-id': open.session.id });
    if (incoming.kind === 'request') {
      await open.session.handle(incoming, answer, (leave) => {
        // It may have disconnected while its message was read.
        if (response.destroyed) leave();
        response.once('close', () => {
          if (!response.writableFinished) leave();
        });
      });
      // A running call counts as use until it ends.
      open.usedAt = this.#now();
      return;
    }
    await open.session.handle(incoming, answer);
    answer.accept();
  }

  /** Opens the stream for messages that belong to no request. A new one replaces the old one. */
  listen(viewContext: ViewContext, context: McpRequestContext): void {
    const { response, signal, streamSignal = signal } = context;
    const open = this.#find(viewContext, context);
    open.stream?.end();
    const stream = new EventStream(response, { 'mcp-session-id': open.session.id });
    open.stream = stream;
    // The session may continue with another token; a stream ends with the token that opened it.
    streamSignal.addEventListener('abort', () => stream.end(), { once: true });
    if (streamSignal.aborted) stream.end();
    for (const text of open.queued.splice(0)) stream.send(text);
  }

  /** Throws immediately if there is no such session. */
  end(viewContext: ViewContext, context: McpRequestContext): Promise<void> {
    return this.#drop(this.#find(viewContext, context));
  }

  /** Ends idle sessions. */
  sweep(): void {
    const before = this.#now() - this.#limits.idleMs;
    for (const open of this.#open.values()) if (open.usedAt < before && isIdle(open)) void this.#drop(open);
  }

  endStreams(): void {
    for (const { stream } of this.#open.values()) stream?.end();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#open.values()].map((open) => this.#drop(open)));
  }

  #begin(
    viewContext: ViewContext,
    { caller, identity: { ended, isOwner = false } = {} }: McpRequestContext,
  ): OpenSession {
    // The abort event came before there was a listener.
    requireActiveToken({ ended });
    const { maxSessions, maxSessionsPerCaller } = this.#limits;
    this.sweep();
    const identity = identityOf(caller);
    const own = [...this.#open.values()].filter((open) => open.identity === identity);
    const isFree = isWithinFairShare({ own: own.length, taken: this.#open.size, max: maxSessions, isOwner });
    if (!isFree || own.length >= maxSessionsPerCaller) this.#evictIdle(own);
    const id = randomBytes(24).toString('base64url');
    const end = (): void => void this.#drop(open);
    ended?.addEventListener('abort', end);
    const open: OpenSession = {
      session: new Session({ id, viewContext, caller, push: (text) => push(open, text), isHttp: true }),
      identity,
      forget: () => ended?.removeEventListener('abort', end),
      view: viewContext.dispatcher.view.name,
      queued: [],
      stream: undefined,
      usedAt: this.#now(),
    };
    this.#open.set(id, open);
    return open;
  }

  /**
   * A client that reconnects without ending its session gets a slot: that of its own session that has been idle longest.
   * Never one that is in use, and never another client's.
   */
  #evictIdle(own: readonly OpenSession[]): void {
    const [first, ...others] = own.filter(isIdle);
    if (first === undefined) throw new RpcError(CODES.internal, 'Too many open sessions', { http: 429 });
    void this.#drop(others.reduce((oldest, open) => (open.usedAt < oldest.usedAt ? open : oldest), first));
  }

  /** The same message for a session that has ended, never existed, or belongs to another identity. */
  #find(viewContext: ViewContext, { request, caller }: McpRequestContext): OpenSession {
    const id = request.headers['mcp-session-id'];
    if (typeof id !== 'string')
      throw new RpcError(CODES.invalidRequest, 'Missing header Mcp-Session-Id', { http: 400 });
    const open = this.#open.get(id);
    if (
      open === undefined ||
      open.identity !== identityOf(caller) ||
      open.view !== viewContext.dispatcher.view.name
    )
      throw new RpcError(CODES.noSession, 'Session not found', { http: 404 });
    open.session.updateCaller(caller);
    return open;
  }

  async #drop(open: OpenSession): Promise<void> {
    this.#open.delete(open.session.id);
    open.forget();
    open.stream?.end();
    await open.session.close();
  }
}

/** It has no open stream and no request in progress. */
const isIdle = ({ stream, session }: OpenSession): boolean => stream?.isOpen !== true && !session.isBusy;

function push({ stream, queued }: OpenSession, text: string): void {
  if (stream?.isOpen === true) return stream.send(text);
  queued.push(text);
  let characters = queued.reduce((sum, one) => sum + one.length, 0);
  while (queued.length > MAX_QUEUED_MESSAGES || characters > MAX_QUEUED_CHARACTERS)
    characters -= queued.shift()?.length ?? 0;
}
