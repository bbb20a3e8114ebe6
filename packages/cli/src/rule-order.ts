/** Where a new rule goes, and whether one that stands before it leaves it nothing to decide. Pure. */
import type { PlacedRule, Rule } from 'turnbuckle';

type Names = string | readonly string[] | undefined;

/** Keys that make a rule fit fewer calls than its names say. */
const NARROWING = ['arguments', 'annotations', 'flags', 'secrets', 'trusted', 'scope'] as const;

/**
 * True when every call that the later rule fits is decided by the earlier one. Careful: what is not surely covered
 * is not, for what is said of it is "this has no effect".
 */
export function covers(earlier: Rule, later: Rule): boolean {
  if (NARROWING.some((key) => earlier[key] !== undefined)) return false;
  return (
    coversNames(earlier.server, later.server) &&
    coversNames(earlier.tool, later.tool) &&
    coversNames(earlier.kind, later.kind) &&
    coversNames(earlier.caller, later.caller)
  );
}

function coversNames(earlier: Names, later: Names): boolean {
  if (earlier === undefined) return true;
  const wide = [earlier].flat();
  if (wide.some((pattern) => /^\*+$/.test(pattern))) return true;
  if (later === undefined) return false;
  return [later].flat().every((pattern) => wide.some((one) => coversPattern(one, pattern)));
}

/** A `?` never stands for a wildcard of the other one. */
function coversPattern(wide: string, narrow: string): boolean {
  if (wide === narrow) return true;
  const source = [...wide.matchAll(/\\[\\*?]|\*+|\?|[^\\*?]+|\\/gs)].map(([part]) => {
    if (part === '?') return '[^*?\\\\]';
    return part.startsWith('*') ? '[\\s\\S]*' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${source.join('')}$`).test(narrow);
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/**
 * The place in its file's list. A deny goes first. The others go before the first rule there that would leave them
 * nothing to decide and is not a deny, else to the end: nobody's deny is overruled by the way.
 */
export function placeFor(rule: Rule, written: readonly Rule[]): number {
  if (rule.action === 'deny') return 0;
  const at = written.findIndex((one) => covers(one, rule));
  const found = written[at];
  return found === undefined || STRICTNESS[found.action] === STRICTNESS.deny ? written.length : at;
}

/** The order in which files are asked. */
const ORDER: readonly PlacedRule['from'][] = [
  'managed',
  'options',
  'flags',
  'environment',
  'user',
  'local',
  'project',
];

/** The rule that decides instead of this one, put at this place of that file; undefined when it has an effect. */
export function decidesInstead(
  rule: Rule,
  place: { readonly file: string; readonly from: PlacedRule['from']; readonly position: number },
  rules: readonly PlacedRule[],
): PlacedRule | undefined {
  const isBefore = ({ file, from, position }: PlacedRule): boolean =>
    file === place.file ? position < place.position : ORDER.indexOf(from) < ORDER.indexOf(place.from);
  return rules.find((placed) => isBefore(placed) && covers(placed.rule, rule));
}
