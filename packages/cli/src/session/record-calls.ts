/** Records the calls that a command makes itself in the log of the state directory, as a daemon does for its callers. */
import { logOptions, recordCalls } from '@turnbuckle/gateway';
import { CallJournal } from '@turnbuckle/store';
import type { ConfiguredRuntime } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { showMessage } from '../terminal/untrusted-text.js';
import { stateDirectoryOf } from './state-directory.js';

/** Returns a function that ends it, to be called after the last call. A log that cannot be written stops no call. */
export function recordOwnCalls(
  context: CommandContext,
  { runtime, config }: Pick<ConfiguredRuntime, 'runtime' | 'config'>,
): () => Promise<void> {
  const settings = config().settings.daemon?.log ?? {};
  if (settings.enabled === false) return async () => {};
  const { output } = context;
  const journal = new CallJournal({
    ...logOptions(stateDirectoryOf(context), settings),
    onFailure: ({ message }) =>
      output.warn(`${output.color.yellow('warning')} The call was not logged: ${showMessage(message)}`),
  });
  const stop = recordCalls(runtime, journal);
  return async () => {
    stop();
    await journal.close();
  };
}
