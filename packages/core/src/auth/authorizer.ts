/** What a connection needs to know about signing in: headers for a request, and what to do when it is refused. */

export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
}

export type Credentials = Readonly<Record<string, string>>;

export interface Refused {
  readonly status: number;
  /** The `WWW-Authenticate` header. */
  readonly challenge: string | undefined;
  /** What the refused request carried. */
  readonly credentials: Credentials;
  /** How often this request was refused before. */
  readonly round: number;
}

export interface Authorizer {
  /** No promise when nothing has to be waited for: it is on the path of every call. */
  headers(request: OutgoingRequest): Credentials | Promise<Credentials>;
  /** True: the request is worth making again at once. Rejects with what somebody has to do otherwise. */
  refused(refused: Refused): Promise<boolean>;
  /** Some answers carry what the next request needs. */
  observe?: ((url: URL, header: (name: string) => string | undefined) => void) | undefined;
}

/** A request is refused, helped and made again at most this often. */
export const MAX_ROUNDS = 2;
