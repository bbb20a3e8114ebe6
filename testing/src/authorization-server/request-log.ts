import type { Route } from './fault.js';

/** One request at an authorization server. */
export interface LoggedRequest {
  readonly route: Route;
  readonly status: number;
  /** When the response was sent, in milliseconds since the start of this process. */
  readonly at: number;
  /** At the token endpoint. */
  readonly grantType?: string | undefined;
  /** The code of a refusal. */
  readonly error?: string | undefined;
  readonly clientId?: string | undefined;
  /** Unchanged, including secrets: for tests that search for leaks. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly authorization?: string | undefined;
}

/** The requests to an authorization server. */
export class RequestLog {
  readonly requests: LoggedRequest[] = [];

  record(request: LoggedRequest): void {
    this.requests.push(request);
  }

  /** The number of requests to a route; for the token endpoint, optionally of one grant type. */
  count(route: Route, grantType?: string): number {
    return this.#of(route, grantType).length;
  }

  /** The number of requests that were refused with this code. */
  refusals(error: string): number {
    return this.requests.filter((request) => request.error === error).length;
  }

  /** The number of tokens issued for this grant type. */
  granted(grantType: string): number {
    return this.#of('token', grantType).filter(({ status }) => status === 200).length;
  }

  clear(): void {
    this.requests.length = 0;
  }

  #of(route: Route, grantType: string | undefined): LoggedRequest[] {
    return this.requests.filter(
      (request) => request.route === route && (grantType === undefined || request.grantType === grantType),
    );
  }
}
