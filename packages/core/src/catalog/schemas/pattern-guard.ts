/**
 * Untrusted regular expressions can take exponential time. Patterns with polynomial worst case are applied to short
 * texts only; the others are not validated here (the server validates its own arguments anyway).
 */

const MAX_PATTERN_LENGTH = 512;
const MAX_STEPS = 10_000_000;
const MAX_TEXT_LENGTH = 65_536;
/** A pattern that can only be applied to shorter texts than this is useless. */
const MIN_TEXT_LENGTH = 32;

/** The worst-case cost of matching: `factor` times the length of the text to the power of `degree`. */
export interface PatternCost {
  readonly degree: number;
  readonly factor: number;
}

/** A schema that applies the pattern to texts of a safe length, or undefined if it is not applied. */
export function boundPattern(pattern: string): Record<string, unknown> | undefined {
  const { degree, factor } = worstCost(pattern);
  const bearable = degree === 0 ? MAX_TEXT_LENGTH : Math.floor((MAX_STEPS / factor) ** (1 / degree));
  if (factor > MAX_STEPS || bearable < MIN_TEXT_LENGTH) return undefined;
  const longest = Math.min(bearable, MAX_TEXT_LENGTH);
  return { anyOf: [{ not: { type: 'string' } }, { minLength: longest + 1 }, { pattern }] };
}

const CONSTANT: PatternCost = { degree: 0, factor: 1 };
const UNBOUNDED: PatternCost = { degree: Infinity, factor: Infinity };

/** A group while parsing: the alternatives before the last `|`, and the sequence since then. */
interface Group {
  alternatives: PatternCost | undefined;
  sequence: PatternCost;
}

/** The worst-case cost; infinite if it may be exponential or is unknown. */
export function worstCost(pattern: string): PatternCost {
  if (pattern.length > MAX_PATTERN_LENGTH || !compiles(pattern)) return UNBOUNDED;
  if (/\\[1-9]|\\k<|\(\?[=!<]/.test(pattern)) return UNBOUNDED; // back-references and look-around
  const whole: Group = { alternatives: undefined, sequence: CONSTANT };
  const groups: Group[] = [whole];
  for (let index = 0; index < pattern.length; index += 1) {
    const group = groups.at(-1) ?? whole;
    const character = pattern[index];
    let item = CONSTANT;
    if (character === '(') {
      groups.push({ alternatives: undefined, sequence: CONSTANT });
      continue;
    }
    if (character === '|') {
      group.alternatives = groupCost(group);
      group.sequence = CONSTANT;
      continue;
    }
    if (character === '\\') index += 1;
    else if (character === '[') index = endOfClass(pattern, index);
    else if (character === ')') item = groupCost(groups.pop() ?? whole);
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(pattern.slice(index + 1))?.[0] ?? '';
    index += quantifier.length;
    const outer = groups.at(-1) ?? whole;
    outer.sequence = sequenceCost(outer.sequence, repeatCost(item, quantifier));
  }
  const { degree, factor } = groupCost(whole);
  // Without a leading anchor, matching starts again at each character.
  const anchored = pattern.startsWith('^') && whole.alternatives === undefined;
  return { degree: anchored ? degree : degree + 1, factor };
}

const sequenceCost = (left: PatternCost, right: PatternCost): PatternCost => ({
  degree: left.degree + right.degree,
  factor: left.factor * right.factor,
});

function groupCost({ alternatives, sequence }: Group): PatternCost {
  if (alternatives === undefined) return sequence;
  return {
    degree: Math.max(alternatives.degree, sequence.degree),
    factor: alternatives.factor + sequence.factor,
  };
}

/** Anything that matches in several ways multiplies them with each repetition. */
function repeatCost(item: PatternCost, quantifier: string): PatternCost {
  if (quantifier === '') return item;
  const [least, most] = boundsOf(quantifier);
  const fixed = item.degree === 0 && item.factor === 1;
  if (most > 64) return fixed ? { degree: 1, factor: 1 } : UNBOUNDED;
  if (most > 1 && item.degree > 0) return UNBOUNDED;
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
