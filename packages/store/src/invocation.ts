/** The record of a call: what is kept of it, redacted and bounded before anything is written. */

export interface Invocation {
  readonly id: string;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly conversation?: string | undefined;
  readonly caller?: string | undefined;
  readonly server: string;
  readonly tool: string;
  readonly toolName: string;
  readonly kind: string;
  /** JSON, cut off at the limit. */
  readonly arguments?: string | undefined;
  readonly argumentsBytes: number;
  readonly result?: string | undefined;
  readonly resultBytes: number;
  readonly outcome: 'ok' | 'tool-error' | 'failed';
  readonly code?: string | undefined;
  readonly error?: string | undefined;
  readonly attempts: number;
  readonly decision?: string | undefined;
  readonly reason?: string | undefined;
  readonly era?: string | undefined;
  readonly energy?: number | undefined;
}

/** JSON of a value within a limit, and how long it would have been. */
export function boundedJson(
  value: unknown,
  limit: number,
): { readonly text: string | undefined; readonly bytes: number } {
  if (value === undefined) return { text: undefined, bytes: 0 };
  const text = JSON.stringify(value) ?? 'null';
  return { text: text.length > limit ? `${text.slice(0, limit)}…` : text, bytes: text.length };
}
