/** Authenticated requests that have no complete response yet: whose they are, and what each of them holds. */
import type { ServerResponse } from 'node:http';
import { identityOf } from 'turnbuckle/host';
import type { Identity } from '../../identity/identity.js';
import type { SharedText } from '../response-text.js';
import type { HttpLimits } from '../server/http-limits.js';
import { LargeResponseQueue } from '../server/large-response-queue.js';
import { isWithinFairShare } from './fair-share.js';

/** What one identity holds in total. */
interface IdentityUsage {
  readonly isOwner: boolean;
  readonly forget: () => void;
  requests: number;
  bytes: number;
}

/** Usage records of idle identities are kept up to this number: creating one for each request costs more. */
const MAX_IDLE_IDENTITIES = 1_000;
/** When a token ends, its requests are cancelled; requests that are still open after this delay are cut off. */
const CANCEL_GRACE_MS = 1_000;

/** Where a response is written to. */
export interface ResponseOutput {
  /** Bytes written but not sent yet. */
  readonly writableLength: number;
  destroy(): unknown;
}

/** One request, or the part of one that has arrived on a line connection. */
export class RequestUsage {
  readonly identityUsage: IdentityUsage;
  /** Of its body, and of responses that cannot be sent yet. */
  bytes = 0;
  /** Called for a pending read of the body when the token of the request ends. */
  onTokenEnded: (() => void) | undefined;
  /** A handler is running: what the request holds is kept until the handler ends, even if the client disconnects. */
  isBusy = false;
  hasLeft = false;
  readonly #requests: InFlightRequests;

  constructor(identityUsage: IdentityUsage, places: InFlightRequests) {
    this.identityUsage = identityUsage;
    this.#requests = places;
  }

  /** Reserves memory for more of the body; false if the identity would exceed its limit. */
  reserve(bytes: number): boolean {
    return this.#requests.reserve(this, bytes);
  }

  /** Releases all or some of the reserved bytes. */
  release(bytes = this.bytes): void {
    this.#requests.release(this, bytes);
  }

  /** Whether this many bytes may be written to a client that may not read them. */
  canBufferUnsent(bytes: number): boolean {
    return this.#requests.canBufferUnsent(this, bytes);
  }

  /** Waits for its turn to write a large shared response: true now or later; false if it must not be written. */
  waitToWrite(text: SharedText, isOpen: () => boolean): boolean | Promise<boolean> {
    const { byteLength: bytes, shared } = text;
    return this.#requests.largeResponses.waitForTurn({
      identityUsage: this.identityUsage,
      bytes,
      shared,
      isOpen,
    });
  }
}

type InFlightLimits = Pick<HttpLimits, 'maxInFlight' | 'maxHeldBytes' | 'maxUnsentBytes' | 'slowReadMs'>;

