/** Who comes in, and who knows that. */
import type { Caller, CancelSignal } from 'turnbuckle';
import type { TokenAccess } from './access.js';

export interface Visitor {
  /** Its identity is that of the token, or of the subject at an issuer; its id is only a name. */
  readonly caller: Caller;
  readonly access: ReadonlySet<TokenAccess>;
  /** The owner of the daemon: places are kept for it. */
  readonly isOwner?: boolean | undefined;
  /** Until when the token is good, in milliseconds since 1970; absent: until it is revoked. */
  readonly expiresAt?: number | undefined;
  /**
   * Aborts when the identity is over, since its only token is revoked or has expired: sessions, calls and streams
   * end. Absent for a subject at an issuer, who comes back with another token; see `onVisitorEnd` for streams.
   */
  readonly ended?: CancelSignal | undefined;
  /** The token that this one comes from, where another token made it. */
  readonly root?: string | undefined;
}

/** What tells whom a token belongs to. */
export interface Credentials {
  /** From memory, at once; undefined when it is not known, or not known yet. */
  find(token: string): Visitor | undefined;
  /** A longer look at a token that is not known yet. It is asked so often only as wrong tokens are allowed. */
  verify?(token: string): Promise<Visitor | undefined>;
  /**
   * A quick look at what a token says of itself: true where only a longer look can tell. Those are always looked at,
   * a few at a time, whatever wrong ones came from the same address.
   */
  isPlausible?(token: string): boolean;
}
