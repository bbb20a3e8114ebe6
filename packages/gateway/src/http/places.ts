/** The requests that were let in and are not answered yet: whose they are, and what each of them holds here. */
import type { ServerResponse } from 'node:http';
import { identityOf } from 'turnbuckle';
import type { SharedText } from './answer-text.js';
import type { HttpLimits } from './http-limits.js';
import { LargeAnswers } from './large-answers.js';
import { mayTake } from './shares.js';
import type { Visitor } from './visitor.js';

/** What one identity has of everything. */
interface Share {
  readonly isOwner: boolean;
  readonly forget: () => void;
  places: number;
  bytes: number;
}

/** Shares of those who have nothing open are kept up to so many: making them anew for each request costs more. */
const MAX_IDLE = 1_000;
/** When a token ends, its requests are cancelled; those that have not ended by themselves after this are broken off. */
const LEAVE_MS = 1_000;

/** What an answer goes out on. */
export interface Outlet {
  /** In bytes: said, and not taken yet. */
  readonly writableLength: number;
  destroy(): unknown;
}

/** One request, or what has come of one on a connection of lines. */
export class Place {
  readonly share: Share;
  /** Of its body, and of answers that cannot leave yet. */
  bytes = 0;
  /** For whoever waits for the body: the token of the request is not good any more. */
  onEnded: (() => void) | undefined;
  /** Somebody works on its request: what it holds is here until that ends, also when its client has left. */
  isBusy = false;
  isLeft = false;
  readonly #places: Places;

  constructor(share: Share, places: Places) {
    this.share = share;
    this.#places = places;
  }

  /** So much more of its body is here; false when that is more than its identity may have in memory. */
  hold(bytes: number): boolean {
    return this.#places.hold(this, bytes);
  }

  /** What was held, or so much of it, is not here any more. */
  letGo(bytes = this.bytes): void {
    this.#places.letGo(this, bytes);
  }

  /** Whether so much more may be written to who may not read it. */
  mayLeaveUnsent(bytes: number): boolean {
    return this.#places.mayLeaveUnsent(this, bytes);
  }

  /** Its turn to write what many are sent: true now or later; false when it is not to be written. */
  turnFor(text: SharedText, isOpen: () => boolean): boolean | Promise<boolean> {
    const { byteLength: bytes, shared } = text;
    return this.#places.large.take({ share: this.share, bytes, shared, isOpen });
  }
}

type PlaceLimits = Pick<HttpLimits, 'maxInFlight' | 'maxHeldBytes' | 'maxUnsentBytes' | 'slowReadMs'>;

export class Places {
  readonly #limits: PlaceLimits;
  readonly #open = new Map<Outlet, Place>();
  /** Connections of lines: each of their requests has a place of its own. */
  readonly #lines = new Map<Outlet, Place>();
  readonly #shares = new Map<string, Share>();
  readonly large: LargeAnswers;
  #bytes = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
    this.large = new LargeAnswers({
      maxUnsentBytes: limits.maxUnsentBytes,
      maxWaitMs: limits.slowReadMs,
      unsentOf: (share) => this.#unsentOf(share),
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether there is room for one more request of this visitor. */
  hasRoom({ caller, isOwner = false }: Visitor): boolean {
    const own = this.#shares.get(identityOf(caller))?.places ?? 0;
    return mayTake({ own, taken: this.#open.size, max: this.#limits.maxInFlight, isOwner });
  }

  /** Until `leave`. */
  enter(outlet: Outlet, visitor: Visitor): Place {
    const share = this.#shareOf(visitor);
    share.places += 1;
    const place = new Place(share, this);
    this.#open.set(outlet, place);
    return place;
  }

  leave(outlet: Outlet): void {
    const place = this.#open.get(outlet);
    if (place === undefined) return;
    this.#open.delete(outlet);
    place.isLeft = true;
    place.share.places -= 1;
    this.#release(place);
  }

  /** Nobody works on its request any more. */
  settle(place: Place): void {
    place.isBusy = false;
    this.#release(place);
  }

  /** For a connection of lines, until `leaveLines`: it is no request itself, but holds bytes, and leaves some unsent. */
  enterLines(outlet: Outlet, visitor: Visitor): Place {
    this.leaveLines(outlet);
    const place = new Place(this.#shareOf(visitor), this);
    this.#lines.set(outlet, place);
    return place;
  }

  leaveLines(outlet: Outlet): void {
    const place = this.#lines.get(outlet);
    if (place === undefined) return;
    this.#lines.delete(outlet);
    this.letGo(place);
    this.#tidy(place.share);
  }

  /**
   * False when its identity has left too much unread of all that it was told, or would with so much more. What is larger
   * than that by itself is told to who has read everything else.
   */
  mayLeaveUnsent({ share }: Place, more = 0): boolean {
    const unsent = this.#unsentOf(share);
    return unsent + more <= this.#limits.maxUnsentBytes || (unsent === 0 && more > 0);
  }

  #unsentOf(share: object): number {
    let unsent = 0;
    for (const all of [this.#open, this.#lines])
      for (const [one, place] of all) if (place.share === share) unsent += one.writableLength;
    return unsent;
  }

  hold(place: Place, bytes: number): boolean {
    const { share } = place;
    // Nothing would let go of it.
    if (place.isLeft && !place.isBusy) return false;
    // What is here already is not refused because others came meanwhile.
    if (bytes <= 0) return true;
    const wish = { own: share.bytes + bytes, taken: this.#bytes + bytes, isOwner: share.isOwner };
    if (!mayTake({ ...wish, max: this.#limits.maxHeldBytes })) return false;
    place.bytes += bytes;
    share.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  letGo(place: Place, bytes = place.bytes): void {
    // It may have left meanwhile, and everything with it.
    const less = Math.min(bytes, place.bytes);
    this.#bytes -= less;
    place.share.bytes -= less;
    place.bytes -= less;
  }

  /** All was said, and not all was taken: whoever does not read, or leaves too much with us, is cut off. */
  linger(response: ServerResponse): void {
    const place = this.#open.get(response);
    if (place === undefined) return;
    if (this.mayLeaveUnsent(place)) response.setTimeout(this.#limits.slowReadMs);
    else response.destroy();
  }

  #shareOf(visitor: Visitor): Share {
    const identity = identityOf(visitor.caller);
    return this.#shares.get(identity) ?? this.#begin(identity, visitor);
  }

  #release(place: Place): void {
    if (!place.isLeft || place.isBusy) return;
    this.letGo(place);
    this.#tidy(place.share);
  }

  #tidy(share: Share): void {
    if (share.places === 0 && share.bytes === 0 && this.#shares.size > MAX_IDLE) share.forget();
  }

  #begin(identity: string, { ended, isOwner = false }: Visitor): Share {
    const end = (): void => {
      share.forget();
      this.#end(share);
    };
    const share: Share = {
      isOwner,
      places: 0,
      bytes: 0,
      forget: () => {
        ended?.removeEventListener('abort', end);
        if (this.#shares.get(identity) === share) this.#shares.delete(identity);
      },
    };
    ended?.addEventListener('abort', end);
    this.#shares.set(identity, share);
    return share;
  }

  #end(share: Share): void {
    const all = [...this.#open].filter(([, place]) => place.share === share);
    for (const [, { onEnded }] of all) onEnded?.();
    setTimeout(() => {
      for (const [outlet, place] of all) {
        if (!this.#open.has(outlet)) continue;
        // Who does not end now may never do.
        place.isBusy = false;
        outlet.destroy();
      }
    }, LEAVE_MS).unref();
  }
}
