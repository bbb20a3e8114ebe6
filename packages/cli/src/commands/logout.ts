import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { findOwnDaemon } from '../daemon/attachment.js';
import { withRuntime } from '../open.js';
import { showLine, showMessage } from '../untrusted-text.js';
import { needWord } from '../words.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, words } = context;
  needWord(context, 0, 'server');
  await withRuntime(context, async ({ runtime }) => {
    const results = [];
    for (const server of new Set(words)) {
      const result = await output.during(`Signing out at ${server}`, runtime.signOut(server));
      await tellDaemon(context, server);
      results.push({ server, ...result });
      const name = output.color.bold(showLine(server, 60));
      if (output.json) continue;
      if (!result.found) output.line(`You were not signed in at ${name}`);
      else output.line(`Signed out at ${name}${result.revoked ? '' : '; its tokens end by themselves'}`);
    }
    if (output.json) output.data(results);
  });
}

/** A daemon has connections of its own, which are signed in until somebody says that it is over. Never rejects. */
async function tellDaemon(context: CommandContext, server: string): Promise<void> {
  const client = findOwnDaemon(context);
  if (client === undefined) return;
  const path = `/api/servers/${encodeURIComponent(server)}/sign-in`;
  try {
    const { cancelled } = await client.delete<{ cancelled: boolean }>(path, { signal: context.signal });
    // That was a sign-in under way: what is connected is ended now.
    if (cancelled) await client.delete(path, { signal: context.signal });
  } catch (error) {
    if (error instanceof TurnbuckleError && UNCONCERNED.has(error.code)) return;
    const why = error instanceof Error ? error.message : String(error);
    context.output.warn(
      `${context.output.color.yellow('warning')} The daemon may still be connected to ${showLine(server, 60)}: ${showMessage(why)}`,
    );
  }
}

/** It has no such server. */
const UNCONCERNED: ReadonlySet<string> = new Set(['SERVER_UNKNOWN', 'PATH_UNKNOWN']);
