/** A call of the log as the API shows it: schema and description come from the store's table of columns. */
import { CALL_COLUMN_LIST, type CallColumn, fromRow, type Row, type ShownCall } from '@turnbuckle/store';
import * as z from 'zod/mini';

export type LoggedCall = ShownCall;

function toSchema({ type, values, required, description }: CallColumn): z.ZodMiniType {
  const value = values !== undefined ? z.enum(values) : type === 'number' ? z.number() : z.string();
  const schema: z.ZodMiniType = required ? value : z.optional(value);
  return schema.register(z.globalRegistry, { description });
}

const SHAPE = {
  number: z
    .number()
    .register(z.globalRegistry, { description: 'Position in the log. Newer calls have higher numbers.' }),
  ...Object.fromEntries(CALL_COLUMN_LIST.map((column) => [column.name, toSchema(column)])),
};

// Schema and type derive from one table, which zod cannot see.
export const LOGGED_CALL = z.object(SHAPE) as z.ZodMiniType as z.ZodMiniType<LoggedCall>;

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

const TIME_COLUMNS: ReadonlySet<string> = new Set(['last_used_at', 'at']);

/** Counts of the log: camel case, times in ISO 8601, no member without a value. */
export function toApiRow(row: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [
        name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
        TIME_COLUMNS.has(name) ? new Date(Number(value)).toISOString() : value,
      ]),
  );
}

/** Undefined for a row that this release does not understand. */
export function toLoggedCall(row: Row): LoggedCall | undefined {
  const read = z.safeParse(LOGGED_CALL, fromRow(row));
  return read.success ? read.data : undefined;
}
