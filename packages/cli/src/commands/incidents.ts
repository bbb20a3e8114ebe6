import { INCIDENT_LEVELS, type IncidentFilter, type IncidentLevel, toShownIncident } from '@turnbuckle/store';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { parseLimit } from '../command-line/parse-limit.js';
import { incidentLines } from '../history/incident-lines.js';
import { withLog } from '../history/open-log.js';
import { parseSince } from '../terminal/time-format.js';
import { showLine } from '../terminal/untrusted-text.js';

const MAX_NAME_WIDTH = 200;

export async function run(context: CommandContext): Promise<void> {
  const { output } = context;
  const filter = parseFilter(context);
  const rows = await withLog(context, (log) => log?.incidents(filter) ?? []);
  const incidents = rows.flatMap((row) => toShownIncident(row) ?? []).reverse();
  if (output.json) return output.data(incidents);
  for (const incident of incidents)
    output.line(output.rewriteCommands(incidentLines(incident, incident.at, output.color)));
  if (incidents.length === 0) output.note(emptyNote(filter.server));
}

function emptyNote(server: string | undefined): string {
  if (server !== undefined) return `No incidents for server "${showLine(server, MAX_NAME_WIDTH)}".`;
  return 'No incidents. The daemon, "turnbuckle bridge" and "turnbuckle serve --stdio" record them while they are running.';
}

function parseFilter({ positionals: [server], flags }: CommandContext): IncidentFilter {
  const { since, level, limit } = flags;
  return {
    server,
    level: typeof level === 'string' ? parseLevel(level) : undefined,
    since: typeof since === 'string' ? parseSince(since, Date.now()) : undefined,
    limit: parseLimit(limit),
  };
}

function parseLevel(text: string): IncidentLevel {
  const level = INCIDENT_LEVELS.find((one) => one === text);
  if (level !== undefined) return level;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `Invalid --level "${text}".`, {
    hint: `Use one of these: ${INCIDENT_LEVELS.join(', ')}`,
  });
}
