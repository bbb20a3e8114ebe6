/** Rules as text, as every command shows them. */
import { createHash } from 'node:crypto';
import { type Rule, TurnbuckleError } from 'turnbuckle';
import type { PlacedRule } from 'turnbuckle/host';
import type { Flags } from '../command.js';
import { showLine } from '../terminal/untrusted-text.js';

const KINDS = ['tool', 'resource', 'prompt'] as const;

/** What --kind names; undefined when it is not given. */
export function parseKind({ kind }: Flags): (typeof KINDS)[number] | undefined {
  const found = KINDS.find((one) => one === kind);
  if (kind === undefined || found !== undefined) return found;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Invalid --kind "${String(kind)}": expected "tool", "resource" or "prompt".`,
    { hint: 'Use --kind tool, --kind resource or --kind prompt.' },
  );
}

/** What a rule fits, and why it is there. */
export function describeConditions({ action: _action, reason, ...conditions }: Rule): string {
  const said = Object.entries(conditions).map(
    ([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${said.length === 0 ? 'everything' : said.join(', ')}${reason === undefined ? '' : `  # ${reason}`}`;
}

export const ruleLocation = ({ file, line, from }: PlacedRule): string =>
  file === undefined ? from : showLine(`${file}:${line ?? 1}`, 300);

export const ruleLine = (placed: PlacedRule, index: number): string =>
  `rule ${index}, ${ruleLocation(placed)}: ${placed.rule.action} ${showLine(describeConditions(placed.rule), 200)}`;

/** Independent of the position in the file, unlike the number. */
export const ruleId = ({ rule, file = '' }: PlacedRule): string =>
  createHash('sha256')
    .update(JSON.stringify([file, rule]))
    .digest('hex')
    .slice(0, 8);
