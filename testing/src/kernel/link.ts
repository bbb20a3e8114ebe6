import type { Announcer, Behaviour, Peer } from './behaviour.js';
import type { Channel } from './channel.js';
import type { JsonObject, RequestId } from './json.js';
import type { Dialect, Era } from './revisions.js';

/** A request with its era, reply channel and signal. */
export interface Request {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly era: Era;
  readonly reply: Channel;
  readonly signal: AbortSignal;
}

/** The state of one link that methods read and change. */
export interface Link extends Peer {
  revision: string | undefined;
  clientCapabilities: JsonObject;
  readonly subscribedUris: Set<string>;
  /** Sends a request to the client (legacy era only) and returns the complete response. */
  question(method: string, params: JsonObject, channel: Channel): Promise<JsonObject>;
  /** Starts a modern subscription with the accepted filter. */
  listen(id: RequestId, filter: JsonObject, channel: Channel): void;
}

/** Hints on cachable modern results. */
export interface CacheHint {
  readonly ttlMs: number;
  readonly cacheScope: string;
}

/** The server behind all links. */
export interface Host extends Announcer {
  readonly behaviour: Behaviour;
  readonly dialect: Dialect;
  readonly cache: CacheHint;
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
}
