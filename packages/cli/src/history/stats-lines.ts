/** Statistics on the terminal: a line over time, bars of tools, and what each server costs. */

import type { Output } from '../terminal/output.js';
import { bar, sparkline } from '../terminal/plot.js';
import { type TableOptions, textTable } from '../terminal/text-table.js';
import { formatDuration, formatPeriod, formatTimestamp } from '../terminal/time-format.js';
import { showLine } from '../terminal/untrusted-text.js';
import type { ServerStats, Stats, ToolStats } from './log-stats.js';

const DEFAULT_WIDTH = 80;
const MAX_BAR_WIDTH = 30;
const MIN_BAR_WIDTH = 4;
/** Approximate width of the other columns in the table of tools. */
const OTHER_COLUMNS_WIDTH = 66;
const MAX_TOOLS_SHOWN = 20;

export function showStats(stats: Stats, output: Output): void {
  const width = Number.isFinite(output.width) ? output.width : DEFAULT_WIDTH;
  const { color } = output;
  const span = formatPeriod(Date.parse(stats.until) - Date.parse(stats.since));
  output.line(`${count(stats.calls, 'call')} in ${span}, ${percent(stats.failures, stats.calls)} failed`);
  if (stats.calls > 0) output.line(color.cyan(sparkline(downsample(stats.overTime, width)).trimEnd()));
  if (stats.tools.length > 0) showTools(stats.tools, output, width);
  if (stats.servers.length > 0) showServers(stats.servers, output);
  if (stats.unused.length > 0)
    output.note(
      `\nServers not called in ${span}: ${stats.unused.map((name) => showLine(name, 60)).join(', ')}`,
    );
}

function showTools(tools: readonly ToolStats[], output: Output, width: number): void {
  const { color } = output;
  const most = Math.max(...tools.map(({ calls }) => calls));
  const room = Math.min(Math.max(width - OTHER_COLUMNS_WIDTH, MIN_BAR_WIDTH), MAX_BAR_WIDTH);
  const rows = tools
    .slice(0, MAX_TOOLS_SHOWN)
    .map(({ server, tool, calls, failures, p50Ms, p95Ms }) => [
      `${showLine(server, 20)} ${showLine(tool, 26)}`.trim(),
      String(calls),
      color.cyan(bar(calls, most, room)),
      failures === 0 ? '' : color.red(percent(failures, calls)),
      formatDuration(p50Ms),
      formatDuration(p95Ms),
    ]);
  const head = ['tool', 'calls', '', 'failed', 'p50', 'p95'].map((word) => color.dim(word));
  output.line();
  for (const line of textTable([head, ...rows], tableOptions(output))) output.line(line);
  if (tools.length > MAX_TOOLS_SHOWN)
    output.note(`and ${tools.length - MAX_TOOLS_SHOWN} more. To list all, use --json.`);
}

function showServers(servers: readonly ServerStats[], output: Output): void {
  const { color } = output;
  const rows = servers
    .filter(({ removed, calls }) => !removed || calls > 0)
    .map(({ name, enabled, removed, calls, failures, tools, toolTokens, lastUsedAt }) => [
      showLine(name, 40),
      String(calls),
      failures === 0 ? '' : color.red(percent(failures, calls)),
      tools === null ? '' : String(tools),
      toolTokens === null ? '' : String(toolTokens),
      lastUsedAt === null ? 'never' : formatTimestamp(Date.parse(lastUsedAt)).slice(0, 16),
      removed ? 'removed' : enabled ? '' : 'disabled',
    ]);
  if (rows.length === 0) return;
  const head = ['server', 'calls', 'failed', 'tools', 'tokens', 'last used', ''].map((word) =>
    color.dim(word),
  );
  output.line();
  for (const line of textTable([head, ...rows], tableOptions(output))) output.line(line);
}

/** Names give way on a narrow screen, numbers do not. */
const tableOptions = ({ width }: Output): TableOptions => ({ width, shrink: [[0, 10]] });

/** As many values as there are columns: neighbours are put together where there are more. */
function downsample(values: readonly number[], width: number): number[] {
  const together = Math.max(Math.ceil(values.length / Math.max(width, 1)), 1);
  return Array.from({ length: Math.ceil(values.length / together) }, (_, place) =>
    values.slice(place * together, (place + 1) * together).reduce((sum, value) => sum + value, 0),
  );
}

const count = (number: number, word: string): string =>
  `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`;

const percent = (part: number, whole: number): string =>
  whole === 0 ? 'none' : `${Number(((part / whole) * 100).toFixed(1))} %`;
