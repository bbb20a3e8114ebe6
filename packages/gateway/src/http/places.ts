/** The requests that were let in and are not answered yet: whose they are, and what each of them holds here. */
import type { ServerResponse } from 'node:http';
import { identityOf } from 'turnbuckle';
import type { HttpLimits } from './http-limits.js';
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

/** One request. */
export class Place {
  readonly share: Share;
  /** Of its body. */
  bytes = 0;
  /** For whoever waits for the body: the token of the request is not good any more. */
  onEnded: (() => void) | undefined;
  readonly #places: Places;

  constructor(share: Share, places: Places) {
    this.share = share;
    this.#places = places;
  }

  /** So much more of its body is here; false when that is more than its identity may have in memory. */
  hold(bytes: number): boolean {
    return this.#places.hold(this, bytes);
  }
}

type PlaceLimits = Pick<HttpLimits, 'maxInFlight' | 'maxHeldBytes' | 'maxUnsentBytes' | 'slowReadMs'>;

export class Places {
  readonly #limits: PlaceLimits;
  readonly #open = new Map<ServerResponse, Place>();
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
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
  enter(response: ServerResponse, visitor: Visitor): Place {
    const identity = identityOf(visitor.caller);
    const share = this.#shares.get(identity) ?? this.#begin(identity, visitor);
    share.places += 1;
    const place = new Place(share, this);
    this.#open.set(response, place);
    return place;
  }

  leave(response: ServerResponse): void {
    const place = this.#open.get(response);
    if (place === undefined) return;
    this.#open.delete(response);
    const { share, bytes } = place;
    this.#bytes -= bytes;
    share.bytes -= bytes;
    share.places -= 1;
    if (share.places === 0 && this.#shares.size > MAX_IDLE) share.forget();
  }

  hold(place: Place, bytes: number): boolean {
    const { share } = place;
    const wish = { own: share.bytes + bytes, taken: this.#bytes + bytes, isOwner: share.isOwner };
    if (!mayTake({ ...wish, max: this.#limits.maxHeldBytes })) return false;
    place.bytes += bytes;
    share.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** All was said, and not all was taken: whoever does not read, or leaves too much with us, is cut off. */
  linger(response: ServerResponse): void {
    const share = this.#open.get(response)?.share;
    if (share === undefined) return;
    let unsent = 0;
    for (const [one, place] of this.#open) if (place.share === share) unsent += one.writableLength;
    if (unsent > this.#limits.maxUnsentBytes) response.destroy();
    else response.setTimeout(this.#limits.slowReadMs);
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
      for (const [response] of all) if (this.#open.has(response)) response.destroy();
    }, LEAVE_MS).unref();
  }
}
