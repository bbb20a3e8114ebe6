/** Calls of the log on the terminal. What servers and callers wrote is shown, never obeyed. */
import type { LoggedCall } from './logged-call.js';
import type { Output } from './output.js';
import { type TableOptions, textTable } from './text-table.js';
import { showDuration, showMoment, showMomentShort } from './time-words.js';
import { showLine, showText } from './untrusted-text.js';

const MARKS = { ok: ['✓', 'green'], 'tool-error': ['!', 'yellow'], failed: ['✕', 'red'] } as const;

/** Who calls where no agent does, as rules name it. */
const HOST = 'host';

/** The names of the columns, for people. */
export const LOG_HEAD: readonly string[] = ['time', '', 'call', 'took', 'caller', 'id', 'error or arguments'];

/** On a narrow screen names give way, then callers: why a call failed says more. An id is there to be copied. */
export const logTable = ({ width }: Pick<Output, 'width'>): TableOptions => ({
  width,
  shrink: [
    [2, 18],
    [4, 8],
    [5, 10],
    [2, 10],
  ],
  whole: [5],
  room: 16,
});

/** The cells of a line: when, how it ended, what, by whom, how long, its id, and what it was about. */
export function logRow(call: LoggedCall, { color, width }: Pick<Output, 'color' | 'width'>): string[] {
  const { startedAt, durationMs, caller, id } = call;
  const [mark, paint] = markOf(call);
  const time = Date.parse(startedAt);
  return [
    color.dim(Number.isFinite(width) ? showMomentShort(time, Date.now()) : showMoment(time)),
    color[paint](mark),
    nameOf(call),
    showDuration(durationMs),
    color.dim(showLine(caller ?? HOST, 30)),
    color.dim(showLine(id, 40)),
    aboutOf(call),
  ];
}

function markOf({ outcome }: LoggedCall): (typeof MARKS)[keyof typeof MARKS] {
  return outcome === 'ok' || outcome === 'tool-error' ? MARKS[outcome] : MARKS.failed;
}

/** A call by a name that no server has is for none. */
const nameOf = ({ server, tool }: LoggedCall): string =>
  server === '' ? showLine(tool, 40) : `${showLine(server, 30)} ${showLine(tool, 40)}`;

function aboutOf({ code, error, arguments: args, decision, reason }: LoggedCall): string {
  // What a caller is told of a tool that is hidden from it is not why.
  if (decision === 'deny') return showLine(`${code ?? ''} denied: ${reason ?? ''}`.trim(), 200);
  if (error !== null) return showLine(`${code ?? ''} ${error}`.trim(), 200);
  return args === null || args === '{}' ? '' : showLine(args, 200);
}

/** Everything that is kept of a call. */
export function showLoggedCall(call: LoggedCall, output: Output): void {
  const { color } = output;
  const [mark, paint] = markOf(call);
  const facts: ReadonlyArray<readonly [string, string | null]> = [
    ['call', call.id],
    ['time', showMoment(Date.parse(call.startedAt))],
    [call.kind, `${call.server} ${call.tool}`.trim()],
    ['outcome', `${mark} ${[call.outcome, call.code].filter((word) => word !== null).join(' ')}`],
    ['error', call.error],
    ['took', showDuration(call.durationMs)],
    ['attempts', call.attempts > 1 ? String(call.attempts) : null],
    ['caller', call.caller ?? `${HOST} (you)`],
    ['conversation', call.conversation],
    ['decision', call.decision === null ? null : `${call.decision}: ${call.reason ?? ''}`],
    ['approval', call.approval],
    ['era', call.era],
    ['energy', call.energy === null ? null : String(call.energy)],
  ];
  const rows = facts.flatMap(([name, value]) =>
    value === null
      ? []
      : [[color.dim(name), name === 'outcome' ? color[paint](showLine(value)) : showLine(value, 2_000)]],
  );
  for (const line of textTable(rows)) output.line(line);
  showJson('arguments', { text: call.arguments, bytes: call.argumentsBytes }, output);
  showJson('also sent', { text: call.alsoSent, bytes: 0 }, output);
  showJson('result', { text: call.result, bytes: call.resultBytes }, output);
}

function showJson(
  name: string,
  { text, bytes }: { readonly text: string | null; readonly bytes: number },
  output: Output,
): void {
  if (text === null && bytes === 0) return;
  const isCut = text?.endsWith('…') === true;
  const size =
    text === null
      ? `not kept, about ${bytes} characters`
      : isCut
        ? `the beginning of about ${bytes} characters`
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
