/** The log of calls in the directory of state, read without a daemon. What that takes is loaded here only. */
import type { LogReader } from '@turnbuckle/store';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { stateDirectoryOf } from './state-directory-of.js';

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
    throw new TurnbuckleError('INTERNAL', `The log in ${directory} cannot be read: ${why}`, {
      cause,
      hint: 'A newer log needs a newer Turnbuckle. If it is damaged, move log.db away: a new one is begun.',
    });
  });
}

export const NOTHING_LOGGED =
  'Nothing is in the log yet. The daemon and serve --stdio keep it; calls that turnbuckle call makes by itself are not in it.';
