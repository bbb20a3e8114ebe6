import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { requirePositional } from '../command-line/positionals.js';
import { findLocalDaemon } from '../daemon/daemon-endpoint.js';
import { agentFromFlags, forAgent } from '../session/agent-credentials.js';
import { withRuntime } from '../session/command-runtime.js';
import { showLine, showMessage } from '../terminal/untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, positionals } = context;
  requirePositional(context, 0, 'server');
  const agent = agentFromFlags(context);
  await withRuntime(context, async ({ runtime }) => {
    const results = [];
    for (const server of new Set(positionals)) {
      const result = await output.withSpinner(`Signing out of ${server}`, runtime.signOut(server, { agent }));
      await signOutInDaemon(context, server, agent);
      results.push({ server, agent, ...result });
      const name = `${output.color.bold(showLine(server, 60))}${forAgent(agent)}`;
      if (output.json) continue;
      if (!result.found) output.line(`Not signed in to ${name}`);
      else
        output.line(
          `Signed out of ${name}${result.revoked ? '' : '; its tokens remain valid until they expire'}`,
        );
    }
    if (output.json) output.data(results);
  });
}

/** Signs out the connections of a running daemon too. Never rejects. */
async function signOutInDaemon(
  context: CommandContext,
  server: string,
  agent: string | undefined,
): Promise<void> {
  const client = findLocalDaemon(context);
  if (client === undefined) return;
  const query = agent === undefined ? '' : `?agent=${encodeURIComponent(agent)}`;
  const path = `/api/servers/${encodeURIComponent(server)}/sign-in${query}`;
  try {
    const { cancelled } = await client.delete<{ cancelled: boolean }>(path, { signal: context.signal });
    // That cancelled a pending sign-in; now close the connection.
    if (cancelled) await client.delete(path, { signal: context.signal });
  } catch (error) {
    if (error instanceof TurnbuckleError && NOT_CONFIGURED_CODES.has(error.code)) return;
    const why = error instanceof Error ? error.message : String(error);
    context.output.warn(
      `${context.output.color.yellow('warning')} The daemon may still be connected to ${showLine(server, 60)}: ${showMessage(why)}`,
    );
  }
}

/** It has no such server. */
const NOT_CONFIGURED_CODES: ReadonlySet<string> = new Set(['SERVER_UNKNOWN', 'PATH_UNKNOWN']);
