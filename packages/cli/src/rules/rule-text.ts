/** Rules in words, as every command shows them. */
import { createHash } from 'node:crypto';
import { type PlacedRule, type Rule, TurnbuckleError } from 'turnbuckle';
import type { Flags } from './command.js';
import { showLine } from './untrusted-text.js';

const KINDS = ['tool', 'resource', 'prompt'] as const;

/** What --kind names; undefined when it is not given. */
export function kindOf({ kind }: Flags): (typeof KINDS)[number] | undefined {
  const found = KINDS.find((one) => one === kind);
  if (kind === undefined || found !== undefined) return found;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Invalid --kind "${String(kind)}": expected tool, resource or prompt.`,
    { hint: `One of: ${KINDS.join(', ')}` },
  );
}

/** What a rule fits, and why it is there. */
export function conditionsOf({ action: _action, reason, ...conditions }: Rule): string {
  const said = Object.entries(conditions).map(
    ([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${said.length === 0 ? 'everything' : said.join(', ')}${reason === undefined ? '' : `  # ${reason}`}`;
}

export const placeOf = ({ file, line, from }: PlacedRule): string =>
  file === undefined ? from : showLine(`${file}:${line ?? 1}`, 300);

export const ruleLine = (placed: PlacedRule, index: number): string =>
  `rule ${index}, ${placeOf(placed)}: ${placed.rule.action} ${showLine(conditionsOf(placed.rule), 200)}`;

/** Stays the same wherever the rule stands in its file; numbers do not. */
export const idOf = ({ rule, file = '' }: PlacedRule): string =>
  createHash('sha256')
    .update(JSON.stringify([file, rule]))
    .digest('hex')
    .slice(0, 8);
