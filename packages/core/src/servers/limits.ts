/** Bounds on what servers and callers may make the host do. Each can be set; these are the defaults. */
import { DEFAULT_LIST_LIMITS, type ListLimits } from './catalog/list-room.js';
import { DEFAULT_SCHEMA_LIMITS, type SchemaLimits } from './catalog/schema-limits.js';
import { DEFAULT_REQUEST_LIMITS, type RequestLimits } from './connection/request-guard.js';

export interface RuntimeLimits extends SchemaLimits, ListLimits, RequestLimits {
  readonly maxServers: number;
  /** Of one server that its callers do not share: connections of agents or sessions. */
  readonly maxConnections: number;
  /** One message, on any transport. */
  readonly maxMessageBytes: number;
  readonly maxDepth: number;
  readonly maxToolsPerServer: number;
  readonly maxPages: number;
  readonly notificationsPerSecond: number;
  /** Of one connection: what a server may send for ever without having been asked. Above it, it has to wait. */
  readonly unaskedBytesPerSecond: number;
  /** A server that sends more than that for so long is stopped. */
  readonly maxFloodMs: number;
  /** Of one connection: requests that wait until the server reads. Above it, large ones are refused. */
  readonly maxUnsentBytes: number;
  /** A server that reads nothing of what waits for so long has lost its connection. */
  readonly maxUnreadMs: number;
  /** Calls in flight, all servers together; each server has its own limit in its configuration. */
  readonly maxInFlight: number;
  readonly maxQueued: number;
}

export const DEFAULT_LIMITS: RuntimeLimits = {
  ...DEFAULT_SCHEMA_LIMITS,
  ...DEFAULT_LIST_LIMITS,
  ...DEFAULT_REQUEST_LIMITS,
  maxServers: 200,
  maxConnections: 64,
  maxMessageBytes: 10 * 1_024 * 1_024,
  maxDepth: 200,
  maxToolsPerServer: 1_000,
  maxPages: 64,
  notificationsPerSecond: 100,
  unaskedBytesPerSecond: 4 * 1_024 * 1_024,
  maxFloodMs: 30_000,
  maxUnsentBytes: 64 * 1_024 * 1_024,
  maxUnreadMs: 60_000,
  maxInFlight: 1_000,
  maxQueued: 256,
};
