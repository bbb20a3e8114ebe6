/**
 * Regular expressions of strangers can take exponential time. Those that at worst take a small power of
 * the text's length are kept for texts short enough; the others are not checked here (the server checks
 * its own arguments anyway).
 */

const MAX_PATTERN = 512;

/** A schema that applies the pattern to texts of a bearable length, or undefined when it is not applied. */
export function boundPattern(pattern: string): Record<string, unknown> | undefined {
  const degree = worstDegree(pattern);
  const longest = degree <= 1 ? 65_536 : degree === 2 ? 2_048 : degree === 3 ? 256 : 0;
  if (longest === 0) return undefined;
  return { anyOf: [{ not: { type: 'string' } }, { minLength: longest + 1 }, { pattern }] };
}

/** The power of the text's length that matching may cost at worst; Infinity when it may be exponential. */
export function worstDegree(pattern: string): number {
  if (pattern.length > MAX_PATTERN || !compiles(pattern)) return Infinity;
  if (/\\[1-9]|\\k<|\(\?[=!<]/.test(pattern)) return Infinity; // back-references and look-around
  let unbounded = 0;
  // For each open group: whether something in it repeats without bound, or offers alternatives.
  const groups: Array<{ repeats: boolean; branches: boolean }> = [{ repeats: false, branches: false }];
  let closed: { repeats: boolean; branches: boolean } | undefined;
  for (let index = 0; index < pattern.length; index += 1) {
    const character = pattern[index];
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(pattern.slice(index))?.[0];
    if (quantifier !== undefined) {
      if (repeatsFreely(quantifier)) {
        if (closed?.repeats || closed?.branches) return Infinity;
        unbounded += 1;
        for (const group of groups) group.repeats = true;
      } else if (closed?.repeats && quantifier !== '?') return Infinity;
      index += quantifier.length - 1;
      closed = undefined;
      continue;
    }
    closed = undefined;
    if (character === '\\') index += 1;
    else if (character === '[') index = endOfClass(pattern, index);
    else if (character === '(') groups.push({ repeats: false, branches: false });
    else if (character === '|') for (const group of groups) group.branches = true;
    else if (character === ')') closed = groups.pop();
  }
  return unbounded + (pattern.startsWith('^') ? 0 : 1);
}

const repeatsFreely = (quantifier: string): boolean => {
  const bound = /^\{(\d+)(,(\d*))?\}$/.exec(quantifier);
  if (bound === null) return quantifier !== '?';
  const most = bound[2] === undefined ? bound[1] : bound[3];
  return most === '' || Number(most) > 64;
};

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
