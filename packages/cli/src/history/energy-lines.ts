/** What calls cost, and what is left of budgets, on the terminal. */
import type { Output } from '../terminal/output.js';
import { bar } from '../terminal/plot.js';
import { textTable } from '../terminal/text-table.js';
import { formatPeriod } from '../terminal/time-format.js';
import { showLine } from '../terminal/untrusted-text.js';

export interface SpentEnergy {
  /** Absent: the host. */
  readonly caller?: string;
  readonly server: string;
  readonly tool: string;
  readonly calls: number;
  readonly energy: number;
}

export interface BudgetLeft {
  readonly for: 'run' | 'caller' | 'server';
  readonly name: string;
  readonly limit: number;
  readonly left: number;
  readonly perSeconds?: number;
}

export interface EnergyReport {
  readonly spent: readonly SpentEnergy[];
  readonly total: number;
  readonly budgets: readonly BudgetLeft[];
}

const MAX_ROWS = 20;
const BAR_WIDTH = 20;

export function showEnergy({ spent, total, budgets }: EnergyReport, output: Output): void {
  if (spent.length === 0) output.note('No energy use was recorded in this period.');
  else {
    output.line(`${shown(total)} energy used`);
    output.line();
    showTable(output, ['caller', 'tool', 'calls', 'energy'], spent.slice(0, MAX_ROWS).map(toSpentRow));
    if (spent.length > MAX_ROWS) output.note(`and ${spent.length - MAX_ROWS} more. To list all, use --json.`);
  }
  if (budgets.length === 0) return;
  output.line();
  showTable(
    output,
    ['budget', 'left', '', 'refills'],
    budgets.slice(0, MAX_ROWS).map((budget) => toBudgetRow(budget, output)),
  );
}

function showTable(output: Output, head: readonly string[], rows: readonly string[][]): void {
  const { color, width } = output;
  const table = [head.map((word) => color.dim(word)), ...rows];
  for (const line of textTable(table, { width, shrink: [[1, 10]] })) output.line(line);
}

const toSpentRow = ({ caller, server, tool, calls, energy }: SpentEnergy): string[] => [
  caller === undefined ? 'host' : showLine(caller, 30),
  `${showLine(server, 20)} ${showLine(tool, 30)}`,
  String(calls),
  shown(energy),
];

function toBudgetRow({ for: kind, name, limit, left, perSeconds }: BudgetLeft, { color }: Output): string[] {
  const rest = Math.max(left, 0);
  const line = bar(rest, Math.max(limit, 1), BAR_WIDTH);
  return [
    `${kind} ${showLine(name, 40)}`,
    `${shown(rest)} of ${limit}`,
    rest < limit / 5 ? color.red(line) : color.cyan(line),
    perSeconds === undefined ? 'when the daemon restarts' : `in ${formatPeriod(perSeconds * 1_000)}`,
  ];
}

const shown = (energy: number): string => String(Math.round(energy * 10) / 10);
