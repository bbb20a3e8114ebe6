/** The interface between a connection and the sign-in: headers for a request, and the reaction to a rejected one. */

export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
}

export type Credentials = Readonly<Record<string, string>>;

export interface AuthRefusal {
  readonly status: number;
  /** The `WWW-Authenticate` header. */
  readonly challenge: string | undefined;
  /** The headers of the rejected request. */
  readonly credentials: Credentials;
  /** How often this request was rejected before. */
  readonly retries: number;
}

export interface Authorizer {
  /** Synchronous if possible: it is on the path of every call. */
  headers(request: OutgoingRequest): Credentials | Promise<Credentials>;
  /** True: retry the request immediately. Rejects with the required user action otherwise. */
  handleRefusal(handleRefusal: AuthRefusal): Promise<boolean>;
  /** Some responses contain data for the next request. */
  observe?: ((url: URL, header: (name: string) => string | undefined) => void) | undefined;
}

/** Maximum number of retries of a rejected request. */
export const MAX_AUTH_RETRIES = 2;
