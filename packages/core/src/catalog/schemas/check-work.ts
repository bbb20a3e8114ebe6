/**
 * How much work it is to check a value against a schema, at worst: what one part of a value takes, whatever the keywords
 * of the schema, times the parts of the value. Known before the check begins, because a check cannot be interrupted.
 */
import { isRecord } from '../is-record.js';
import { wideMembers } from '../json/wide-objects.js';
import { worstCost } from './pattern-guard.js';

/** What one part of a value takes, in steps of a few nanoseconds. */
export interface CheckWork {
  /** The place is the power of a text's length that takes so many steps; at 0 what every part takes. */
  readonly steps: readonly number[];
  /** What an object takes beside that. */
  readonly objects: number;
  /** What looks at all that is inside, too: such keywords add up from one level to the next. */
  readonly whole: number;
}

/** Texts are matched up to the length that a pattern of this degree is bounded to: see pattern-guard.ts. */
const LONGEST = [0, 65_536, 3_163, 216, 57];
const NO_WORK: CheckWork = { steps: LONGEST.map(() => 0), objects: 0, whole: 0 };
const MAX_WORK = 1e12;
/** More than any message may have. */
const MAX_DEPTH = 1_000;

/** Keywords whose schemas apply to the same value. */
const SAME_LISTS = ['allOf', 'anyOf', 'oneOf'];
const SAME = ['not', 'if', 'then', 'else'];
const SAME_MAPS = ['dependentSchemas', 'dependencies'];
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];
/** Keywords whose schemas apply to what is inside; several may apply to the same part. */
const INSIDE = [
  'items',
  'prefixItems',
  'additionalItems',
  'contains',
  'unevaluatedItems',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
];

const NAMED = new Set(['properties', 'dependentRequired', ...SAME_MAPS]);

const EACH_NAME = 4;
const EACH_VALUE = 12;
const EACH_HASH = 400;
const EACH_CHARACTER = 0.5;
/** The names and patterns that a key is compared with, one after the other, when there may be no others. */
const EACH_ALTERNATIVE = 4;
const EACH_PATTERN = 60;
const EVALUATED_FACTOR = 64;

type Schema = Readonly<Record<string, unknown>>;
type Resolve = (reference: string) => unknown;

/** Of a schema that does not refer to itself. Every reference is followed as often as it stands there. */
export function workOf(root: Schema, resolve: Resolve): CheckWork {
  const known = new Map<object, CheckWork>();
  const find = (node: unknown): CheckWork => {
    if (!isRecord(node)) return NO_WORK;
    const before = known.get(node);
    if (before !== undefined) return before;
    // Stands for itself, should the schema lead back here after all.
    known.set(node, NO_WORK);
    const inside = insideOf(node).map((schemas) => schemas.map(find).reduce(most, NO_WORK));
    const deeper = inside.reduce(sum, NO_WORK);
    const own = ownWork(node);
    const here = { ...most(own, deeper), whole: own.whole + deeper.whole };
    const work = sameOf(node, resolve).map(find).reduce(sum, here);
    known.set(node, work);
    return work;
  };
  return scaled(find(root), tracksEvaluated(root) ? EVALUATED_FACTOR : 1);
}

/** Of one that does: all of it for each part, as often as its references multiply. */
export function recursiveWorkOf(root: Schema, times: number): CheckWork {
  const all: unknown[] = [root];
  let work = NO_WORK;
  for (const node of all) {
    if (typeof node !== 'object' || node === null) continue;
    for (const part of Object.values(node)) all.push(part);
    if (isRecord(node)) work = sum(work, ownWork(node));
  }
  // What looks at all that is inside is met again at every level.
  return scaled({ ...work, whole: work.whole * 64 }, times * (tracksEvaluated(root) ? EVALUATED_FACTOR : 1));
}

/**
 * Tells whether a value can be checked in so many steps. `growth` is how many times more often each level is looked at
 * than the one above it.
 */
export function workLimit(work: CheckWork, growth: number): (value: unknown, max: number) => boolean {
  const { steps, objects, whole } = work;
  const perPart = (steps[0] ?? 0) + whole;
  const perCharacter = whole / 16;
  const powers = [...steps.keys()].filter((power) => power > 0 && (steps[power] ?? 0) > 0);
  const readsTexts = perCharacter > 0 || powers.length > 0;
  const perLevel = Math.max(1, growth);
  let left = 0;
  const text = (length: number, times: number, longest: readonly number[] | undefined): void => {
    left -= times * perCharacter * length;
    for (const power of powers)
      left -= times * (steps[power] ?? 0) * Math.min(length, longest?.[power] ?? length) ** power;
  };
  const look = (part: unknown, times: number, depth: number): void => {
    left -= times * perPart;
    // Nothing so deep is sent; a program may hand over even a ring.
    if (depth > MAX_DEPTH) left = -1;
    if (typeof part === 'string') {
      if (readsTexts) text(part.length, times, LONGEST);
      return;
    }
    if (typeof part !== 'object' || part === null) return;
    const below = times * perLevel;
    const isList = Array.isArray(part);
    const members = isList ? part.length : (wideMembers(part) ?? 0);
    if (!isList) left -= times * objects;
    // So that no time is spent on what is too much anyway.
    if (members * below * perPart > left) left = -1;
    if (isList) for (let at = 0; at < members && left >= 0; at += 1) look(part[at], below, depth + 1);
    else if (left >= 0) lookInto(part, below, depth + 1);
  };
  const lookInto = (object: object, times: number, depth: number): void => {
    for (const key in object) {
      // Names are matched whatever their length.
      if (readsTexts) text(key.length, times, undefined);
      look(Reflect.get(object, key), times, depth);
      if (left < 0) return;
    }
  };
  return (value, max) => {
    left = max;
    look(value, 1, 0);
    return left >= 0;
  };
}

