/** Takes back what setup wrote into an agent's file, also when the agent has written to the file since. */
import { writeFile } from 'node:fs/promises';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { ENTRY_NAME } from './daemon/agent-entry.js';
import type { Client } from './imports/client.js';
import { removeEntry } from './imports/index.js';
import { confirmChange } from './preview.js';
import { currentText, forgetChange, rememberedChange, removeMade, undoChange } from './undo.js';

/** Under which name the change is remembered. */
export const setupOf = ({ id }: Client): string => `setup of ${id}`;

export interface UndoneSetup {
  readonly file: string;
  /** In words, for people. */
  readonly what: string;
}

/** Undefined when somebody was asked and did not agree. Throws when it has to be done by hand. */
export async function undoSetup(context: CommandContext, client: Client): Promise<UndoneSetup | undefined> {
  const what = setupOf(client);
  const change = await rememberedChange(context, what);
  const now = change === undefined ? undefined : await currentText(change.file);
  if (change === undefined || now === change.after) {
    const file = await undoChange(context, what);
    return { file, what: `${file} is as it was before.` };
  }
  const { file } = change;
  const removed = removeEntry({ client, file }, now ?? '', ENTRY_NAME);
  if (removed === undefined || (removed.entry !== undefined && removed.text === undefined))
    throw new TurnbuckleError('CONFIG_INVALID', `${file} was changed since; it is left as it is.`, {
      hint: `Take the entry "${ENTRY_NAME}" out of it by hand, and run this again: then its token is revoked.`,
    });
  if (
    removed.text !== undefined &&
    !(await takeOut(context, { file, before: now, after: removed.text }, removed.entry))
  )
    return undefined;
  await removeMade(change);
  await forgetChange(context, what);
  return {
    file,
    what:
      removed.text === undefined
        ? `${file} has no entry for it any more, and is left as it is.`
        : `The entry "${ENTRY_NAME}" is not in ${file} any more.`,
  };
}

async function takeOut(
  context: CommandContext,
  change: { readonly file: string; readonly before: string | undefined; readonly after: string },
  entry: Readonly<Record<string, unknown>> = {},
): Promise<boolean> {
  const { file, before, after } = change;
  context.output.note(`${file} was changed since: only the entry "${ENTRY_NAME}" is taken out.`);
  if (!(await confirmChange(context, change, [entry]))) return false;
  if ((await currentText(file)) !== before)
    throw new TurnbuckleError('CONFIG_INVALID', `${file} was changed in the meantime; it is left as it is.`, {
      hint: 'Run it again to see the difference to what it is now.',
    });
  // In place: a link stays a link, and the rights stay.
  await writeFile(file, after);
  return true;
}
