/** The path of an argument in a call: `path`, `options.mode`, `files[*].name`, `files[0]`, `["a.b"]`. */
import { isRecord } from '../json/is-record.js';
import type { DecisionBudget } from './decision-budget.js';

/** A key of an object, an index of a list, or every item of it. */
type Step = string | number | typeof EACH;
export type ArgumentPath = readonly Step[];

const EACH = Symbol('[*]');

/** The path was validated when its rule was loaded. */
export function parseArgumentPath(text: string): ArgumentPath {
  const steps: Step[] = [];
  for (const [, key, quoted, index] of text.matchAll(
    /\.?([^.[\]"]+)|\["((?:[^"\\]|\\.)*)"\]|\[(\*|\d+)\]/g,
  )) {
    if (quoted !== undefined) steps.push(quoted.replace(/\\(.)/g, '$1'));
    else if (key !== undefined) steps.push(key);
    else steps.push(index === '*' ? EACH : Number(index));
  }
  return steps;
}

type Test = (value: unknown, work: DecisionBudget) => boolean;

interface Search {
  readonly path: ArgumentPath;
  readonly test: Test;
  readonly work: DecisionBudget;
}

/**
 * True if there is a value at the path and every such value passes. False if a key has another spelling beside it: it
 * is not certain which of them the server reads.
 */
export const everyAt = (value: unknown, search: Search): boolean => everyFrom(0, value, search);

function everyFrom(depth: number, value: unknown, search: Search): boolean {
  const { path, test, work } = search;
  const step = path[depth];
  if (step === undefined) return test(value, work);
  if (step === EACH) {
    const items = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
    return items.length > 0 && items.every((item) => everyFrom(depth + 1, item, search));
  }
  const found = childOf(value, step);
  if (found === undefined) return false;
  if (isRecord(value) && work.otherSpellings(value, String(step))?.length !== 0) return false;
  return everyFrom(depth + 1, found, search);
}

/**
 * True if any value at the path passes, or at another spelling of it. Lists on the path are searched even if the path
 * does not mention them.
 */
export const someAt = (value: unknown, search: Search): boolean => someFrom(0, value, search);

function someFrom(depth: number, value: unknown, search: Search): boolean {
  const { path, test, work } = search;
  const step = path[depth];
  if (step === undefined) return test(value, work);
  if (step === EACH) {
    // A server may accept one item in place of a list of one.
    const items = Array.isArray(value) ? value : isRecord(value) ? [value, ...Object.values(value)] : [value];
    return items.some((item) => someFrom(depth + 1, item, search));
  }
  const found = childOf(value, step);
  if (found !== undefined && someFrom(depth + 1, found, search)) return true;
  if (Array.isArray(value))
    return (
      found === undefined && typeof step === 'string' && value.some((item) => someFrom(depth, item, search))
    );
  if (!isRecord(value)) return false;
  const others = work.otherSpellings(value, String(step));
  return others === undefined || others.some((key) => someFrom(depth + 1, value[key], search));
}

/** Own properties only, not inherited ones. */
function childOf(value: unknown, step: string | number): unknown {
  if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined;
  const key = String(step);
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
