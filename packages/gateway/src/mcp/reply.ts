/** The way back to a client for one of its requests: perhaps messages on the way, then the answer. */
export interface Reply {
  /** False: nothing but the answer can be sent. */
  readonly canStream: boolean;
  /** A message that belongs to the request and comes before its answer. */
  send(text: string): void;
  /** The answer; `http` is its status where there is one. */
  finish(text: string, http?: number): void;
}
