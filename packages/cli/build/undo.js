/** Remembers what a file was before a change, so that the change can be taken back to the byte. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { editConfig, TurnbuckleError } from 'turnbuckle';

function undoFile({ environment }, what) {
  const state =
    environment.TURNBUCKLE_STATE_DIR ??
    join(environment.XDG_STATE_HOME ?? join(environment.HOME ?? homedir(), '.local', 'state'), 'turnbuckle');
  return join(state, `undo-${what}.json`);
}
/** The file's text now, or nothing. */
export const currentText = (file) => readFile(file, 'utf8').catch(() => '');
export async function rememberChange(context, what, change) {
  const file = undoFile(context, what);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, JSON.stringify(change), { mode: 0o600 });
}
/** Puts the file back as it was; refuses when somebody changed it since. Answers which file it was. */
export async function undoChange(context, what) {
  const record = undoFile(context, what);
  const change = await readFile(record, 'utf8').then(
    (text) => JSON.parse(text),
    () => undefined,
  );
  if (change === undefined) throw new TurnbuckleError('CONFIG_INVALID', `There is no ${what} to take back.`);
  if ((await currentText(change.file)) !== change.after) {
    throw new TurnbuckleError('CONFIG_INVALID', `${change.file} was changed since; it is left as it is.`, {
      hint: `What it was before is kept in ${record}.`,
    });
  }
  if (change.before === '') await rm(change.file);
  else await editConfig(change.file, () => change.before);
  await rm(record);
  return change.file;
}
//# sourceMappingURL=undo.js.map
