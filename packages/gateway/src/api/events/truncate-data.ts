/** A copy of any data that is short: for what is told to many, at once. */

export interface ShortLimits {
  /** Characters of one text. */
  readonly text: number;
  /** Characters of all texts and names together. */
  readonly all: number;
}

const CUT = '…';
const MOST_PARTS = 200;
const DEEPEST = 8;

/** Plain data; errors as what they say. What is left out is marked by `…`. */
export function shorten(value: unknown, limits: ShortLimits): unknown {
  return copy(value, { limits, left: limits.all }, 0);
}

interface Budget {
  readonly limits: ShortLimits;
  left: number;
}

function copy(value: unknown, budget: Budget, depth: number): unknown {
  if (typeof value === 'string') return cut(value, budget);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? undefined : value;
  if (depth > DEEPEST || budget.left <= 0) return CUT;
  if (Array.isArray(value)) {
    const list = value.slice(0, MOST_PARTS).map((part) => copy(part, budget, depth + 1));
    return value.length > MOST_PARTS ? [...list, CUT] : list;
  }
  const entries = Object.entries(value instanceof Error ? sayings(value) : value);
  const kept = entries
    .slice(0, MOST_PARTS)
    .map(([key, part]) => [cut(key, budget), copy(part, budget, depth + 1)]);
  return Object.fromEntries(kept);
}

function cut(text: string, budget: Budget): string {
  const most = Math.max(Math.min(budget.limits.text, budget.left), 0);
  budget.left -= Math.min(text.length, most);
  return text.length > most ? `${text.slice(0, most)}${CUT}` : text;
}

function sayings(error: Error): Record<string, unknown> {
  const { code, hint } = error as { code?: unknown; hint?: unknown };
  return { code, message: error.message, hint };
}
