/** What a person is shown of a value: all of it, nearly always, and of what nobody can read its beginning. */
import { ExactNumber } from './exact-number.js';
import { firstKeys, wideMembers } from './wide-objects.js';

interface Budget {
  /** Characters. */
  left: number;
  depth: number;
}

/** What a bracket, a comma and a number take. */
const PART = 4;
const CUT = '…';
const DEEPEST = 64;

/**
 * A copy of at most about so many characters, with a mark wherever something is left out; numbers by their digits become
 * texts. Looks at no more than it shows.
 */
export const shortened = (value: unknown, maxLength: number): unknown =>
  shorten(value, { left: maxLength, depth: 0 });

function shorten(value: unknown, budget: Budget): unknown {
  budget.left -= PART;
  if (typeof value === 'string') return shortText(value, budget);
  if (value instanceof ExactNumber) return shortText(value.text, budget);
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  // A date or the like, of a program that calls.
  if (!isList && Object.getPrototypeOf(value) !== Object.prototype) return value;
  if (budget.depth >= DEEPEST) return CUT;
  budget.depth += 1;
  const shown = isList ? shortList(value, budget) : shortObject(value, budget);
  budget.depth -= 1;
  return shown;
}

function shortText(text: string, budget: Budget): string {
  const shown = Math.max(Math.min(text.length, budget.left), 0);
  budget.left -= shown;
  return shown === text.length
    ? text
    : `${text.slice(0, shown)}${CUT} (${text.length - shown} more characters)`;
}

function shortList(list: readonly unknown[], budget: Budget): unknown[] {
  const shown: unknown[] = [];
  for (const item of list) {
    if (budget.left <= 0) return [...shown, `${CUT} (${list.length - shown.length} more)`];
    shown.push(shorten(item, budget));
  }
  return shown;
}

function shortObject(object: object, budget: Budget): object {
  const shown: [string, unknown][] = [];
  const keys = firstKeys(object);
  const count = wideMembers(object) ?? keys.length;
  for (const key of keys) {
    if (budget.left <= 0) break;
    const name = shortText(key, budget);
    shown.push([name, shorten(Reflect.get(object, key), budget)]);
  }
  if (shown.length < count) shown.push([CUT, `${count - shown.length} more`]);
  return Object.fromEntries(shown);
}
