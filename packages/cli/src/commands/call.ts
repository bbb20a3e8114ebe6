import type { CommandContext } from '../command.js';
import { callAttached } from '../daemon/attached-call.js';
import { throughDaemon } from '../daemon/attachment.js';

/** Through the daemon if one runs; what a call of its own takes is loaded only if not. */
export async function run(context: CommandContext): Promise<number> {
  const done = await throughDaemon(context, (client) => callAttached(context, client));
  if (done?.result !== undefined) return done.result;
  const { callDirectly } = await import('../own-call.js');
  return callDirectly(context);
}
