import { makeCall } from '../calls/make-call.js';
import type { CommandContext } from '../command.js';
import { throughDaemon } from '../daemon/daemon-endpoint.js';
import { remoteTarget } from '../daemon/remote-call.js';

/** Through the daemon if one runs; what a call by this process needs is loaded only if not. */
export async function run(context: CommandContext): Promise<number> {
  const done = await throughDaemon(context, (client) => makeCall(context, remoteTarget(context, client)));
  if (done?.result !== undefined) return done.result;
  const { callLocally } = await import('../calls/local-call.js');
  return callLocally(context);
}
