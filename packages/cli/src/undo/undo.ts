/**
 * Remembers what a file was before a change, so that the change can be taken back to the byte. In the vault: files
 * of other tools often hold tokens.
 */
import { rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import { readFileText, whyUnreadable } from 'turnbuckle/host';
import { errorCode } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { commandVault } from '../session/command-vault.js';
import { showMessage } from '../terminal/untrusted-text.js';

export interface Change {
  readonly file: string;
  /** Undefined when there was no file. */
  readonly before?: string | undefined;
  readonly after: string;
  /** The uppermost directory that was made for the file; undefined when none was. */
  readonly made?: string | undefined;
}

const MAX_BYTES = 16 * 1_024 * 1_024;

const vaultKey = (what: string): string => `undo/${what}`;

/** The file's text now; undefined when there is none. CONFIG_INVALID when it is there and cannot be read. */
export async function readCurrentText(file: string): Promise<string | undefined> {
  try {
    return await readFileText(file, { maxBytes: MAX_BYTES });
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw new TurnbuckleError('CONFIG_INVALID', `${file} cannot be used: ${whyUnreadable(cause)}.`, {
      cause,
      hint: 'Check that you can read and write the file.',
    });
  }
}

/** The change is already made: failing to record it is a warning, not an error. */
export async function rememberChange(context: CommandContext, what: string, change: Change): Promise<void> {
  try {
    await commandVault(context).set(vaultKey(what), JSON.stringify(change));
  } catch (error) {
    if (!(error instanceof TurnbuckleError)) throw error;
    const { output } = context;
    output.warn(
      `${output.color.yellow('warning')} This change cannot be undone: ${showMessage(error.message)}`,
    );
  }
}

/** The change that can be undone; undefined when there is none or the vault cannot be opened. */
export async function lastChange(context: CommandContext, what: string): Promise<Change | undefined> {
  try {
    const record = await commandVault(context).get(vaultKey(what));
    return record === undefined ? undefined : JSON.parse(record);
  } catch (error) {
    if (error instanceof TurnbuckleError) return undefined;
    throw error;
  }
}

/** After this there is nothing to undo. */
export const forgetChange = (context: CommandContext, what: string): Promise<unknown> =>
  commandVault(context).delete(vaultKey(what));

/** Restores the file and returns its path; throws if the file has changed since. */
export async function undoChange(context: CommandContext, what: string): Promise<string> {
  const vault = commandVault(context);
  const record = await vault.get(vaultKey(what));
  if (record === undefined)
    throw new TurnbuckleError('CONFIG_INVALID', `Nothing to undo, because no ${what} is recorded.`, {
      hint: `Only the last ${what} can be undone, and only once.`,
    });
  const change: Change = JSON.parse(record);
  if ((await readCurrentText(change.file)) !== change.after) {
    throw new TurnbuckleError(
      'CONFIG_INVALID',
      `${change.file} has changed since the last ${what}, so it was not restored.`,
      {
        hint: `Revert the later changes first, or undo the ${what} by hand.`,
      },
    );
  }
  // Written in place, whatever format the tool has: a link stays a link, and the rights stay.
  if (change.before === undefined) await rm(change.file);
  else await writeFile(change.file, change.before);
  await removeCreatedDirectories(change);
  await vault.delete(vaultKey(what));
  return change.file;
}

/** The directories that were made for a file, as far as nothing is in them. */
export async function removeCreatedDirectories({ file, made }: Pick<Change, 'file' | 'made'>): Promise<void> {
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
