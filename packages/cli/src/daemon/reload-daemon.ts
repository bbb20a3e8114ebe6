import type { CommandContext } from '../command.js';
import { findLocalDaemon } from './daemon-endpoint.js';

/** A daemon reads its files within milliseconds. A server that connects slowly is not waited for. */
const MAX_WAIT_MS = 3_000;

/**
 * Waits until a running daemon has applied an edit of its files, so that the next request finds it in effect. Never
 * rejects: the daemon follows its files anyway.
 */
export async function reloadDaemon(context: CommandContext): Promise<void> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(MAX_WAIT_MS)]);
  await findLocalDaemon(context)
    ?.post('/api/config/reload', {}, { signal })
    .catch(() => {});
}
