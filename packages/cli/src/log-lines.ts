/** Calls of the log on the terminal. What servers and callers wrote is shown, never obeyed. */
import type { LoggedCall } from './logged-call.js';
import type { Output } from './output.js';
import { textTable } from './text-table.js';
import { showDuration } from './time-words.js';
import { showLine, showText } from './untrusted-text.js';

const MARKS = { ok: ['✓', 'green'], 'tool-error': ['!', 'yellow'], failed: ['✕', 'red'] } as const;

/** The cells of a line: when, how it ended, what, by whom, how long, its id, and what it was about. */
export function logRow(call: LoggedCall, { color }: Pick<Output, 'color'>): string[] {
  const { startedAt, server, tool, durationMs, caller, id } = call;
  const [mark, paint] = markOf(call);
  return [
    color.dim(startedAt.replace('T', ' ').slice(0, 19)),
    color[paint](mark),
    `${showLine(server, 30)} ${showLine(tool, 40)}`,
    showDuration(durationMs),
    color.dim(caller === null ? '-' : showLine(caller, 30)),
    color.dim(showLine(id, 40)),
    aboutOf(call),
  ];
}

function markOf({ outcome }: LoggedCall): (typeof MARKS)[keyof typeof MARKS] {
  return outcome === 'ok' || outcome === 'tool-error' ? MARKS[outcome] : MARKS.failed;
}

function aboutOf({ code, error, arguments: args }: LoggedCall): string {
  if (error !== null) return showLine(`${code ?? ''} ${error}`.trim(), 200);
  return args === null || args === '{}' ? '' : showLine(args, 200);
}

/** Everything that is kept of a call. */
export function showLoggedCall(call: LoggedCall, output: Output): void {
  const { color } = output;
  const [mark, paint] = markOf(call);
  const facts: ReadonlyArray<readonly [string, string | null]> = [
    ['call', call.id],
    ['time', call.startedAt],
    [call.kind, `${call.server} ${call.tool}`],
    ['outcome', `${mark} ${[call.outcome, call.code].filter((word) => word !== null).join(' ')}`],
    ['error', call.error],
    ['took', showDuration(call.durationMs)],
    ['attempts', call.attempts > 1 ? String(call.attempts) : null],
    ['caller', call.caller ?? 'the host itself'],
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
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
