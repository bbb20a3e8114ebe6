/** After a sign-in that did not help, nobody is asked for another one for a while. */
import type { TurnbuckleError } from '../errors.js';

const REST_MS = 5 * 60_000;
/** A call may have been on its way for so long. */
const ANEW_MS = 5_000;
const MAX_KNOWN = 1_000;

export class SignInRest {
  readonly #now: () => number;
  readonly #until = new Map<string, number>();
  readonly #signedInAt = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The server refuses for the same reason right after a sign-in: another one will not help either. */
  begin(server: string, error: TurnbuckleError): void {
    if (this.#until.size >= MAX_KNOWN) this.#until.clear();
    this.#until.set(keyOf(server, error), this.#now() + REST_MS);
  }

  isOn(server: string, error: TurnbuckleError): boolean {
    return this.#now() < (this.#until.get(keyOf(server, error)) ?? Number.NEGATIVE_INFINITY);
  }

  signedIn(server: string): void {
    this.#signedInAt.set(server, this.#now());
  }

  /** So short ago that a refusal may be older. */
  isSignedInAnew(server: string): boolean {
    return this.#now() - (this.#signedInAt.get(server) ?? Number.NEGATIVE_INFINITY) < ANEW_MS;
  }

  /** Somebody signed in who meant to. */
  end(server: string): void {
    for (const key of this.#until.keys()) if (key.startsWith(prefixOf(server))) this.#until.delete(key);
  }
}

const prefixOf = (server: string): string => `${JSON.stringify(server)} `;

/** Being asked for more is another matter than not being let in at all. */
const keyOf = (server: string, { code, data }: TurnbuckleError): string =>
  `${prefixOf(server)}${code} ${typeof data?.scope === 'string' ? data.scope : ''}`;
