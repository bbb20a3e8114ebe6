/** Where a new rule goes, and which others decide some or all of its calls. Pure. */
import type { Rule } from 'turnbuckle';
import type { PlacedRule } from 'turnbuckle/host';
import { covers, overlaps } from './rule-overlap.js';

/**
 * The place in its file's list. A deny goes first. An ask goes before the first allow that would let some of its calls
 * pass, unless that is an exception to it; both ask and allow go before the first rule that would leave them nothing
 * to decide. Else to the end; and never before a deny for the same calls: nobody's deny is overruled by the way.
 */
export function positionFor(rule: Rule, written: readonly Rule[]): number {
  if (rule.action === 'deny') return 0;
  const afterDenies = 1 + written.findLastIndex((one) => one.action === 'deny' && overlaps(one, rule));
  const at = written.findIndex(
    (one, index) =>
      index >= afterDenies && (covers(one, rule) || (rule.action === 'ask' && loosens(one, rule))),
  );
  return at === -1 ? written.length : at;
}

/** An allow for some of the calls that are to be asked for; one for nothing but those is an exception that somebody made. */
const loosens = (allow: Rule, ask: Rule): boolean =>
  allow.action === 'allow' && overlaps(allow, ask) && !covers(ask, allow);

/** The order in which files are asked. */
const SCOPE_ORDER: readonly PlacedRule['from'][] = [
  'managed',
  'options',
  'flags',
  'environment',
  'user',
  'local',
  'project',
];

export interface RuleLocation {
  readonly file: string;
  readonly from: PlacedRule['from'];
  readonly position: number;
}

export interface RuleOverlaps {
  /** The one that decides all of its calls: it has no effect. */
  readonly shadowedBy: PlacedRule | undefined;
  /** They come first, and say something else about some of its calls. */
  readonly before: readonly PlacedRule[];
  /** It comes first, and says something else about some of their calls. */
  readonly after: readonly PlacedRule[];
}

/** What the rules in effect mean to this one, put at this place of that file. */
export function findOverlaps(rule: Rule, place: RuleLocation, rules: readonly PlacedRule[]): RuleOverlaps {
  const isBefore = ({ file, from, position }: PlacedRule): boolean =>
    file === place.file
      ? position < place.position
      : SCOPE_ORDER.indexOf(from) < SCOPE_ORDER.indexOf(place.from);
  const shadowedBy = rules.find((placed) => isBefore(placed) && covers(placed.rule, rule));
  const others = rules.filter(
    (placed) => placed.rule.action !== rule.action && overlaps(placed.rule, rule) && placed !== shadowedBy,
  );
  return {
    shadowedBy,
    before: shadowedBy === undefined ? others.filter(isBefore) : [],
    after: shadowedBy === undefined ? others.filter((one) => !isBefore(one) && !covers(one.rule, rule)) : [],
  };
}
