/**
 * The one declaration of a logged call. The journal line, the database row, the API's schema, the JSON and the lines of the
 * command line derive from this table. A new column needs a row here, a step in migrations.ts, and a value from whatever
 * appends records.
 */

export interface CallColumn {
  /** Name in the database. */
  readonly column: string;
  /** `time`: milliseconds since 1970, shown as ISO 8601. */
  readonly type: 'text' | 'number' | 'time';
  readonly required: boolean;
  /** Heading for people. */
  readonly label: string;
  /** Description in the API's document. */
  readonly description: string;
  /** The possible values of a text. */
  readonly values?: readonly string[];
  /** Data of the caller or the server, as JSON. Truncated at a limit, and dropped when the journal is almost full. */
  readonly isContent?: boolean;
  /** Name in journals of the previous release. */
  readonly formerName?: string;
}

export const CALL_COLUMNS = {
  id: {
    column: 'id',
    type: 'text',
    required: true,
    label: 'call',
    description: 'Request id of the call, chosen by the caller. Not necessarily unique.',
  },
  startedAt: {
    column: 'started_at',
    type: 'time',
    required: true,
    label: 'time',
    description: 'When the call started.',
  },
  durationMs: {
    column: 'duration_ms',
    type: 'number',
    required: true,
    label: 'took',
    description: 'Duration in milliseconds, without the time spent waiting for approval.',
  },
  run: {
    column: 'run',
    type: 'text',
    required: false,
    label: 'run',
    description: "Run that the call belongs to, such as the caller's session.",
    formerName: 'conversation',
  },
  caller: {
    column: 'caller',
    type: 'text',
    required: false,
    label: 'caller',
    description: 'Id of the agent. Absent if the host made the call.',
  },
  server: {
    column: 'server',
    type: 'text',
    required: true,
    label: 'server',
    description: 'Name of the server. Empty if no server has the tool.',
  },
  tool: {
    column: 'tool',
    type: 'text',
    required: true,
    label: 'tool',
    description: 'Name that the server uses for the tool or prompt, or the URI of the resource.',
  },
  toolName: {
    column: 'tool_name',
    type: 'text',
    required: true,
    label: 'tool name',
    description: 'Name of the tool as agents see it.',
  },
  kind: {
    column: 'kind',
    type: 'text',
    required: true,
    label: 'kind',
    description: 'What was called.',
    values: ['tool', 'resource', 'prompt'],
  },
  outcome: {
    column: 'outcome',
    type: 'text',
    required: true,
    label: 'outcome',
    description:
      'How the call ended: "ok", "tool-error" (the tool returned an error) or "failed" (there is no result).',
    values: ['ok', 'tool-error', 'failed'],
  },
  code: {
    column: 'code',
    type: 'text',
    required: false,
    label: 'code',
    description: 'Error code.',
  },
  error: {
    column: 'error',
    type: 'text',
    required: false,
    label: 'error',
    description: 'Error message.',
  },
  attempts: {
    column: 'attempts',
    type: 'number',
    required: true,
    label: 'attempts',
    description: 'How many times the call was sent.',
  },
  decision: {
    column: 'decision',
    type: 'text',
    required: false,
    label: 'decision',
    description: 'Policy decision: "allow", "ask" or "deny".',
  },
  reason: {
    column: 'reason',
    type: 'text',
    required: false,
    label: 'reason',
    description: 'Reason for the decision.',
  },
  approval: {
    column: 'approval',
    type: 'text',
    required: false,
    label: 'approval',
    description: 'Answer to the approval request, and who gave it.',
  },
  era: {
    column: 'era',
    type: 'text',
    required: false,
    label: 'era',
    description: 'MCP protocol generation: "legacy" (before revision 2026-07-28) or "modern".',
  },
  energy: {
    column: 'energy',
    type: 'number',
    required: false,
    label: 'energy',
    description: 'Energy that the call cost. Absent if it was not sent to a server.',
  },
  arguments: {
    column: 'arguments',
    type: 'text',
    required: false,
    label: 'arguments',
    description: 'Arguments as JSON. Truncated if the text ends in "…".',
    isContent: true,
  },
  argumentsBytes: {
    column: 'arguments_bytes',
    type: 'number',
    required: true,
    label: 'size of the arguments',
    description: 'Approximate size of the arguments before they were truncated.',
  },
  alsoSent: {
    column: 'also_sent',
    type: 'text',
    required: false,
    label: 'also sent',
    description:
      'What was sent in addition to the arguments, such as _meta, as JSON. Truncated if the text ends in "…".',
    isContent: true,
  },
  result: {
    column: 'result',
    type: 'text',
    required: false,
    label: 'result',
    description: 'Result as JSON. Truncated if the text ends in "…".',
    isContent: true,
  },
  resultBytes: {
    column: 'result_bytes',
    type: 'number',
    required: true,
    label: 'size of the result',
    description: 'Approximate size of the result before it was truncated.',
  },
} as const satisfies Readonly<Record<string, CallColumn>>;

type Columns = typeof CALL_COLUMNS;
export type CallColumnName = keyof Columns;
type RequiredName = {
  [Name in CallColumnName]: Columns[Name]['required'] extends true ? Name : never;
}[CallColumnName];
type OptionalName = Exclude<CallColumnName, RequiredName>;

type ValueOf<Column, Time> = Column extends { readonly values: readonly (infer Value)[] }
  ? Value
  : Column extends { readonly type: 'text' }
    ? string
    : Column extends { readonly type: 'time' }
      ? Time
      : number;

/** What is kept of a call; redacted and truncated before it is written. */
export type CallRecord = { readonly [Name in RequiredName]: ValueOf<Columns[Name], number> } & {
  readonly [Name in OptionalName]?: ValueOf<Columns[Name], number> | undefined;
};

/** A record as it is shown: `number` is its place in the log, times are ISO 8601. */
export type ShownCall = { readonly number: number } & {
  readonly [Name in RequiredName]: ValueOf<Columns[Name], string>;
} & { readonly [Name in OptionalName]?: ValueOf<Columns[Name], string> | undefined };

/** The table as a list. */
export const CALL_COLUMN_LIST = Object.entries<CallColumn>(CALL_COLUMNS).map(([name, column]) => ({
  // Object.entries forgets the names.
  name: name as CallColumnName,
  ...column,
}));

export const CONTENT_COLUMNS = CALL_COLUMN_LIST.filter(({ isContent }) => isContent === true).map(
  ({ name }) => name,
) as readonly {
  [Name in CallColumnName]: Columns[Name] extends { isContent: true } ? Name : never;
}[CallColumnName][];

type Cell = string | number | bigint | null | Uint8Array;

/** The values of a database row under the names of the record. Columns without a value are left out. */
export function fromRow(row: Readonly<Record<string, Cell>>): Record<string, string | number> {
  const call: Record<string, string | number> = { number: Number(row.number) };
  for (const { name, column, type } of CALL_COLUMN_LIST) {
    const value = row[column];
    if (value === null || value === undefined) continue;
    call[name] =
      type === 'text'
        ? String(value)
        : type === 'time'
          ? new Date(Number(value)).toISOString()
          : Number(value);
  }
  return call;
}
