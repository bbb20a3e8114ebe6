/**
 * The MCP endpoint on stdin and stdout, for an agent that starts it as a command: through the daemon where one runs,
 * otherwise with connections of its own. Either way the agent is a caller of its own, not the user.
 */
import { Console } from 'node:console';
import type { CommandContext } from '../command.js';
import { throughDaemon } from '../daemon/daemon-endpoint.js';
import { type StdioIdentity, tunnelStdio } from './stdio-tunnel.js';

/** Serves until the client leaves or a signal comes. */
export async function serveStdio(context: CommandContext): Promise<void> {
  // stdout carries only the protocol: send console output to stderr.
  globalThis.console = new Console(process.stderr, process.stderr);
  const { as: name, capability, ...flags } = context.flags;
  const who: StdioIdentity = {
    name: typeof name === 'string' ? name : undefined,
    capabilities: capability as readonly string[] | undefined,
  };
  const view = typeof flags.view === 'string' ? flags.view : undefined;
  const served = await throughDaemon({ ...context, flags }, async ({ url, token }) => {
    await tunnelStdio(context, { ...who, url, token, view });
    return true;
  });
  if (served !== undefined) return;
  const { serveStdioStandalone } = await import('./serve-stdio-standalone.js');
  await serveStdioStandalone(context, who);
}