export class InFlightRequests {
  readonly #limits: InFlightLimits;
  readonly #open = new Map<ResponseOutput, RequestUsage>();
  /** Line connections: each of their requests takes a slot. */
  readonly #lineConnections = new Map<ResponseOutput, RequestUsage>();
  readonly #usageByIdentity = new Map<string, IdentityUsage>();
  readonly largeResponses: LargeResponseQueue;
  #bytes = 0;

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
    this.largeResponses = new LargeResponseQueue({
      maxUnsentBytes: limits.maxUnsentBytes,
      maxWaitMs: limits.slowReadMs,
      unsentBytesOf: (identityUsage) => this.#unsentBytesOf(identityUsage),
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether there is room for one more request of this identity. */
  hasCapacity({ caller, isOwner = false }: Identity): boolean {
    const own = this.#usageByIdentity.get(identityOf(caller))?.requests ?? 0;
    return isWithinFairShare({ own, taken: this.#open.size, max: this.#limits.maxInFlight, isOwner });
  }

  /** Holds a slot until `leave`. */
  enter(output: ResponseOutput, identity: Identity): RequestUsage {
    const identityUsage = this.#usageOf(identity);
    identityUsage.requests += 1;
    const usage = new RequestUsage(identityUsage, this);
    this.#open.set(output, usage);
    return usage;
  }

  leave(output: ResponseOutput): void {
    const usage = this.#open.get(output);
    if (usage === undefined) return;
    this.#open.delete(output);
    usage.hasLeft = true;
    usage.identityUsage.requests -= 1;
    this.#releaseIfDone(usage);
  }

  /** The handler has ended. */
  settle(usage: RequestUsage): void {
    usage.isBusy = false;
    this.#releaseIfDone(usage);
  }

  /** For a line connection, until `leaveLines`: it is not a request itself, but holds bytes and can leave some unsent. */
  enterLineConnection(output: ResponseOutput, identity: Identity): RequestUsage {
    this.leaveLineConnection(output);
    const usage = new RequestUsage(this.#usageOf(identity), this);
    this.#lineConnections.set(output, usage);
    return usage;
  }

  leaveLineConnection(output: ResponseOutput): void {
    const usage = this.#lineConnections.get(output);
    if (usage === undefined) return;
    this.#lineConnections.delete(output);
    this.release(usage);
    this.#forgetIfIdle(usage.identityUsage);
  }

  /**
   * False if the identity has left too many bytes unread, or would with this many more. A response that is larger than
   * the limit is sent once everything else has been read.
   */
  canBufferUnsent({ identityUsage }: RequestUsage, more = 0): boolean {
    const unsent = this.#unsentBytesOf(identityUsage);
    return unsent + more <= this.#limits.maxUnsentBytes || (unsent === 0 && more > 0);
  }

  #unsentBytesOf(identityUsage: object): number {
    let unsent = 0;
    for (const all of [this.#open, this.#lineConnections])
      for (const [one, place] of all) if (place.identityUsage === identityUsage) unsent += one.writableLength;
    return unsent;
  }

  reserve(usage: RequestUsage, bytes: number): boolean {
    const { identityUsage } = usage;
    // Nothing would release it.
    if (usage.hasLeft && !usage.isBusy) return false;
    // What is already in memory is not rejected because others arrived meanwhile.
    if (bytes <= 0) return true;
    const wish = {
      own: identityUsage.bytes + bytes,
      taken: this.#bytes + bytes,
      isOwner: identityUsage.isOwner,
    };
    if (!isWithinFairShare({ ...wish, max: this.#limits.maxHeldBytes })) return false;
    usage.bytes += bytes;
    identityUsage.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  release(usage: RequestUsage, bytes = usage.bytes): void {
    // It may have been released meanwhile.
    const less = Math.min(bytes, usage.bytes);
    this.#bytes -= less;
    usage.identityUsage.bytes -= less;
    usage.bytes -= less;
  }

  /** The response is complete but not fully sent: a client that does not read, or leaves too much unread, is cut off. */
  limitSlowReader(response: ServerResponse): void {
    const usage = this.#open.get(response);
    if (usage === undefined) return;
    if (this.canBufferUnsent(usage)) response.setTimeout(this.#limits.slowReadMs);
    else response.destroy();
  }

  #usageOf(identity: Identity): IdentityUsage {
    const key = identityOf(identity.caller);
    return this.#usageByIdentity.get(key) ?? this.#createUsage(key, identity);
  }

  #releaseIfDone(usage: RequestUsage): void {
    if (!usage.hasLeft || usage.isBusy) return;
    this.release(usage);
    this.#forgetIfIdle(usage.identityUsage);
  }

  #forgetIfIdle(identityUsage: IdentityUsage): void {
    if (
      identityUsage.requests === 0 &&
      identityUsage.bytes === 0 &&
      this.#usageByIdentity.size > MAX_IDLE_IDENTITIES
    )
      identityUsage.forget();
  }

  #createUsage(identity: string, { ended, isOwner = false }: Identity): IdentityUsage {
    const end = (): void => {
      identityUsage.forget();
      this.#cancelRequestsOf(identityUsage);
    };
    const identityUsage: IdentityUsage = {
      isOwner,
      requests: 0,
      bytes: 0,
      forget: () => {
        ended?.removeEventListener('abort', end);
        if (this.#usageByIdentity.get(identity) === identityUsage) this.#usageByIdentity.delete(identity);
      },
    };
    ended?.addEventListener('abort', end);
    this.#usageByIdentity.set(identity, identityUsage);
    return identityUsage;
  }

  #cancelRequestsOf(identityUsage: IdentityUsage): void {
    const all = [...this.#open].filter(([, place]) => place.identityUsage === identityUsage);
    for (const [, { onTokenEnded }] of all) onTokenEnded?.();
    setTimeout(() => {
      for (const [outlet, place] of all) {
        if (!this.#open.has(outlet)) continue;
        // If it does not end now, it may never end.
        place.isBusy = false;
        outlet.destroy();
      }
    }, CANCEL_GRACE_MS).unref();
  }
}
