/** Statistics on the terminal: a line over time, bars of tools, and what each server costs. */
import type { ServerStats, Stats, ToolStats } from './log-stats.js';
import type { Output } from './output.js';
import { bar, sparkline } from './plot.js';
import { type TableOptions, textTable } from './text-table.js';
import { showDuration, showMoment, showSpan } from './time-words.js';
import { showLine } from './untrusted-text.js';

const USUAL_WIDTH = 80;
const WIDEST_BAR = 30;
const NARROWEST_BAR = 4;
/** What a line of the table of tools has beside its bar, about. */
const BESIDE_BAR = 66;
const MOST_TOOLS = 20;

export function showStats(stats: Stats, output: Output): void {
  const width = Number.isFinite(output.width) ? output.width : USUAL_WIDTH;
  const { color } = output;
  const span = showSpan(Date.parse(stats.until) - Date.parse(stats.since));
  output.line(`${count(stats.calls, 'call')} in ${span}, ${percent(stats.failures, stats.calls)} failed`);
  if (stats.calls > 0) output.line(color.cyan(sparkline(fitted(stats.overTime, width)).trimEnd()));
  if (stats.tools.length > 0) showTools(stats.tools, output, width);
  if (stats.servers.length > 0) showServers(stats.servers, output);
  if (stats.unused.length > 0)
    output.note(`\nNot called in ${span}: ${stats.unused.map((name) => showLine(name, 60)).join(', ')}`);
}

function showTools(tools: readonly ToolStats[], output: Output, width: number): void {
  const { color } = output;
  const most = Math.max(...tools.map(({ calls }) => calls));
  const room = Math.min(Math.max(width - BESIDE_BAR, NARROWEST_BAR), WIDEST_BAR);
  const rows = tools
    .slice(0, MOST_TOOLS)
    .map(({ server, tool, calls, failures, p50Ms, p95Ms }) => [
      `${showLine(server, 20)} ${showLine(tool, 26)}`.trim(),
      String(calls),
      color.cyan(bar(calls, most, room)),
      failures === 0 ? '' : color.red(percent(failures, calls)),
      showDuration(p50Ms),
      showDuration(p95Ms),
    ]);
  const head = ['tool', 'calls', '', 'failed', 'p50', 'p95'].map((word) => color.dim(word));
  output.line();
  for (const line of textTable([head, ...rows], tableOf(output))) output.line(line);
  if (tools.length > MOST_TOOLS) output.note(`and ${tools.length - MOST_TOOLS} more: --json has all of them`);
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
      lastUsedAt === null ? 'never' : showMoment(Date.parse(lastUsedAt)).slice(0, 16),
      removed ? 'removed' : enabled ? '' : 'disabled',
    ]);
  if (rows.length === 0) return;
  const head = ['server', 'calls', 'failed', 'tools', 'tokens', 'last used', ''].map((word) =>
    color.dim(word),
  );
  output.line();
  for (const line of textTable([head, ...rows], tableOf(output))) output.line(line);
}

/** Names give way on a narrow screen, numbers do not. */
const tableOf = ({ width }: Output): TableOptions => ({ width, shrink: [[0, 10]] });

/** As many values as there are columns: neighbours are put together where there are more. */
function fitted(values: readonly number[], width: number): number[] {
  const together = Math.max(Math.ceil(values.length / Math.max(width, 1)), 1);
  return Array.from({ length: Math.ceil(values.length / together) }, (_, place) =>
    values.slice(place * together, (place + 1) * together).reduce((sum, value) => sum + value, 0),
  );
}

const count = (number: number, word: string): string =>
  `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`;

const percent = (part: number, whole: number): string =>
  whole === 0 ? 'none' : `${Number(((part / whole) * 100).toFixed(1))} %`;
