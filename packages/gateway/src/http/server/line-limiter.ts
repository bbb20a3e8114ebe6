/**
 * Limits for requests that arrive as lines on one connection: each takes a slot, counts for the rate and holds its
 * bytes, like a request over HTTP. It counts for the caller it acts as, across all connections of that caller.
 */
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { type Caller, TurnbuckleError } from 'turnbuckle';
import { estimateJsonMemory, identityOf } from 'turnbuckle/host';
import type { Identity } from '../../identity/identity.js';
import { InFlightRequests, type RequestUsage, type ResponseOutput } from '../limits/in-flight-requests.js';
import { RateLimit } from '../limits/rate-limit.js';
import { LARGE_RESPONSE_BYTES, type ResponseText } from '../response-text.js';
import { DEFAULT_LIMITS } from './http-limits.js';

/** Shorter lines are always read to their end: messages that take no slot have to get through. */
const SHORT_LINE_CHARACTERS = 64 * 1_024;

export interface LineLimiterOptions {
  readonly inFlight: InFlightRequests;
  readonly requestRate: RateLimit;
  readonly identity: Identity;
  readonly output: Writable;
  /** How long a client may read nothing of a response; absent: no limit. */
  readonly slowReadMs?: number | undefined;
  /** There is only one client, which has everything. */
  readonly isSingleClient?: boolean | undefined;
}

export class LineLimiter {
  readonly slowReadMs: number | undefined;
  readonly #isSingleClient: boolean;
  readonly #inFlight: InFlightRequests;
  readonly #requestRate: RateLimit;
  readonly #output: Writable;
  #identity: Identity;
  #isWatched = false;
  /** What has arrived of the next line. */
  #lineUsage: RequestUsage;

  constructor({
    inFlight,
    requestRate,
    identity,
    output,
    slowReadMs,
    isSingleClient = false,
  }: LineLimiterOptions) {
    this.#isSingleClient = isSingleClient;
    this.slowReadMs = slowReadMs;
    this.#inFlight = inFlight;
    this.#requestRate = requestRate;
    this.#identity = identity;
    this.#output = output;
    this.#lineUsage = inFlight.enterLineConnection(output, identity);
  }

  /** For a process that serves one client. */
  static forSingleClient(output: Writable): LineLimiter {
    return new LineLimiter({
      inFlight: new InFlightRequests(DEFAULT_LIMITS),
      requestRate: new RateLimit(DEFAULT_LIMITS.requests),
      identity: { caller: { id: 'stdio', capabilities: [] }, access: new Set(), isOwner: true },
      output,
      isSingleClient: true,
    });
  }

  /** The first message has identified the client. */
  setCaller(caller: Caller): void {
    const { access, ended } = this.#identity;
    if (this.#isSingleClient || identityOf(caller) === identityOf(this.#identity.caller)) return;
    // An agent is never the owner, even if it was started with the owner's token.
    this.#identity = { caller, access, ended };
    this.#lineUsage = this.#inFlight.enterLineConnection(this.#output, this.#identity);
  }

  /** Reserves memory for a part of a line; false if there is no room. */
  reserveLine(length: number): boolean {
    return length < SHORT_LINE_CHARACTERS || this.#lineUsage.reserve(length - this.#lineUsage.bytes);
  }

  /** The line is complete: returns its memory estimate once parsed; undefined if there is no room for it. */
  async reserveParsedLine(line: string): Promise<number | undefined> {
    const weight = await estimateJsonMemory(line);
    return line.length < SHORT_LINE_CHARACTERS || this.#lineUsage.reserve(weight - this.#lineUsage.bytes)
      ? weight
      : undefined;
  }

  /** The line was processed or discarded. */
  releaseLine(): void {
    this.#lineUsage.release();
  }

  /** Starts a request of this weight; returns the function that ends it. OVERLOADED, RATE_LIMITED. */
  startRequest(weight: number): () => void {
    this.releaseLine();
    const waitMs = this.#requestRate.take(identityOf(this.#identity.caller));
    if (waitMs > 0)
      throw new TurnbuckleError('RATE_LIMITED', 'Too many requests from this caller.', {
        hint: 'Nothing was done. Send requests more slowly.',
        data: { retryAfterMs: waitMs },
      });
    if (!this.#inFlight.hasCapacity(this.#identity)) throw tooManyRequests();
    const output: ResponseOutput = { writableLength: 0, destroy: () => this.#output.destroy() };
    const usage = this.#inFlight.enter(output, this.#identity);
    const leave = (): void => this.#inFlight.leave(output);
    if (usage.reserve(weight)) return leave;
    leave();
    throw lineMemoryExceeded();
  }

  /** Whether this may be sent, now or later, to a client that may not read it. */
  canRespond(text: ResponseText): boolean | Promise<boolean> {
    const output = this.#output;
    if (typeof text !== 'string') return this.#lineUsage.waitToWrite(text, () => !output.destroyed);
    if (text.length < LARGE_RESPONSE_BYTES && output.writableLength === 0) return true;
    return this.#inFlight.canBufferUnsent(this.#lineUsage, text.length);
  }

  /** After each write: a client that reads nothing for too long while data waits is cut off. */
  watchSlowReader(isTaken: boolean): void {
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
    this.#inFlight.leaveLineConnection(this.#output);
  }
}

const tooManyRequests = (): TurnbuckleError =>
  new TurnbuckleError('OVERLOADED', 'Too many requests in progress, for this caller or for the daemon.', {
    hint: 'Nothing was done. Try again in a moment.',
    data: { retryAfterMs: 1_000 },
  });

export const lineMemoryExceeded = (): TurnbuckleError =>
  new TurnbuckleError(
    'OVERLOADED',
    'The memory limit for requests was reached, for this caller or for the daemon.',
    {
      hint: 'Nothing was done. Send fewer requests at a time.',
      data: { retryAfterMs: 1_000 },
    },
  );
