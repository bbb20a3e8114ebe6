import type { Route } from './fault.js';

/** One request at an authorization server. */
export interface Noted {
  readonly route: Route;
  readonly status: number;
  /** When it was answered, in milliseconds of this process. */
  readonly at: number;
  /** At the token endpoint. */
  readonly grantType?: string | undefined;
  /** The code of a refusal. */
  readonly error?: string | undefined;
  readonly clientId?: string | undefined;
  /** As given, secrets included: for tests that look for what should not be there. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly authorization?: string | undefined;
}

/** What an authorization server was asked for. */
export class Tally {
  readonly requests: Noted[] = [];

  note(request: Noted): void {
    this.requests.push(request);
  }

  /** Requests at a route; of the token endpoint those for one kind of grant. */
  count(route: Route, grantType?: string): number {
    return this.#of(route, grantType).length;
  }

  /** Those that were refused with this code. */
  refusals(error: string): number {
    return this.requests.filter((request) => request.error === error).length;
  }

  /** Tokens that were given for this kind of grant. */
  granted(grantType: string): number {
    return this.#of('token', grantType).filter(({ status }) => status === 200).length;
  }

  clear(): void {
    this.requests.length = 0;
  }

  #of(route: Route, grantType: string | undefined): Noted[] {
    return this.requests.filter(
      (request) => request.route === route && (grantType === undefined || request.grantType === grantType),
    );
  }
}
