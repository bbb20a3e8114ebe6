/** Reverts what setup wrote to the file of an agent, even if the agent has changed the file since. */
import { writeFile } from 'node:fs/promises';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import type { Client } from '../imports/client.js';
import { removeEntry } from '../imports/index.js';
import { confirmChange } from '../undo/confirm-change.js';
import {
  forgetChange,
  lastChange,
  readCurrentText,
  removeCreatedDirectories,
  undoChange,
} from '../undo/undo.js';
import { ENTRY_NAME } from './agent-entry.js';

/** Under which name the change is remembered. */
export const setupUndoKey = ({ id }: Client): string => `setup of ${id}`;

export interface UndoneSetup {
  readonly file: string;
  /** In words, for people. */
  readonly what: string;
}

/** Undefined when the user declined. Throws when it has to be done by hand. */
export async function undoSetup(context: CommandContext, client: Client): Promise<UndoneSetup | undefined> {
  const what = setupUndoKey(client);
  const change = await lastChange(context, what);
  const now = change === undefined ? undefined : await readCurrentText(change.file);
  if (change === undefined || now === change.after) {
    const file = await undoChange(context, what);
    return { file, what: `${file} restored.` };
  }
  const { file } = change;
  const removed = removeEntry({ client, file }, now ?? '', ENTRY_NAME);
  if (removed === undefined || (removed.entry !== undefined && removed.text === undefined))
    throw new TurnbuckleError(
      'CONFIG_INVALID',
      `${file} has changed since the setup, so the entry "${ENTRY_NAME}" was not removed.`,
      {
        hint: `Remove the entry "${ENTRY_NAME}" by hand and run this command again to revoke its token.`,
      },
    );
  if (
    removed.text !== undefined &&
    !(await removeFromFile(context, { file, before: now, after: removed.text }, removed.entry))
  )
    return undefined;
  await removeCreatedDirectories(change);
  await forgetChange(context, what);
  return {
    file,
    what:
      removed.text === undefined
        ? `${file} no longer has the entry "${ENTRY_NAME}"; the file was not changed.`
        : `The entry "${ENTRY_NAME}" is no longer in ${file}.`,
  };
}

async function removeFromFile(
  context: CommandContext,
  change: { readonly file: string; readonly before: string | undefined; readonly after: string },
  entry: Readonly<Record<string, unknown>> = {},
): Promise<boolean> {
  const { file, before, after } = change;
  context.output.note(`${file} has changed since the setup, so only the entry "${ENTRY_NAME}" is removed.`);
  if (!(await confirmChange(context, change, [entry]))) return false;
  if ((await readCurrentText(file)) !== before)
    throw new TurnbuckleError('CONFIG_INVALID', `${file} changed in the meantime and was not overwritten.`, {
      hint: 'Run the command again to see the current diff.',
    });
  // In place: a link stays a link, and the rights stay.
  await writeFile(file, after);
  return true;
}
