/**
 * Regular expressions of strangers can take exponential time. Those that at worst take a small power of
 * the text's length are kept for texts short enough; the others are not checked here (the server checks
 * its own arguments anyway).
 */

const MAX_PATTERN = 512;
const MAX_STEPS = 10_000_000;
const LONGEST_TEXT = 65_536;
/** A pattern that can only be applied to texts shorter than this is of no use. */
const SHORTEST_TEXT = 32;

/** What matching costs at worst: `factor` times the text's length to the power of `degree`. */
export interface PatternCost {
  readonly degree: number;
  readonly factor: number;
}

/** A schema that applies the pattern to texts of a bearable length, or undefined when it is not applied. */
export function boundPattern(pattern: string): Record<string, unknown> | undefined {
  const { degree, factor } = worstCost(pattern);
  const bearable = degree === 0 ? LONGEST_TEXT : Math.floor((MAX_STEPS / factor) ** (1 / degree));
  if (factor > MAX_STEPS || bearable < SHORTEST_TEXT) return undefined;
  const longest = Math.min(bearable, LONGEST_TEXT);
  return { anyOf: [{ not: { type: 'string' } }, { minLength: longest + 1 }, { pattern }] };
}

const FIXED: PatternCost = { degree: 0, factor: 1 };
const ENDLESS: PatternCost = { degree: Infinity, factor: Infinity };

/** A group that is being read: the alternatives before the last `|`, and the sequence since then. */
interface Group {
  alternatives: PatternCost | undefined;
  sequence: PatternCost;
}

/** The cost of matching at worst; infinite when it may be exponential, or cannot be told. */
export function worstCost(pattern: string): PatternCost {
  if (pattern.length > MAX_PATTERN || !compiles(pattern)) return ENDLESS;
  if (/\\[1-9]|\\k<|\(\?[=!<]/.test(pattern)) return ENDLESS; // back-references and look-around
  const whole: Group = { alternatives: undefined, sequence: FIXED };
  const groups: Group[] = [whole];
  for (let index = 0; index < pattern.length; index += 1) {
    const group = groups.at(-1) ?? whole;
    const character = pattern[index];
    let item = FIXED;
    if (character === '(') {
      groups.push({ alternatives: undefined, sequence: FIXED });
      continue;
    }
    if (character === '|') {
      group.alternatives = closed(group);
      group.sequence = FIXED;
      continue;
    }
    if (character === '\\') index += 1;
    else if (character === '[') index = endOfClass(pattern, index);
    else if (character === ')') item = closed(groups.pop() ?? whole);
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(pattern.slice(index + 1))?.[0] ?? '';
    index += quantifier.length;
    const outer = groups.at(-1) ?? whole;
    outer.sequence = both(outer.sequence, repeated(item, quantifier));
  }
  const { degree, factor } = closed(whole);
  // Without an anchor in front of everything, matching begins anew at each character.
  const anchored = pattern.startsWith('^') && whole.alternatives === undefined;
  return { degree: anchored ? degree : degree + 1, factor };
}

const both = (left: PatternCost, right: PatternCost): PatternCost => ({
  degree: left.degree + right.degree,
  factor: left.factor * right.factor,
});

function closed({ alternatives, sequence }: Group): PatternCost {
  if (alternatives === undefined) return sequence;
  return {
    degree: Math.max(alternatives.degree, sequence.degree),
    factor: alternatives.factor + sequence.factor,
  };
}

/** Whatever can match in more than one way multiplies its ways each time it is repeated. */
function repeated(item: PatternCost, quantifier: string): PatternCost {
  if (quantifier === '') return item;
  const [least, most] = boundsOf(quantifier);
  const fixed = item.degree === 0 && item.factor === 1;
  if (most > 64) return fixed ? { degree: 1, factor: 1 } : ENDLESS;
  if (most > 1 && item.degree > 0) return ENDLESS;
  let factor = 0;
  for (let times = least; times <= most; times += 1) factor += item.factor ** times;
  return { degree: item.degree, factor };
}

function boundsOf(quantifier: string): readonly [least: number, most: number] {
  if (quantifier.startsWith('?')) return [0, 1];
  const [, least, range, most] = /^\{(\d+)(,(\d*))?\}/.exec(quantifier) ?? [];
  if (least === undefined) return [0, Infinity];
  if (range === undefined) return [Number(least), Number(least)];
  return [Number(least), most === undefined || most === '' ? Infinity : Number(most)];
}

function endOfClass(pattern: string, start: number): number {
  let index = start + 1;
  while (index < pattern.length && pattern[index] !== ']') index += pattern[index] === '\\' ? 2 : 1;
  return index;
}

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}
