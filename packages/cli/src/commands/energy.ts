import type { Row } from '@turnbuckle/store';
import type { CommandContext } from '../command.js';
import { findDaemonEndpoint } from '../daemon/daemon-endpoint.js';
import { NoResponseError } from '../daemon/http/send-request.js';
import { type EnergyReport, type SpentEnergy, showEnergy } from '../history/energy-lines.js';
import { withLog } from '../history/open-log.js';
import { parseSince } from '../terminal/time-format.js';

const DEFAULT_SINCE = '24h';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  const since = parseSince(typeof flags.since === 'string' ? flags.since : DEFAULT_SINCE, Date.now());
  const report = (await askDaemon(context, since)) ?? (await readLog(context, since));
  if (output.json) return output.data(report);
  showEnergy(report, output);
}

/** Only the daemon knows what is left of budgets. Undefined if none is running. */
async function askDaemon(context: CommandContext, since: number): Promise<EnergyReport | undefined> {
  const attachment = findDaemonEndpoint(context);
  if (attachment === undefined) return undefined;
  const { client, isExplicit } = attachment;
  const query = new URLSearchParams({ since: new Date(since).toISOString() });
  return client
    .get<EnergyReport>(`/api/energy?${query}`, { signal: context.signal })
    .catch((error: unknown) => {
      if (error instanceof NoResponseError && !isExplicit) return undefined;
      throw error;
    });
}

async function readLog(context: CommandContext, since: number): Promise<EnergyReport> {
  const rows = await withLog(context, (log) => log?.energyTotals(since) ?? []);
  const spent = rows.map(toSpent);
  const total = spent.reduce((sum, { energy }) => sum + energy, 0);
  return { spent, total: Math.round(total * 1_000) / 1_000, budgets: [] };
}

const toSpent = ({ caller, server, tool, calls, energy }: Row): SpentEnergy => ({
  ...(caller !== null && { caller: String(caller) }),
  server: String(server),
  tool: String(tool),
  calls: Number(calls),
  energy: Number(energy),
});
