/** Asks the person at the terminal whether a call may be made: one question after the other, no is the default. */
import type { ApprovalAnswer, ApprovalRequest, Approve } from 'turnbuckle';
import { createSerialQueue } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { CTRL_C, CTRL_D, ENTER, ESCAPE, type Keyboard, openKeyboard } from '../terminal/keyboard.js';
import type { Output } from '../terminal/output.js';
import {
  alsoSentLines,
  annotationLine,
  answerText,
  argumentLines,
  changeLines,
  factLines,
  titleOf,
  truncationLines,
  wrapIndented,
} from './approval-lines.js';

/** So many lines of each part are shown at once; the rest on demand. */
const MAX_LINES_SHOWN = 20;
/** Keys that were typed before the question was there are no answer to it. */
const INPUT_SETTLE_MS = 300;
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/**
 * For `RuntimeOptions.approve`. `session` is what ends with the session that can be answered for, `host` whose call it
 * is when it is no agent's. Where the signal is aborted with a text, that is why nobody is asked any more.
 */
export function createTerminalApprover(
  { output }: CommandContext,
  session = 'this command',
  host = 'This command',
): Approve {
  const enqueue = createSerialQueue();
  return (request, signal) =>
    enqueue(() => output.ask(() => approveInTerminal({ request, signal, output, session, host })));
}

interface ApprovalPrompt {
  readonly request: ApprovalRequest;
  readonly signal: AbortSignal;
  readonly output: Output;
  readonly session: string;
  readonly host: string;
}

async function approveInTerminal({
  request,
  signal,
  output,
  session,
  host,
}: ApprovalPrompt): Promise<ApprovalAnswer> {
  if (signal.aborted) return 'deny';
  const width = (process.stderr.columns || DEFAULT_COLUMNS) - 1;
  const change = changeLines(request, width);
  const args = argumentLines(request, width);
  output.note('');
  for (const line of wrapIndented(titleOf(request, host), width, 4)) output.note(output.color.bold(line));
  for (const line of [...factLines(request, width), ...annotationLine(request)]) output.note(line);
  if (change.length > 0) showPart('changed since the tool was approved', change, output);
  showPart(args.length === 0 ? 'no arguments' : 'arguments', args, output);
  const also = alsoSentLines(request, width);
  if (also.length > 0) showPart('also sent', also, output);
  for (const line of truncationLines(request, width)) output.note(output.color.yellow(line));
  const keyboard = openKeyboard();
  let answer: ApprovalAnswer;
  try {
    await keyboard.discardInput(INPUT_SETTLE_MS, signal);
    answer = await readAnswer({ request, signal, keyboard, output, all: [...change, ...args, ...also] });
  } finally {
    keyboard.close();
  }
  // Only now: who reads it may press Ctrl-C at once, and no key may be lost then.
  output.note(signal.aborted ? abortReason(signal) : answerText(answer, session));
  return answer;
}

const abortReason = ({ reason }: AbortSignal): string =>
  typeof reason === 'string' ? reason : 'Approval timed out.';

function showPart(title: string, lines: readonly string[], output: Output): void {
  output.note(`  ${title}`);
  for (const line of lines.slice(0, MAX_LINES_SHOWN)) output.note(paint(line, output));
  const more = lines.length - MAX_LINES_SHOWN;
  if (more > 0) output.note(output.color.yellow(`  … ${more} more lines, press v to view all`));
}

const paint = (line: string, { color }: Output): string =>
  line.startsWith('  │ - ') ? color.red(line) : line.startsWith('  │ + ') ? color.green(line) : line;

interface KeyPrompt {
  readonly request: ApprovalRequest;
  readonly signal: AbortSignal;
  readonly keyboard: Keyboard;
  readonly output: Output;
  readonly all: readonly string[];
}

async function readAnswer(asked: KeyPrompt): Promise<ApprovalAnswer> {
  const { request, signal, keyboard, output, all } = asked;
  const canKeep = request.answers.includes('always');
  const canStay = request.answers.includes('session');
  const keys: Readonly<Record<string, ApprovalAnswer>> = {
    y: 'once',
    ...(canStay && { s: 'session' }),
    ...(canKeep && { a: 'always' }),
    n: 'deny',
    [ENTER]: 'deny',
    [ESCAPE]: 'deny',
    [CTRL_D]: 'deny',
  };
  const choices = [
    'y once',
    ...(canStay ? ['s this session'] : []),
    ...(canKeep ? ['a always'] : []),
    'n no (default)',
    ...(all.length > 0 ? ['v view all'] : []),
  ];
  const ask = (): void => output.note(`${output.color.bold('Allow it?')}  ${choices.join(' · ')}`);
  for (ask(); ; ) {
    const key = (await keyboard.next(signal))?.toLowerCase();
    if (key === undefined || key === CTRL_C) return 'deny';
    const answer = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (answer !== undefined) return answer;
    if (key !== 'v') continue;
    await pageThrough(asked);
    ask();
  }
}

/** Page by page, forwards and back; ends at the question again. */
async function pageThrough({ all, signal, keyboard, output }: KeyPrompt): Promise<void> {
  const size = Math.max((process.stderr.rows || DEFAULT_ROWS) - 2, 5);
  let start = 0;
  for (;;) {
    for (const line of all.slice(start, start + size)) output.note(paint(line, output));
    const end = Math.min(start + size, all.length);
    if (end === all.length && start === 0) return;
    const where = `lines ${start + 1} to ${end} of ${all.length}`;
    output.note(output.color.dim(`${where} · space next · b back · q quit`));
    const key = await keyboard.next(signal);
    if (key === 'b') start = Math.max(start - size, 0);
    else if (key === ' ' && end < all.length) start = end;
    else return;
  }
}
