import type { LogReader } from '@turnbuckle/store';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { collectStats, type Stats } from '../history/log-stats.js';
import { NOTHING_LOGGED, withLog } from '../history/open-log.js';
import { showStats } from '../history/stats-lines.js';
import { parseSince } from '../terminal/time-format.js';

const DEFAULT_SINCE = '7d';

export async function run(context: CommandContext): Promise<void> {
  const { output, positionals } = context;
  const stats = await withLog(context, (log) => (log === undefined ? undefined : read(context, log)));
  if (stats === undefined) {
    if (output.json) output.data(null);
    return output.note(NOTHING_LOGGED);
  }
  const [server] = positionals;
  if (server !== undefined && stats.calls === 0 && stats.servers.length === 0)
    throw new TurnbuckleError('SERVER_UNKNOWN', `No calls to server "${server}" in the call history.`, {
      hint: 'List the servers in the call history: turnbuckle stats',
    });
  if (output.json) output.data(stats);
  else showStats(stats, output);
}

function read({ flags, positionals }: CommandContext, log: LogReader): Stats {
  const now = Date.now();
  const since = parseSince(typeof flags.since === 'string' ? flags.since : DEFAULT_SINCE, now);
  if (flags.slow === true && flags.failing === true)
    throw new TurnbuckleError('ARGUMENTS_INVALID', '--slow and --failing cannot be combined.', {
      hint: 'Use one of them.',
    });
  const order = flags.slow === true ? 'slowest' : flags.failing === true ? 'failing' : 'calls';
  return collectStats(log, { now, since, order, server: positionals[0] });
}
