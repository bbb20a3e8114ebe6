/** Where an argument stands in a call: `path`, `options.mode`, `files[*].name`, `files[0]`, `["a.b"]`. */
import { isRecord } from '../is-record.js';

/** A key of an object, a place in a list, or everything in it. */
type Step = string | number | typeof EACH;
export type ArgumentPath = readonly Step[];

const EACH = Symbol('[*]');

/** The path was checked when its rule was read. */
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

type Test = (value: unknown) => boolean;

/** True when there is something at the path, and all of it passes. */
export function everyAt(value: unknown, path: ArgumentPath, test: Test, depth = 0): boolean {
  const step = path[depth];
  if (step === undefined) return test(value);
  if (step === EACH) {
    const items = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
    return items.length > 0 && items.every((item) => everyAt(item, path, test, depth + 1));
  }
  const found = childOf(value, step);
  return found !== undefined && everyAt(found, path, test, depth + 1);
}

/** True when anything at the path passes. Lists on the way are looked into, whether the path says so or not. */
export function someAt(value: unknown, path: ArgumentPath, test: Test, depth = 0): boolean {
  const step = path[depth];
  if (step === undefined) return test(value);
  if (step === EACH) {
    // A server may take one item for a list of one.
    const items = Array.isArray(value) ? value : isRecord(value) ? [value, ...Object.values(value)] : [value];
    return items.some((item) => someAt(item, path, test, depth + 1));
  }
  const found = childOf(value, step);
  if (found !== undefined) return someAt(found, path, test, depth + 1);
  return (
    typeof step === 'string' && Array.isArray(value) && value.some((item) => someAt(item, path, test, depth))
  );
}

/** What is there by its own right; nothing that every object has. */
function childOf(value: unknown, step: string | number): unknown {
  if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined;
  const key = String(step);
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
