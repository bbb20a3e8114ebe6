/** After a sign-in that did not help, no new one is requested for a while. */
import type { TurnbuckleError } from '../errors.js';

const COOLDOWN_MS = 5 * 60_000;
/** How long a call may have been in flight. */
const RECENT_SIGN_IN_MS = 5_000;
const MAX_COOLDOWNS = 1_000;

export class SignInCooldown {
  readonly #now: () => number;
  readonly #until = new Map<string, number>();
  readonly #signedInAt = new Map<string, number>();

  /** `now` from a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The server rejects for the same reason right after a sign-in: another one will not help. */
  start(server: string, error: TurnbuckleError): void {
    if (this.#until.size >= MAX_COOLDOWNS) this.#until.clear();
    this.#until.set(keyOf(server, error), this.#now() + COOLDOWN_MS);
  }

  isActive(server: string, error: TurnbuckleError): boolean {
    return this.#now() < (this.#until.get(keyOf(server, error)) ?? Number.NEGATIVE_INFINITY);
  }

  recordSignIn(server: string): void {
    this.#signedInAt.set(server, this.#now());
  }

  /** So recent that a rejection may be older. */
  hasRecentSignIn(server: string): boolean {
    return this.#now() - (this.#signedInAt.get(server) ?? Number.NEGATIVE_INFINITY) < RECENT_SIGN_IN_MS;
  }

  /** The user signed in deliberately. */
  clear(server: string): void {
    for (const key of this.#until.keys()) if (key.startsWith(prefixOf(server))) this.#until.delete(key);
  }
}

const prefixOf = (server: string): string => `${JSON.stringify(server)} `;

/** A request for more scopes is tracked separately from a missing sign-in. */
const keyOf = (server: string, { code, data }: TurnbuckleError): string =>
  `${prefixOf(server)}${code} ${typeof data?.scope === 'string' ? data.scope : ''}`;
