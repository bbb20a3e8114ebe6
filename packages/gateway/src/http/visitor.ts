/** Who comes in, and who knows that. */
import type { Caller } from 'turnbuckle';
import type { TokenAccess } from './access.js';

export interface Visitor {
  readonly caller: Caller;
  readonly access: ReadonlySet<TokenAccess>;
  /** Until when, in milliseconds since 1970; absent: until the token is revoked. */
  readonly expiresAt?: number | undefined;
  /** The token that this one comes from, where another token made it. */
  readonly root?: string | undefined;
}

/** What tells whom a token belongs to. */
export interface Credentials {
  /** From memory, at once; undefined when it is not known, or not known yet. */
  find(token: string): Visitor | undefined;
  /** A longer look at a token that is not known yet. It is asked so often only as wrong tokens are allowed. */
  verify?(token: string): Promise<Visitor | undefined>;
}
