import { type SignInStatus, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { withRuntime } from '../open.js';
import { textTable } from '../text-table.js';
import { showMoment } from '../time-words.js';
import { showLine, showMessage } from '../untrusted-text.js';

/** Who each remote server takes us for, from what is kept here; nobody is asked. */
export async function run(context: CommandContext): Promise<void> {
  const { output, words } = context;
  await withRuntime(context, async ({ runtime }) => {
    const names =
      words.length > 0
        ? words
        : runtime
            .status()
            .filter(({ transport }) => transport !== 'stdio' && transport !== 'in-process')
            .map(({ name }) => name);
    const found = (
      await Promise.all(
        [...new Set(names)].map((name) =>
          runtime.signInStatus(name).catch((error: unknown) => {
            // One that cannot be used takes nothing from the others, unless it is asked for.
            if (words.length > 0 || !(error instanceof TurnbuckleError)) throw error;
            output.warn(`${output.color.yellow('warning')} ${showMessage(error.message)}`);
            return [];
          }),
        ),
      )
    ).flat();
    if (output.json) return output.data(found);
    if (found.length === 0) return output.note('There are no remote servers.');
    const { color } = output;
    const rows = found.map((status) => [
      color.bold(showLine(status.server, 40)),
      describe(status),
      status.issuer === undefined ? '' : showLine(status.issuer, 60),
      status.scope === undefined ? '' : showLine(status.scope, 60),
    ]);
    for (const line of textTable(rows)) output.line(line);
    if (found.some((status) => describe(status) === NOT_SIGNED_IN))
      output.note(
        output.color.dim(
          'Not every server needs a sign-in. Find out, and sign in: turnbuckle login <server>',
        ),
      );
  });
}

const NOT_SIGNED_IN = 'not signed in';

function describe({ type, signedIn, expiresAt, renewable, account }: SignInStatus): string {
  if (type !== 'oauth')
    return signedIn ? type : type === 'none' ? 'no credential' : `${type}, not asked for yet`;
  if (!signedIn) return NOT_SIGNED_IN;
  const who =
    account === undefined || account === 'default' ? 'signed in' : `signed in as ${showLine(account, 40)}`;
  if (renewable === true) return `${who}, renewed by itself`;
  return expiresAt === undefined ? who : `${who} until ${showMoment(expiresAt.getTime()).slice(0, 16)}`;
}
