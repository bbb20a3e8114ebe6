import type { CommandContext } from './command.js';
import { throughDaemon } from './daemon/attachment.js';
import type { Servers } from './servers.js';

/** Runs the work with the servers of the daemon, if one runs that has them, or with connections of its own. */
export async function withServers<T>(
  context: CommandContext,
  work: (servers: Servers) => Promise<T>,
): Promise<T> {
  const done = await throughDaemon(context, async (client) => {
    const { AttachedServers } = await import('./daemon/attached-servers.js');
    return work(await AttachedServers.open(client, context.signal));
  });
  if (done !== undefined) return done.result;
  const [{ withRuntime }, { withoutSecrets }] = await Promise.all([
    import('./open.js'),
    import('./without-secrets.js'),
  ]);
  return withRuntime(context, ({ runtime }) => work(withoutSecrets(runtime)));
}
