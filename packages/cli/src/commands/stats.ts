import type { LogReader } from '@turnbuckle/store';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { collectStats, type Stats } from '../log-stats.js';
import { NOTHING_LOGGED, withLog } from '../open-log.js';
import { showStats } from '../stats-lines.js';
import { readSince } from '../time-words.js';

const DEFAULT_SINCE = '7d';

export async function run(context: CommandContext): Promise<void> {
  const { output, words } = context;
  const stats = await withLog(context, (log) => (log === undefined ? undefined : read(context, log)));
  if (stats === undefined) {
    if (output.json) output.data(null);
    return output.note(NOTHING_LOGGED);
  }
  const [server] = words;
  if (server !== undefined && stats.calls === 0 && stats.servers.length === 0)
    throw new TurnbuckleError('SERVER_UNKNOWN', `The log knows no server "${server}".`, {
      hint: 'turnbuckle stats shows those that it knows.',
    });
  if (output.json) output.data(stats);
  else showStats(stats, output);
}

function read({ flags, words }: CommandContext, log: LogReader): Stats {
  const now = Date.now();
  const since = readSince(typeof flags.since === 'string' ? flags.since : DEFAULT_SINCE, now);
  if (flags.slow === true && flags.failing === true)
    throw new TurnbuckleError('ARGUMENTS_INVALID', '--slow and --failing are two different orders.', {
      hint: 'Choose one of them.',
    });
  const order = flags.slow === true ? 'slowest' : flags.failing === true ? 'failing' : 'calls';
  return collectStats(log, { now, since, order, server: words[0] });
}
