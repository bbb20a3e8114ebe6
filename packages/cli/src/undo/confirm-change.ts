/** Showing a change of a file before it is made, and asking for it. */
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { createLineRedactor } from './redact-diff.js';
import { textDiff } from './text-diff.js';
import type { Change } from './undo.js';
import { showText } from './untrusted-text.js';

/** True when the change may be made: asked for on a terminal, by --yes elsewhere. `entries`: the servers it is about. */
export async function confirmChange(
  { output, flags }: CommandContext,
  change: Change,
  entries: ReadonlyArray<Readonly<Record<string, unknown>>>,
): Promise<boolean> {
  const { file, before = '', after } = change;
  const redact = createLineRedactor(entries);
  output.note(output.color.bold(file));
  const shown = onLines(before, after);
  if (shown !== undefined) output.note(output.color.dim('Shown on several lines; the file has long ones.'));
  for (const { sign, text } of textDiff(...(shown ?? [before, after]))) {
    const paint = sign === '+' ? output.color.green : sign === '-' ? output.color.red : output.color.dim;
    output.note(paint(`${sign} ${showText(redact(text))}`));
  }
  if (flags.yes === true) return true;
  if (output.interactive) return (await import('./ask.js')).askYes('Write this?');
  throw new TurnbuckleError('CALL_CANCELLED', `${file} was not changed: nobody is there to agree.`, {
    hint: 'Run it again with --yes to write it.',
  });
}

/** No screen shows more of a line than this. */
const LONG_LINE = 300;

/** A file that is JSON on one line, as it would be on several: nobody sees what changes in the middle of a long line. */
function onLines(before: string, after: string): [before: string, after: string] | undefined {
  if (![before, after].some((text) => text.split('\n').some((line) => line.length > LONG_LINE)))
    return undefined;
  try {
    return [spread(before), spread(after)];
  } catch {
    return undefined;
  }
}

const spread = (text: string): string => (text === '' ? '' : JSON.stringify(JSON.parse(text), null, 2));
