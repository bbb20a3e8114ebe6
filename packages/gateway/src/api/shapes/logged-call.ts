/** A row of the log as the API tells it. */
import type { Row } from '@turnbuckle/store';
import * as z from 'zod/mini';

export const LOGGED_CALL = z.object({
  /** Counts up: the place in the log. */
  number: z.number(),
  id: z.string(),
  startedAt: z.string(),
  durationMs: z.number(),
  conversation: z.optional(z.string()),
  caller: z.optional(z.string()),
  server: z.string(),
  tool: z.string(),
  toolName: z.string(),
  kind: z.enum(['tool', 'resource', 'prompt']),
  outcome: z.enum(['ok', 'tool-error', 'failed']),
  code: z.optional(z.string()),
  error: z.optional(z.string()),
  attempts: z.number(),
  decision: z.optional(z.string()),
  reason: z.optional(z.string()),
  approval: z.optional(z.string()),
  era: z.optional(z.string()),
  energy: z.optional(z.number()),
  /** JSON, unless it ends in …: then not all of it was kept. */
  arguments: z.optional(z.string()),
  argumentsBytes: z.number(),
  /** What went to the server beside them, such as `_meta`. */
  alsoSent: z.optional(z.string()),
  result: z.optional(z.string()),
  resultBytes: z.number(),
});

export type LoggedCall = z.infer<typeof LOGGED_CALL>;

export const STATS = z.object({
  server: z.string(),
  calls: z.number(),
  failures: z.number(),
  failureRate: z.number(),
  meanMs: z.number(),
  p50Ms: z.number(),
  p95Ms: z.number(),
  maxMs: z.number(),
  lastUsedAt: z.string(),
  argumentsBytes: z.number(),
  resultBytes: z.number(),
});

const TIMES: ReadonlySet<string> = new Set(['started_at', 'last_used_at', 'at']);
/** What only the database needs. */
const INSIDE: ReadonlySet<string> = new Set(['success']);

/** Names as in the rest of the API, times as texts, and nothing where the log has nothing. */
export function toEntry(row: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name, value]) => value !== null && !INSIDE.has(name))
      .map(([name, value]) => [
        name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
        TIMES.has(name) ? new Date(Number(value)).toISOString() : value,
      ]),
  );
}

/** Undefined for a row that this release does not understand. */
export function toLoggedCall(row: Row): LoggedCall | undefined {
  const read = z.safeParse(LOGGED_CALL, toEntry(row));
  return read.success ? read.data : undefined;
}
