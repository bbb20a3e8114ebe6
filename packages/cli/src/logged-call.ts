/** A row of the log as the command shows it. */
import type { Row } from '@turnbuckle/store';

export interface LoggedCall {
  readonly number: number;
  readonly id: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly conversation: string | null;
  readonly caller: string | null;
  readonly server: string;
  readonly tool: string;
  readonly toolName: string;
  readonly kind: string;
  readonly outcome: string;
  readonly code: string | null;
  readonly error: string | null;
  readonly attempts: number;
  readonly decision: string | null;
  readonly reason: string | null;
  readonly approval: string | null;
  readonly era: string | null;
  readonly energy: number | null;
  /** JSON, unless it was cut off. */
  readonly arguments: string | null;
  readonly argumentsBytes: number;
  /** What went to the server beside them. */
  readonly alsoSent: string | null;
  readonly result: string | null;
  readonly resultBytes: number;
}

export function toLoggedCall(row: Row): LoggedCall {
  const text = (name: string): string | null => (row[name] == null ? null : String(row[name]));
  return {
    number: Number(row.number),
    id: String(row.id),
    startedAt: new Date(Number(row.started_at)).toISOString(),
    durationMs: Number(row.duration_ms),
    conversation: text('conversation'),
    caller: text('caller'),
    server: String(row.server),
    tool: String(row.tool),
    toolName: String(row.tool_name),
    kind: String(row.kind),
    outcome: String(row.outcome),
    code: text('code'),
    error: text('error'),
    attempts: Number(row.attempts),
    decision: text('decision'),
    reason: text('reason'),
    approval: text('approval'),
    era: text('era'),
    energy: row.energy == null ? null : Number(row.energy),
    arguments: text('arguments'),
    argumentsBytes: Number(row.arguments_bytes),
    alsoSent: text('also_sent'),
    result: text('result'),
    resultBytes: Number(row.result_bytes),
  };
}