function sameOf(node: Schema, resolve: Resolve): unknown[] {
  return [
    ...SAME_LISTS.flatMap((key) => (Array.isArray(node[key]) ? node[key] : [])),
    ...SAME.map((key) => node[key]),
    ...SAME_MAPS.flatMap((key) => (isRecord(node[key]) ? Object.values(node[key]) : [])),
    ...REFERENCES.map((key) => (typeof node[key] === 'string' ? resolve(node[key]) : undefined)),
  ];
}

/** What may apply to one part inside, each with those of which one at most does. */
function insideOf(node: Schema): unknown[][] {
  const { properties, patternProperties } = node;
  return [
    isRecord(properties) ? Object.values(properties) : [],
    ...(isRecord(patternProperties) ? Object.values(patternProperties).map((schema) => [schema]) : []),
    ...INSIDE.map((key) => (Array.isArray(node[key]) ? node[key] : [node[key]])),
  ];
}

function ownWork(node: Schema): CheckWork {
  let each = 1;
  let objects = 0;
  const steps = LONGEST.map(() => 0);
  for (const [key, value] of Object.entries(node)) {
    each += ownSteps(key, value);
    objects += namesIn(key, value) * EACH_NAME;
  }
  const names = isRecord(node.properties) ? Object.keys(node.properties).length : 0;
  const patterns = isRecord(node.patternProperties) ? Object.keys(node.patternProperties) : [];
  each += patterns.length * EACH_PATTERN;
  if ('additionalProperties' in node) each += (names + patterns.length) * EACH_ALTERNATIVE;
  const read = typeof node.pattern === 'string' ? [node.pattern, ...patterns] : patterns;
  for (const pattern of read) {
    const { degree, factor } = worstCost(pattern);
    const at = Math.min(degree, LONGEST.length - 1);
    steps[at] = (steps[at] ?? 0) + factor * EACH_CHARACTER;
  }
  if ('minLength' in node || 'maxLength' in node) steps[1] = (steps[1] ?? 0) + EACH_CHARACTER;
  steps[0] = (steps[0] ?? 0) + each;
  return { steps, objects, whole: node.uniqueItems === true ? EACH_HASH : 0 };
}

/** A keyword may look at every value that it holds, for a single part. */
function ownSteps(key: string, value: unknown): number {
  if (key === 'enum' || key === 'const') return partsOf(value) * EACH_VALUE;
  // Those that fit are gathered, which takes the longer the more there are.
  if (SAME_LISTS.includes(key) && Array.isArray(value)) return 1 + value.length ** 2 / 256;
  return key === 'type' && Array.isArray(value) ? value.length : 1;
}

/** And at every name, for a single object. */
function namesIn(key: string, value: unknown): number {
  if (key === 'required') return Array.isArray(value) ? value.length : 0;
  if (!NAMED.has(key) || !isRecord(value)) return 0;
  const lists = Object.values(value).filter(Array.isArray);
  return lists.reduce((all, list) => all + list.length, Object.keys(value).length);
}

function partsOf(value: unknown): number {
  const all: unknown[] = [value];
  for (const part of all) if (typeof part === 'object' && part !== null) all.push(...Object.values(part));
  return all.length;
}

/** With these keywords it is noted of every value what was looked at. */
const tracksEvaluated = (root: Schema): boolean => {
  const all: unknown[] = [root];
  for (const part of all) {
    if (typeof part !== 'object' || part === null) continue;
    if ('unevaluatedProperties' in part || 'unevaluatedItems' in part) return true;
    for (const inner of Object.values(part)) all.push(inner);
  }
  return false;
};

const sum = (left: CheckWork, right: CheckWork): CheckWork =>
  right === NO_WORK ? left : joined(left, right, (one, other) => Math.min(one + other, MAX_WORK));

const most = (left: CheckWork, right: CheckWork): CheckWork =>
  right === NO_WORK ? left : joined(left, right, Math.max);

const joined = (
  left: CheckWork,
  right: CheckWork,
  join: (one: number, other: number) => number,
): CheckWork => ({
  steps: left.steps.map((steps, at) => join(steps, right.steps[at] ?? 0)),
  objects: join(left.objects, right.objects),
  whole: join(left.whole, right.whole),
});

const scaled = ({ steps, objects, whole }: CheckWork, times: number): CheckWork => ({
  steps: steps.map((count) => Math.min(count * times, MAX_WORK)),
  objects: Math.min(objects * times, MAX_WORK),
  whole: Math.min(whole * times, MAX_WORK),
});
