/** Whether two rules can fit the same call, and whether one fits every call of the other. Pure. */
import type { Rule } from 'turnbuckle';

type Names = string | readonly string[] | undefined;

const HOST = 'host';
/** In a rule: everybody but the host. */
const AGENTS = 'agents';

/** Keys that make a rule match fewer calls than its names. */
const NARROWING_KEYS = ['arguments', 'annotations', 'flags', 'secrets', 'trusted', 'scope'] as const;

/**
 * True when every call that the later rule fits is decided by the earlier one. Careful: what is not surely covered
 * is not, for what is said of it is "this has no effect".
 */
export function covers(earlier: Rule, later: Rule): boolean {
  if (NARROWING_KEYS.some((key) => earlier[key] !== undefined)) return false;
  return (
    coversNames(earlier.server, later.server) &&
    coversNames(earlier.tool, later.tool) &&
    coversNames(earlier.kind, later.kind) &&
    coversNames(earlier.caller, later.caller, coversCaller)
  );
}

function coversNames(earlier: Names, later: Names, coversOne = coversPattern): boolean {
  if (earlier === undefined) return true;
  const wide = [earlier].flat();
  if (wide.some((pattern) => /^\*+$/.test(pattern))) return true;
  if (later === undefined) return false;
  return [later].flat().every((pattern) => wide.some((one) => coversOne(one, pattern)));
}

function coversCaller(wide: string, narrow: string): boolean {
  if (wide === AGENTS) return narrow === AGENTS || !patternsOverlap(narrow, HOST);
  return narrow !== AGENTS && coversPattern(wide, narrow);
}

/** A `?` never matches a wildcard of the other pattern. */
function coversPattern(wide: string, narrow: string): boolean {
  if (wide === narrow) return true;
  const source = [...wide.matchAll(/\\[\\*?]|\*+|\?|[^\\*?]+|\\/gs)].map(([part]) => {
    if (part === '?') return '[^*?\\\\]';
    return part.startsWith('*') ? '[\\s\\S]*' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${source.join('')}$`).test(narrow);
}

/** False when no call fits both. Careful the other way: what may overlap does. */
export function overlaps(one: Rule, other: Rule): boolean {
  if (one.trusted !== undefined && other.trusted !== undefined && one.trusted !== other.trusted) return false;
  return (
    namesOverlap(one.server, other.server) &&
    namesOverlap(one.kind, other.kind) &&
    namesOverlap(one.scope, other.scope) &&
    namesOverlap(
      one.tool,
      other.tool,
      [one, other].every(maybeResource) ? addressesOverlap : patternsOverlap,
    ) &&
    namesOverlap(one.caller, other.caller, (left, right) => callersOverlap([left, right], [one, other]))
  );
}

function namesOverlap(one: Names, other: Names, meet = patternsOverlap): boolean {
  if (one === undefined || other === undefined) return true;
  return [one].flat().some((left) => [other].flat().some((right) => meet(left, right)));
}

/** What can be written in one way only, also as the address of a resource. */
const hasOneSpelling = (pattern: string): boolean => /^[\w*-]+(?:\.[\w*-]+)*$/.test(pattern);

const maybeResource = ({ kind }: Rule): boolean => kind === undefined || [kind].flat().includes('resource');

/** Guards know an address in all ways to write it. */
const addressesOverlap = (one: string, other: string): boolean =>
  !(hasOneSpelling(one) && hasOneSpelling(other)) || patternsOverlap(one.toLowerCase(), other.toLowerCase());

function callersOverlap(names: readonly [string, string], rules: readonly Rule[]): boolean {
  if (!names.includes(AGENTS)) return patternsOverlap(...names);
  // An agent that calls itself `host` is no host, but a guard for the host holds for it too.
  return !names.includes(HOST) || rules.every(({ action }) => action !== 'allow');
}

/** What a part of a pattern stands for, if not for itself. */
const ANY_CHARACTER = 1;
const ANY_TEXT = 2;

const partsOf = (pattern: string): ReadonlyArray<string | number> =>
  [...pattern.matchAll(/\\[\\*?]|\*+|[\s\S]/g)].map(([part]) => {
    if (part === '?') return ANY_CHARACTER;
    if (part.startsWith('*')) return ANY_TEXT;
    return part.length === 2 ? part.slice(1) : part;
  });

/** Whether there is a text that fits both: each place in the one with each place in the other, reached or not. */
function patternsOverlap(one: string, other: string): boolean {
  if (one === other) return true;
  const [left, right] = [partsOf(one), partsOf(other)];
  let reached = new Set([0]);
  for (let at = 0; at <= left.length; at += 1) {
    const part = left[at];
    const next = new Set<number>();
    for (let place = 0; place <= right.length; place += 1) {
      if (!reached.has(place)) continue;
      const beside = right[place];
      if (beside === ANY_TEXT || (part === ANY_TEXT && beside !== undefined)) reached.add(place + 1);
      if (part === undefined) continue;
      if (part === ANY_TEXT || beside === ANY_TEXT) next.add(place);
      else if (
        beside !== undefined &&
        (part === ANY_CHARACTER || beside === ANY_CHARACTER || part === beside)
      )
        next.add(place + 1);
    }
    if (at === left.length) return reached.has(right.length);
    reached = next;
  }
  return false;
}
