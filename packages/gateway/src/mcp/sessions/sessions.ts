/** The sessions of older clients over HTTP: bounded, each usable only by whose it is, ended when nobody uses it. */
import { randomBytes } from 'node:crypto';
import { identityOf } from 'turnbuckle';
import { mayTake } from '../http/shares.js';
import type { Visit } from '../http/visit.js';
import { requireGood } from '../http/visitor-end.js';
import type { Desk } from './desk.js';
import { EventStream } from './event-stream.js';
import type { Incoming } from './incoming.js';
import { PostAnswer } from './post-answer.js';
import { CODES, RpcError } from './protocol.js';
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

/** Messages for a client that has no stream open now. */
const MOST_KEPT = 100;
const MOST_KEPT_CHARACTERS = 256 * 1_024;
const SWEEP_MS = 30_000;

interface Open {
  readonly session: Session;
  /** Whose it is: a new token of the same name is somebody else. */
  readonly identity: string;
  /** Stops waiting for the end of its owner. */
  readonly forget: () => void;
  readonly view: string;
  readonly kept: string[];
  stream: EventStream | undefined;
  usedAt: number;
}

/** What the endpoints need of a request over HTTP. */
export interface Visitor extends Pick<Visit, 'request' | 'response' | 'caller' | 'signal'> {
  readonly place?: Visit['place'] | undefined;
  readonly visitor?: Pick<Visit['visitor'], 'ended' | 'isOwner' | 'expiresAt'> | undefined;
  /** Aborts when a stream has to end; absent: as `signal` does. */
  readonly streamSignal?: Visit['signal'] | undefined;
}

export class Sessions {
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  readonly #open = new Map<string, Open>();
  readonly #timer: NodeJS.Timeout;

  constructor(limits: SessionLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** A message of an older client: of its session, or the one that begins one. */
  async post(desk: Desk, visitor: Visitor, incoming: Incoming): Promise<void> {
    const { response } = visitor;
    const isFirst = incoming.kind === 'request' && incoming.message.method === 'initialize';
    const open = isFirst ? this.#begin(desk, visitor) : this.#find(desk, visitor);
    open.usedAt = this.#now();
    const answer = new PostAnswer(visitor, { 'mcp-session-id': open.session.id });
    if (incoming.kind === 'request') {
      await open.session.take(incoming, answer, (leave) => {
        // It may have left while its message was read.
        if (response.destroyed) leave();
        response.once('close', () => {
          if (!response.writableFinished) leave();
        });
      });
      // A long call is use until its end.
      open.usedAt = this.#now();
      return;
    }
    await open.session.take(incoming, answer);
    answer.accept();
  }

  /** The stream for what belongs to no request. A new one takes the place of the old one. */
  listen(desk: Desk, visitor: Visitor): void {
    const { response, signal, streamSignal = signal } = visitor;
    const open = this.#find(desk, visitor);
    open.stream?.end();
    const stream = new EventStream(response, { 'mcp-session-id': open.session.id });
    open.stream = stream;
    // The session may go on with another token; a stream is as good as the one that it was asked for with.
    streamSignal.addEventListener('abort', () => stream.end(), { once: true });
    if (streamSignal.aborted) stream.end();
    for (const text of open.kept.splice(0)) stream.send(text);
  }

  /** Throws at once when there is no such session. */
  end(desk: Desk, visitor: Visitor): Promise<void> {
    return this.#drop(this.#find(desk, visitor));
  }

  /** Ends those that nobody has used for a while. */
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

  #begin(desk: Desk, { caller, visitor: { ended, isOwner = false } = {} }: Visitor): Open {
    // Its end was told before anybody here could listen.
    requireGood({ ended });
    const { maxSessions, maxSessionsPerCaller } = this.#limits;
    this.sweep();
    const identity = identityOf(caller);
    const own = [...this.#open.values()].filter((open) => open.identity === identity);
    const isFree = mayTake({ own: own.length, taken: this.#open.size, max: maxSessions, isOwner });
    if (!isFree || own.length >= maxSessionsPerCaller) this.#giveWay(own);
    const id = randomBytes(24).toString('base64url');
    const end = (): void => void this.#drop(open);
    ended?.addEventListener('abort', end);
    const open: Open = {
      session: new Session({ id, desk, caller, push: (text) => push(open, text) }),
      identity,
      forget: () => ended?.removeEventListener('abort', end),
      view: desk.surface.view.name,
      kept: [],
      stream: undefined,
      usedAt: this.#now(),
    };
    this.#open.set(id, open);
    return open;
  }

  /**
   * A client that comes back without having ended its session finds a place: that of its own which nobody has used for the
   * longest time. Never one that is in use, and never another's.
   */
  #giveWay(own: readonly Open[]): void {
    const [first, ...others] = own.filter(isIdle);
    if (first === undefined) throw new RpcError(CODES.internal, 'Too many sessions are open', { http: 429 });
    void this.#drop(others.reduce((oldest, open) => (open.usedAt < oldest.usedAt ? open : oldest), first));
  }

  /** The same words for a session that is over, that never was, and that is somebody else's. */
  #find(desk: Desk, { request, caller }: Visitor): Open {
    const id = request.headers['mcp-session-id'];
    if (typeof id !== 'string')
      throw new RpcError(CODES.invalidRequest, 'The header Mcp-Session-Id is missing', { http: 400 });
    const open = this.#open.get(id);
    if (open === undefined || open.identity !== identityOf(caller) || open.view !== desk.surface.view.name)
      throw new RpcError(CODES.noSession, 'There is no such session', { http: 404 });
    open.session.renew(caller);
    return open;
  }

  async #drop(open: Open): Promise<void> {
    this.#open.delete(open.session.id);
    open.forget();
    open.stream?.end();
    await open.session.close();
  }
}

/** Nobody listens to it, and nobody waits for an answer of it. */
const isIdle = ({ stream, session }: Open): boolean => stream?.isOpen !== true && !session.isBusy;

function push({ stream, kept }: Open, text: string): void {
  if (stream?.isOpen === true) return stream.send(text);
  kept.push(text);
  let characters = kept.reduce((sum, one) => sum + one.length, 0);
  while (kept.length > MOST_KEPT || characters > MOST_KEPT_CHARACTERS)
    characters -= kept.shift()?.length ?? 0;
}
