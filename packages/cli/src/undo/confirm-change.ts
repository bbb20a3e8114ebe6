/** Showing a change of a file before it is made, and asking for it. */
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { createLineRedactor } from '../terminal/redact-lines.js';
import { textDiff } from '../terminal/text-diff.js';
import { showText } from '../terminal/untrusted-text.js';
import type { Change } from './undo.js';

/** True when the change may be made: asked for on a terminal, by --yes elsewhere. `entries`: the servers it is about. */
export async function confirmChange(
  { output, flags }: CommandContext,
  change: Change,
  entries: ReadonlyArray<Readonly<Record<string, unknown>>>,
): Promise<boolean> {
  const { file, before = '', after } = change;
  const redact = createLineRedactor(entries);
  output.note(output.color.bold(file));
  const shown = splitLongLines(before, after);
  if (shown !== undefined) output.note(output.color.dim('Long lines are shown wrapped.'));
  for (const { sign, text } of textDiff(...(shown ?? [before, after]))) {
    const paint = sign === '+' ? output.color.green : sign === '-' ? output.color.red : output.color.dim;
    output.note(paint(`${sign} ${showText(redact(text))}`));
  }
  if (flags.yes === true) return true;
  if (output.interactive) return (await import('../terminal/ask.js')).askYesNo('Write this?');
  throw new TurnbuckleError(
    'CALL_CANCELLED',
    `${file} was not changed because confirmation requires a terminal.`,
    {
      hint: 'To write the file without confirmation, run the command again with --yes.',
    },
  );
}

/** No screen shows more of a line than this. */
const MAX_LINE_LENGTH = 300;

/** Formats single-line JSON on several lines: a change within a long line is hard to see. */
function splitLongLines(before: string, after: string): [before: string, after: string] | undefined {
  if (![before, after].some((text) => text.split('\n').some((line) => line.length > MAX_LINE_LENGTH)))
    return undefined;
  try {
    return [prettyPrint(before), prettyPrint(after)];
  } catch {
    return undefined;
  }
}

const prettyPrint = (text: string): string => (text === '' ? '' : JSON.stringify(JSON.parse(text), null, 2));
