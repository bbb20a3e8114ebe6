/** A short copy of any data, for events that are sent to many clients. */

export interface TruncateLimits {
  /** Characters of one string. */
  readonly text: number;
  /** Characters of all strings and keys together. */
  readonly all: number;
}

const ELLIPSIS = '…';
const MAX_ITEMS = 200;
const MAX_DEPTH = 8;

/** Plain data; errors by their message. Omissions are marked with `…`. */
export function truncateData(value: unknown, limits: TruncateLimits): unknown {
  return copy(value, { limits, left: limits.all }, 0);
}

interface Budget {
  readonly limits: TruncateLimits;
  left: number;
}

function copy(value: unknown, budget: Budget, depth: number): unknown {
  if (typeof value === 'string') return truncate(value, budget);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? undefined : value;
  if (depth > MAX_DEPTH || budget.left <= 0) return ELLIPSIS;
  if (Array.isArray(value)) {
    const list = value.slice(0, MAX_ITEMS).map((part) => copy(part, budget, depth + 1));
    return value.length > MAX_ITEMS ? [...list, ELLIPSIS] : list;
  }
  const entries = Object.entries(value instanceof Error ? errorFields(value) : value);
  const kept = entries
    .slice(0, MAX_ITEMS)
    .map(([key, part]) => [truncate(key, budget), copy(part, budget, depth + 1)]);
  return Object.fromEntries(kept);
}

function truncate(text: string, budget: Budget): string {
  const most = Math.max(Math.min(budget.limits.text, budget.left), 0);
  budget.left -= Math.min(text.length, most);
  return text.length > most ? `${text.slice(0, most)}${ELLIPSIS}` : text;
}

function errorFields(error: Error): Record<string, unknown> {
  const { code, hint } = error as { code?: unknown; hint?: unknown };
  return { code, message: error.message, hint };
}
