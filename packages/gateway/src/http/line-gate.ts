/**
 * Requests that come as lines on one connection: each takes a place, counts for the rate and holds its bytes, as one
 * that comes over HTTP does. It counts for whom it acts as, however many connections that one has.
 */
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { type Caller, identityOf, TurnbuckleError, weighJson } from 'turnbuckle';
import { type AnswerText, LARGE_ANSWER } from './answer-text.js';
import { DEFAULT_LIMITS } from './http-limits.js';
import { type Outlet, type Place, Places } from './places.js';
import { RateLimit } from './rate-limit.js';
import type { Visitor } from './visitor.js';

/** Lines that are shorter than this are read to their end in any case: what takes no place has to get through. */
const SHORT = 64 * 1_024;

export interface LineGateOptions {
  readonly places: Places;
  readonly requests: RateLimit;
  readonly visitor: Visitor;
  readonly output: Writable;
  /** How long nothing of an answer may be taken; absent: as long as it likes. */
  readonly slowReadMs?: number | undefined;
  /** There is nobody else: the one client has all there is. */
  readonly isAlone?: boolean | undefined;
}

export class LineGate {
  readonly slowReadMs: number | undefined;
  readonly #isAlone: boolean;
  readonly #places: Places;
  readonly #requests: RateLimit;
  readonly #output: Writable;
  #visitor: Visitor;
  #isWatched = false;
  /** What has come of the next line. */
  #line: Place;

  constructor({ places, requests, visitor, output, slowReadMs, isAlone = false }: LineGateOptions) {
    this.#isAlone = isAlone;
    this.slowReadMs = slowReadMs;
    this.#places = places;
    this.#requests = requests;
    this.#visitor = visitor;
    this.#output = output;
    this.#line = places.enterLines(output, visitor);
  }

  /** For a process that serves one client. */
  static alone(output: Writable): LineGate {
    return new LineGate({
      places: new Places(DEFAULT_LIMITS),
      requests: new RateLimit(DEFAULT_LIMITS.requests),
      visitor: { caller: { id: 'stdio', capabilities: [] }, access: new Set(), isOwner: true },
      output,
      isAlone: true,
    });
  }

  /** The first message has said who it is. */
  actAs(caller: Caller): void {
    const { access, ended } = this.#visitor;
    if (this.#isAlone || identityOf(caller) === identityOf(this.#visitor.caller)) return;
    // An agent is never the owner whose token it was started with.
    this.#visitor = { caller, access, ended };
    this.#line = this.#places.enterLines(this.#output, this.#visitor);
  }

  /** So much of a line is here; false when there is no room for it. */
  grow(length: number): boolean {
    return length < SHORT || this.#line.hold(length - this.#line.bytes);
  }

  /** The line is whole: what it takes in memory when it is read; undefined when there is no room for that. */
  async weigh(line: string): Promise<number | undefined> {
    const weight = await weighJson(line);
    return line.length < SHORT || this.#line.hold(weight - this.#line.bytes) ? weight : undefined;
  }

  /** The line is taken, or is not kept. */
  clear(): void {
    this.#line.letGo();
  }

  /** A request of this weight begins; returns what to call at its end. OVERLOADED, RATE_LIMITED. */
  enter(weight: number): () => void {
    this.clear();
    const waitMs = this.#requests.take(identityOf(this.#visitor.caller));
    if (waitMs > 0)
      throw new TurnbuckleError('RATE_LIMITED', 'Too many requests of this caller.', {
        hint: 'Nothing was done. Send them more slowly.',
        data: { retryAfterMs: waitMs },
      });
    if (!this.#places.hasRoom(this.#visitor)) throw tooBusy();
    const outlet: Outlet = { writableLength: 0, destroy: () => this.#output.destroy() };
    const place = this.#places.enter(outlet, this.#visitor);
    const leave = (): void => this.#places.leave(outlet);
    if (place.hold(weight)) return leave;
    leave();
    throw tooMuch();
  }

  /** Whether this can be said to who may not read it, now or later. */
  mayAnswer(text: AnswerText): boolean | Promise<boolean> {
    const output = this.#output;
    if (typeof text !== 'string') return this.#line.turnFor(text, () => !output.destroyed);
    if (text.length < LARGE_ANSWER && output.writableLength === 0) return true;
    return this.#places.mayLeaveUnsent(this.#line, text.length);
  }

  /** After each write: who takes nothing for too long while something waits for it is cut off. */
  watch(isTaken: boolean): void {
    const output = this.#output;
    if (isTaken || this.#isWatched || this.slowReadMs === undefined || !(output instanceof Socket)) return;
    this.#isWatched = true;
    const cut = (): unknown => output.destroy();
    output.setTimeout(this.slowReadMs, cut);
    output.once('drain', () => {
      this.#isWatched = false;
      output.setTimeout(0).off('timeout', cut);
    });
  }

  close(): void {
    this.#places.leaveLines(this.#output);
  }
}

const tooBusy = (): TurnbuckleError =>
  new TurnbuckleError('OVERLOADED', 'Too many requests are on their way, of this caller or in all.', {
    hint: 'Nothing was done. Try again in a moment.',
    data: { retryAfterMs: 1_000 },
  });

export const tooMuch = (): TurnbuckleError =>
  new TurnbuckleError('OVERLOADED', 'Too many requests are in memory, of this caller or in all.', {
    hint: 'Nothing was done. Send fewer of them at once.',
    data: { retryAfterMs: 1_000 },
  });
