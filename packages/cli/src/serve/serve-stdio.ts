/**
 * The MCP endpoint on stdin and stdout, for an agent that starts it as a command: through the daemon where one runs,
 * otherwise with connections of its own. Either way the agent is a caller of its own, not the user.
 */
import { Console } from 'node:console';
import type { CommandContext } from '../command.js';
import { throughDaemon } from './attachment.js';
import { type StdioWho, stdioThroughDaemon } from './stdio-through-daemon.js';

/** Serves until the client leaves or a signal comes. */
export async function serveStdio(context: CommandContext): Promise<void> {
  // On stdout is the protocol and nothing else, whatever a library wants to say.
  globalThis.console = new Console(process.stderr, process.stderr);
  const { as: name, capability, ...flags } = context.flags;
  const who: StdioWho = {
    name: typeof name === 'string' ? name : undefined,
    capabilities: capability as readonly string[] | undefined,
  };
  const view = typeof flags.view === 'string' ? flags.view : undefined;
  const served = await throughDaemon({ ...context, flags }, async ({ url, token }) => {
    await stdioThroughDaemon(context, { ...who, url, token, view });
    return true;
  });
  if (served !== undefined) return;
  const { serveStdioHere } = await import('./serve-stdio-here.js');
  await serveStdioHere(context, who);
}
