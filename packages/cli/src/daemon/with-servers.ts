import type { CommandContext } from '../command.js';
import type { Servers } from '../session/servers.js';
import { throughDaemon } from './daemon-endpoint.js';

/** Runs the work with the servers of a running daemon, or with separate connections. */
export async function withServers<T>(
  context: CommandContext,
  work: (servers: Servers) => Promise<T>,
): Promise<T> {
  const done = await throughDaemon(context, async (client) => {
    const { RemoteRuntime } = await import('./remote-runtime.js');
    return work(await new RemoteRuntime(client, context.signal).load());
  });
  if (done !== undefined) return done.result;
  const [{ withRuntime }, { redactedServers }] = await Promise.all([
    import('../session/command-runtime.js'),
    import('../session/redacted-servers.js'),
  ]);
  return withRuntime(context, ({ runtime }) => work(redactedServers(runtime)));
}
