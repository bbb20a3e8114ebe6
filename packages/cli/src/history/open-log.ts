/** Reads the call history from the state directory, without a daemon. Loads the store only when needed. */
import type { LogReader } from '@turnbuckle/store';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { stateDirectoryOf } from '../session/state-directory.js';

/** Does the work with the log, undefined when nothing was ever logged, and closes it. */
export async function withLog<T>(
  context: CommandContext,
  work: (log: LogReader | undefined) => T | Promise<T>,
): Promise<T> {
  const log = await openLog(context);
  try {
    return await work(log);
  } finally {
    log?.close();
  }
}

async function openLog(context: CommandContext): Promise<LogReader | undefined> {
  const { LogReader, logDirectory } = await import('@turnbuckle/store');
  const directory = logDirectory(stateDirectoryOf(context));
  return LogReader.open(directory).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TurnbuckleError('INTERNAL', `Cannot read the call history in ${directory}: ${why}`, {
      cause,
      hint: 'If a newer version of Turnbuckle wrote the call history, update Turnbuckle. If log.db is damaged, move it to another directory, and Turnbuckle will create a new one.',
    });
  });
}

export const NOTHING_LOGGED =
  'The call history is empty. It records every call, unless "daemon.log.enabled" is false. Make a call: turnbuckle call';
