/** Incidents on the terminal. Their texts may quote servers; they were made safe when they were written. */
import type { Output } from '../terminal/output.js';
import { formatTimestamp } from '../terminal/time-format.js';
import { showLine } from '../terminal/untrusted-text.js';

export interface IncidentLine {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly code?: string | undefined;
  readonly text: string;
  readonly next?: string | undefined;
}

const MAX_WIDTH = 2_000;

/** When, how serious and what; below it, the next step. */
export function incidentLines(
  { level, code, text, next }: IncidentLine,
  at: string,
  color: Output['color'],
): string {
  const paints = { error: color.red, warn: color.yellow, info: color.cyan, debug: color.dim };
  const head = `${color.dim(formatTimestamp(Date.parse(at)))} ${paints[level](level.padEnd(5))}`;
  const what = showLine(code === undefined ? text : `${code} ${text}`, MAX_WIDTH);
  const step = next === undefined ? '' : `\n      Next: ${showLine(next, MAX_WIDTH)}`;
  return `${head} ${what}${step}`;
}
