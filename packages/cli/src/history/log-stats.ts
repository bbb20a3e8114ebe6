/** The numbers that stats shows, collected from the log. */
import type { AnalyticsOrder, LogReader, Row } from '@turnbuckle/store';
import { toBuckets } from '../terminal/plot.js';

export interface ToolStats {
  readonly server: string;
  readonly tool: string;
  readonly calls: number;
  readonly failures: number;
  readonly failureRate: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  readonly lastUsedAt: string;
}

export interface ServerStats {
  readonly name: string;
  readonly enabled: boolean;
  readonly removed: boolean;
  /** In the time that was asked for. */
  readonly calls: number;
  readonly failures: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Ever. */
  readonly totalCalls: number;
  readonly lastUsedAt: string | null;
  readonly tools: number | null;
  /** What its list of tools costs a model, about. */
  readonly toolTokens: number | null;
}

export interface Stats {
  readonly since: string;
  readonly until: string;
  readonly calls: number;
  readonly failures: number;
  /** Calls in equal spans from `since` to `until`. */
  readonly overTime: readonly number[];
  readonly tools: readonly ToolStats[];
  readonly servers: readonly ServerStats[];
  /** Switched on, and not called in that time. */
  readonly unused: readonly string[];
}

const BUCKET_COUNT = 48;

export function collectStats(
  log: LogReader,
  {
    now,
    since,
    order,
    server,
  }: { now: number; since: number; order: AnalyticsOrder; server: string | undefined },
): Stats {
  const isMine = (name: unknown): boolean => server === undefined || name === server;
  const spanMs = Math.max((now - since) / BUCKET_COUNT, 1_000);
  const used = log.serverAnalytics(since).filter((row) => isMine(row.server));
  const points = log
    .callsOverTime(since, spanMs, { server })
    .map(({ at, calls }) => ({ at: Number(at), value: Number(calls) }));
  return {
    since: iso(since) ?? '',
    until: iso(now) ?? '',
    calls: sum(used, 'calls'),
    failures: sum(used, 'failures'),
    overTime: toBuckets(points, { from: since, spanMs, count: BUCKET_COUNT }),
    tools: log
      .toolAnalytics(since, order)
      .filter((row) => isMine(row.server))
      .map(toToolStats),
    servers: log
      .servers()
      .filter((row) => isMine(row.name))
      .map((row) =>
        toServerStats(
          row,
          used.find(({ server: name }) => name === row.name),
        ),
      ),
    unused: log.unusedServers(since).flatMap(({ name }) => (isMine(name) ? [String(name)] : [])),
  };
}

const toToolStats = (row: Row): ToolStats => ({
  server: String(row.server),
  tool: String(row.tool),
  calls: Number(row.calls),
  failures: Number(row.failures),
  failureRate: Number(row.failure_rate),
  p50Ms: Number(row.p50_ms),
  p95Ms: Number(row.p95_ms),
  maxMs: Number(row.max_ms),
  lastUsedAt: iso(Number(row.last_used_at)) ?? '',
});

const toServerStats = (row: Row, used: Row | undefined): ServerStats => ({
  name: String(row.name),
  enabled: row.enabled === 1,
  removed: row.removed_at !== null,
  calls: Number(used?.calls ?? 0),
  failures: Number(used?.failures ?? 0),
  p50Ms: numberOrNull(used?.p50_ms),
  p95Ms: numberOrNull(used?.p95_ms),
  totalCalls: Number(row.calls),
  lastUsedAt: row.last_used_at == null ? null : iso(Number(row.last_used_at)),
  tools: numberOrNull(row.tools),
  toolTokens: numberOrNull(row.tool_tokens),
});

const numberOrNull = (value: unknown): number | null => (value == null ? null : Number(value));

const sum = (rows: readonly Row[], name: string): number =>
  rows.reduce((total, row) => total + Number(row[name]), 0);

/** Null for what is no time that a date can be. */
const iso = (time: number): string | null =>
  Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : null;
