/** Remembers what a file was before a change, so that the change can be taken back to the byte. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';

export interface Change {
  readonly file: string;
  /** Undefined when there was no file. */
  readonly before?: string | undefined;
  readonly after: string;
}

function undoFile({ environment }: CommandContext, what: string): string {
  const state =
    environment.TURNBUCKLE_STATE_DIR ??
    join(environment.XDG_STATE_HOME ?? join(environment.HOME ?? homedir(), '.local', 'state'), 'turnbuckle');
  return join(state, `undo-${what}.json`);
}

/** The file's text now; undefined when there is none. CONFIG_INVALID when it is there and cannot be read. */
export async function currentText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new TurnbuckleError('CONFIG_INVALID', `${file} cannot be read.`, {
      cause,
      hint: 'It has to be a file that you may read and write.',
    });
  }
}

export async function rememberChange(context: CommandContext, what: string, change: Change): Promise<void> {
  const file = undoFile(context, what);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, JSON.stringify(change), { mode: 0o600 });
}

/** Puts the file back as it was; refuses when somebody changed it since. Answers which file it was. */
export async function undoChange(context: CommandContext, what: string): Promise<string> {
  const record = undoFile(context, what);
  const change = await readFile(record, 'utf8').then(
    (text) => JSON.parse(text) as Change,
    () => undefined,
  );
  if (change === undefined)
    throw new TurnbuckleError('CONFIG_INVALID', `There is no ${what} to take back.`, {
      hint: `Only the last ${what} can be taken back, once.`,
    });
  if ((await currentText(change.file)) !== change.after) {
    throw new TurnbuckleError('CONFIG_INVALID', `${change.file} was changed since; it is left as it is.`, {
      hint: `What it was before is kept in ${record}.`,
    });
  }
  // Written in place, whatever format the tool has: a link stays a link, and the rights stay.
  if (change.before === undefined) await rm(change.file);
  else await writeFile(change.file, change.before);
  await rm(record);
  return change.file;
}
