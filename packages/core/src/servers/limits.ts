/** Limits on what servers and callers can make the host do. Each can be configured; these are the defaults. */
import { DEFAULT_LIST_LIMITS, type ListLimits } from '../catalog/list-budget.js';
import { DEFAULT_SCHEMA_LIMITS, type SchemaLimits } from '../catalog/schemas/schema-limits.js';
import { DEFAULT_REQUEST_LIMITS, type RequestLimits } from '../connection/server-requests/request-guard.js';

export interface RuntimeLimits extends SchemaLimits, ListLimits, RequestLimits {
  readonly maxServers: number;
  /** Dedicated connections of one server. */
  readonly maxConnections: number;
  /** One message, on any transport. */
  readonly maxMessageBytes: number;
  readonly maxDepth: number;
  readonly maxToolsPerServer: number;
  readonly maxPages: number;
  readonly notificationsPerSecond: number;
  /** Per connection: unsolicited data that a server may send continuously. Above this it is slowed down. */
  readonly unaskedBytesPerSecond: number;
  /** A server that exceeds it for this long is stopped. */
  readonly maxFloodMs: number;
  /** Per connection: requests that wait until the server reads. Above this, large ones are rejected. */
  readonly maxUnsentBytes: number;
  /** A server that reads nothing for this long while data is waiting loses its connection. */
  readonly maxUnreadMs: number;
  /** Calls in flight of all servers together; each server also has its own limit. */
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
