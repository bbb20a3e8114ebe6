/**
 * Remembers what a file was before a change, so that the change can be taken back to the byte. In the vault: files
 * of other tools often hold tokens.
 */
import { rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { readFileText, TurnbuckleError, whyUnreadable } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { commandVault } from './command-vault.js';
import { showMessage } from './untrusted-text.js';

export interface Change {
  readonly file: string;
  /** Undefined when there was no file. */
  readonly before?: string | undefined;
  readonly after: string;
  /** The uppermost directory that was made for the file; undefined when none was. */
  readonly made?: string | undefined;
}

const MAX_BYTES = 16 * 1_024 * 1_024;

const entryOf = (what: string): string => `undo/${what}`;

/** The file's text now; undefined when there is none. CONFIG_INVALID when it is there and cannot be read. */
export async function currentText(file: string): Promise<string | undefined> {
  try {
    return await readFileText(file, { maxBytes: MAX_BYTES });
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new TurnbuckleError('CONFIG_INVALID', `${file} cannot be used: ${whyUnreadable(cause)}.`, {
      cause,
      hint: 'It has to be a file that you may read and write.',
    });
  }
}

/** The change is made already: that it cannot be remembered is told, and no failure. */
export async function rememberChange(context: CommandContext, what: string, change: Change): Promise<void> {
  try {
    await commandVault(context).set(entryOf(what), JSON.stringify(change));
  } catch (error) {
    if (!(error instanceof TurnbuckleError)) throw error;
    const { output } = context;
    output.warn(`${output.color.yellow('warning')} This cannot be taken back: ${showMessage(error.message)}`);
  }
}

/** The change that could be taken back now; undefined when there is none, or nobody can open the vault. */
export async function rememberedChange(context: CommandContext, what: string): Promise<Change | undefined> {
  try {
    const record = await commandVault(context).get(entryOf(what));
    return record === undefined ? undefined : JSON.parse(record);
  } catch (error) {
    if (error instanceof TurnbuckleError) return undefined;
    throw error;
  }
}

/** After this there is nothing to take back. */
export const forgetChange = (context: CommandContext, what: string): Promise<unknown> =>
  commandVault(context).delete(entryOf(what));

/** Puts the file back as it was; refuses when somebody changed it since. Answers which file it was. */
export async function undoChange(context: CommandContext, what: string): Promise<string> {
  const vault = commandVault(context);
  const record = await vault.get(entryOf(what));
  if (record === undefined)
    throw new TurnbuckleError('CONFIG_INVALID', `There is no ${what} to take back.`, {
      hint: `Only the last ${what} can be taken back, once.`,
    });
  const change: Change = JSON.parse(record);
  if ((await currentText(change.file)) !== change.after) {
    throw new TurnbuckleError('CONFIG_INVALID', `${change.file} was changed since; it is left as it is.`, {
      hint: 'Take your own changes back first, or undo it by hand.',
    });
  }
  // Written in place, whatever format the tool has: a link stays a link, and the rights stay.
  if (change.before === undefined) await rm(change.file);
  else await writeFile(change.file, change.before);
  await removeMade(change);
  await vault.delete(entryOf(what));
  return change.file;
}

/** The directories that were made for a file, as far as nothing is in them. */
export async function removeMade({ file, made }: Pick<Change, 'file' | 'made'>): Promise<void> {
  if (made === undefined) return;
  for (let directory = dirname(file); `${directory}${sep}`.startsWith(`${made}${sep}`); ) {
    const isRemoved = await rmdir(directory).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
    directory = dirname(directory);
  }
}
