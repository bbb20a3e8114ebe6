/** The `limits` of a file: what servers and callers can make the host do. Meaning and defaults: servers/limits.ts. */
import * as z from 'zod/mini';
import { integer } from './numbers.js';

const DAY_MS = 24 * 3_600_000;
const KIB = 1_024;
const MIB = 1_024 * KIB;
const GIB = 1_024 * MIB;

const bytes = (most: number) => integer(KIB, most);
const milliseconds = integer(1, DAY_MS);

export const LIMITS_SCHEMA = z.partial(
  z.strictObject({
    maxServers: integer(1, 10_000),
    maxConnections: integer(1, 10_000),
    maxInFlight: integer(1, 100_000),
    maxQueued: integer(0, 100_000),
    maxMessageBytes: bytes(256 * MIB),
    // The parser reads no deeper.
    maxDepth: integer(1, 512),
    maxToolsPerServer: integer(1, 100_000),
    maxPages: integer(1, 10_000),
    maxDefinitionBytes: bytes(64 * MIB),
    maxListBytes: bytes(GIB),
    maxCatalogBytes: bytes(4 * GIB),
    notificationsPerSecond: integer(1, 100_000),
    unaskedBytesPerSecond: bytes(GIB),
    maxFloodMs: milliseconds,
    maxUnsentBytes: bytes(GIB),
    maxUnreadMs: milliseconds,
    maxSchemaBytes: bytes(16 * MIB),
    maxSchemaDepth: integer(1, 256),
    maxSchemaNodes: integer(1, 100_000),
    asksPerMinute: integer(1, 10_000),
    askBurst: integer(1, 10_000),
    maxQueuedAsks: integer(0, 10_000),
    askTimeoutMs: milliseconds,
    maxAskBytes: bytes(64 * MIB),
    maxSamplingTokens: integer(1, 10_000_000),
    maxSamplingMessages: integer(1, 10_000),
  }),
);
