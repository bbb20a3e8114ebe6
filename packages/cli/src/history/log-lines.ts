/** Calls of the log on the terminal. What servers and callers wrote is shown, never obeyed. */

import { CALL_COLUMN_LIST, CALL_COLUMNS, type CallColumnName, CONTENT_COLUMNS } from '@turnbuckle/store';
import type { Output } from '../terminal/output.js';
import { type TableOptions, textTable } from '../terminal/text-table.js';
import { formatDuration, formatTimestamp, formatTimestampShort } from '../terminal/time-format.js';
import { showLine, showText } from '../terminal/untrusted-text.js';
import type { LoggedCall } from './logged-call.js';

const MARKS = { ok: ['✓', 'green'], 'tool-error': ['!', 'yellow'], failed: ['✕', 'red'] } as const;

/** Who calls where no agent does, as rules name it. */
const HOST = 'host';

/** The names of the columns, for people. */
export const LOG_HEADER: readonly string[] = [
  'time',
  '',
  'call',
  'took',
  'caller',
  'id',
  'error or arguments',
];

/** On a narrow screen names give way, then callers: why a call failed says more. An id is there to be copied. */
export const logTableOptions = ({ width }: Pick<Output, 'width'>): TableOptions => ({
  width,
  shrink: [
    [2, 18],
    [4, 8],
    [5, 10],
    [2, 10],
  ],
  uncutColumns: [5],
  minLastColumnWidth: 16,
});

/** The cells of a line: when, how it ended, what, by whom, how long, its id, and what it was about. */
export function logRow(call: LoggedCall, { color, width }: Pick<Output, 'color' | 'width'>): string[] {
  const { startedAt, durationMs, caller, id } = call;
  const [mark, paint] = markOf(call);
  const time = Date.parse(startedAt);
  return [
    color.dim(Number.isFinite(width) ? formatTimestampShort(time, Date.now()) : formatTimestamp(time)),
    color[paint](mark),
    nameOf(call),
    formatDuration(durationMs),
    color.dim(showLine(caller ?? HOST, 30)),
    color.dim(showLine(id, 40)),
    summaryOf(call),
  ];
}

function markOf({ outcome }: LoggedCall): (typeof MARKS)[keyof typeof MARKS] {
  return outcome === 'ok' || outcome === 'tool-error' ? MARKS[outcome] : MARKS.failed;
}

/** A call by a name that no server has is for none. */
const nameOf = ({ server, tool }: LoggedCall): string =>
  server === '' ? showLine(tool, 40) : `${showLine(server, 30)} ${showLine(tool, 40)}`;

function summaryOf({ code, error, arguments: args, decision, reason }: LoggedCall): string {
  // What a caller is told of a tool that is hidden from it is not why.
  if (decision === 'deny') return showLine(`${code ?? ''} denied: ${reason ?? ''}`.trim(), 200);
  if (error !== null) return showLine(`${code ?? ''} ${error}`.trim(), 200);
  return args === null || args === '{}' ? '' : showLine(args, 200);
}

/** Columns that come first, in this order. All others follow in the order of the table. */
const LEADING: readonly CallColumnName[] = [
  'id',
  'startedAt',
  'tool',
  'outcome',
  'error',
  'durationMs',
  'attempts',
  'caller',
];
/** Columns that are a part of another line. */
const FOLDED: ReadonlySet<CallColumnName> = new Set([
  'server',
  'toolName',
  'kind',
  'code',
  'reason',
  'argumentsBytes',
  'resultBytes',
]);
const CONTENT: ReadonlySet<CallColumnName> = new Set(CONTENT_COLUMNS);
const DETAILS: readonly CallColumnName[] = [
  ...LEADING,
  ...CALL_COLUMN_LIST.map(({ name }) => name).filter(
    (name) => !LEADING.includes(name) && !FOLDED.has(name) && !CONTENT.has(name),
  ),
];

/** How a column is shown if not as it is; null: not at all. */
const FORMATS: Partial<Record<CallColumnName, (call: LoggedCall) => string | null>> = {
  startedAt: ({ startedAt }) => formatTimestamp(Date.parse(startedAt)),
  tool: ({ server, tool }) => `${server} ${tool}`.trim(),
  outcome: (call) =>
    `${markOf(call)[0]} ${[call.outcome, call.code].filter((word) => word !== null).join(' ')}`,
  durationMs: ({ durationMs }) => formatDuration(durationMs),
  attempts: ({ attempts }) => (attempts > 1 ? String(attempts) : null),
  caller: ({ caller }) => caller ?? `${HOST} (you)`,
  decision: ({ decision, reason }) => (decision === null ? null : `${decision}: ${reason ?? ''}`),
};

/** Everything that is kept of a call. */
export function showLoggedCall(call: LoggedCall, output: Output): void {
  const { color } = output;
  const [, paint] = markOf(call);
  const rows = DETAILS.flatMap((name) => {
    const value = formatColumn(call, name);
    if (value === null) return [];
    const label = name === 'tool' ? call.kind : CALL_COLUMNS[name].label;
    return [[color.dim(label), name === 'outcome' ? color[paint](showLine(value)) : showLine(value, 2_000)]];
  });
  for (const line of textTable(rows)) output.line(line);
  for (const name of CONTENT_COLUMNS)
    showJson(CALL_COLUMNS[name].label, { text: call[name], bytes: sizeOf(call, name) }, output);
}

function formatColumn(call: LoggedCall, name: CallColumnName): string | null {
  const format = FORMATS[name];
  if (format !== undefined) return format(call);
  const value = call[name];
  return value === null ? null : String(value);
}

const sizeOf = (call: LoggedCall, name: CallColumnName): number =>
  name === 'arguments' ? call.argumentsBytes : name === 'result' ? call.resultBytes : 0;

function showJson(
  name: string,
  { text, bytes }: { readonly text: string | null; readonly bytes: number },
  output: Output,
): void {
  if (text === null && bytes === 0) return;
  const isCut = text?.endsWith('…') === true;
  const size =
    text === null
      ? `not recorded, about ${bytes} characters`
      : isCut
        ? `only the beginning, about ${bytes} characters in total`
        : '';
  output.line(`\n${output.color.dim(size === '' ? name : `${name} (${size})`)}`);
  if (text !== null) output.line(showText(pretty(text)));
}

function pretty(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    // A number that would become another one by it is shown as it was kept.
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
