import { TurnbuckleError } from 'turnbuckle';
import { hasOwnSignIn, type SignInStatus } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { agentFromFlags, forAgent } from '../session/agent-credentials.js';
import { withRuntime } from '../session/command-runtime.js';
import { textTable } from '../terminal/text-table.js';
import { formatTimestamp } from '../terminal/time-format.js';
import { showLine, showMessage } from '../terminal/untrusted-text.js';

/** Shows the stored sign-in status of each remote server; sends no requests. */
export async function run(context: CommandContext): Promise<void> {
  const { output, positionals } = context;
  const agent = agentFromFlags(context);
  await withRuntime(context, async ({ runtime }) => {
    const names =
      positionals.length > 0
        ? positionals
        : runtime
            .status()
            .filter(({ transport }) => transport !== 'stdio' && transport !== 'in-process')
            .filter(({ config }) => agent === undefined || hasOwnSignIn(config ?? {}, agent))
            .map(({ name }) => name);
    const found = (
      await Promise.all(
        [...new Set(names)].map((name) =>
          runtime.signInStatus(name, { agent }).catch((error: unknown) => {
            // One that cannot be used takes nothing from the others, unless it is asked for.
            if (positionals.length > 0 || !(error instanceof TurnbuckleError)) throw error;
            output.warn(`${output.color.yellow('warning')} ${showMessage(error.message)}`);
            return [];
          }),
        ),
      )
    ).flat();
    if (output.json) return output.data(found);
    if (found.length === 0) return output.note(`No remote servers${forAgent(agent)}.`);
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
          `Not every server requires sign-in. To sign in: turnbuckle login <server>${agent === undefined ? '' : ` --agent ${shellQuote(agent)}`}`,
        ),
      );
  });
}

const NOT_SIGNED_IN = 'not signed in';

function describe({ type, signedIn, expiresAt, renewable, account }: SignInStatus): string {
  if (type !== 'oauth')
    return signedIn ? type : type === 'none' ? 'no credential' : `${type}, no token requested yet`;
  if (!signedIn) return NOT_SIGNED_IN;
  const who =
    account === undefined || account === 'default' ? 'signed in' : `signed in as ${showLine(account, 40)}`;
  if (renewable === true) return `${who}, token renewed automatically`;
  return expiresAt === undefined ? who : `${who} until ${formatTimestamp(expiresAt.getTime()).slice(0, 16)}`;
}
