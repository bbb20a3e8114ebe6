/** Who makes a request, and the interface that looks it up by token. */
import type { Caller } from 'turnbuckle';
import type { CancelSignal } from 'turnbuckle/host';
import type { TokenAccess } from './access.js';

export interface Identity {
  /** `identity` is that of the token, or of the subject at an issuer; `id` is only a name. */
  readonly caller: Caller;
  readonly access: ReadonlySet<TokenAccess>;
  /** The owner of the daemon, for whom some capacity is reserved. */
  readonly isOwner?: boolean | undefined;
  /** When the token expires, in milliseconds since 1970; absent: valid until revoked. */
  readonly expiresAt?: number | undefined;
  /**
   * Aborts when the only token of the identity is revoked or has expired: its sessions, calls and streams end. Absent
   * for a subject at an issuer, who can come back with another token; for streams see `onIdentityEnd`.
   */
  readonly ended?: CancelSignal | undefined;
  /** The root token, if another token created this one. */
  readonly root?: string | undefined;
}

/** Why a token is refused. */
export interface RefusedToken {
  readonly reason: 'unknown' | 'expired' | 'revoked';
  /** The name of the token, unless it is unknown. */
  readonly name?: string | undefined;
}

/** Looks up the identity behind a token. */
export interface Credentials {
  /** From memory, synchronously; undefined when the token is unknown, or not known yet. */
  find(token: string): Identity | undefined;
  /** A slower check of a token that is not known yet. Rate-limited by the limit for invalid tokens. */
  verify?(token: string): Promise<Identity | undefined>;
  /**
   * A quick look at the content of a token: true if only `verify` can tell whether it is valid. Such tokens are always
   * verified, a few at a time, regardless of how many invalid ones the same address sent.
   */
  isPlausible?(token: string): boolean;
  /** Why a token was refused; absent: it is unknown. */
  whyRefused?(token: string): RefusedToken;
}
