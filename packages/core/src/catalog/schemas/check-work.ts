/**
 * The worst-case cost of validating a value against a schema: the cost per node of the value for all keywords, times
 * the number of nodes. Computed in advance, because validation cannot be interrupted.
 */
import { isRecord } from '../../json/is-record.js';
import { wideMemberCount } from '../../json/wide-objects.js';
import { worstCost } from './pattern-guard.js';

/** The cost of one node of a value, in steps of a few nanoseconds. */
export interface CheckWork {
  /** By degree: steps per character to that power; at 0 the fixed cost of every node. */
  readonly steps: readonly number[];
  /** Additional cost of an object. */
  readonly objects: number;
  /** Keywords that visit everything inside: they add up from level to level. */
  readonly whole: number;
}

/** Texts are matched up to the bounded length of a pattern of this degree: see pattern-guard.ts. */
const MAX_TEXT_LENGTHS = [0, 65_536, 3_163, 216, 57];
const NO_WORK: CheckWork = { steps: MAX_TEXT_LENGTHS.map(() => 0), objects: 0, whole: 0 };
const MAX_WORK = 1e12;
/** More than any message can have. */
const MAX_DEPTH = 1_000;

/** Keywords whose schemas apply to the same value. */
const SAME_VALUE_LIST_KEYWORDS = ['allOf', 'anyOf', 'oneOf'];
const SAME_VALUE_KEYWORDS = ['not', 'if', 'then', 'else'];
const SAME_VALUE_MAP_KEYWORDS = ['dependentSchemas', 'dependencies'];
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];
/** Keywords whose schemas apply to members; several may apply to the same member. */
const CHILD_KEYWORDS = [
  'items',
  'prefixItems',
  'additionalItems',
  'contains',
  'unevaluatedItems',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
];

const NAME_MAP_KEYWORDS = new Set(['properties', 'dependentRequired', ...SAME_VALUE_MAP_KEYWORDS]);

const NAME_COST = 4;
const VALUE_COST = 12;
const HASH_COST = 400;
const CHARACTER_COST = 0.5;
/** The names and patterns that each key is compared with if no others are allowed. */
const ALTERNATIVE_COST = 4;
const PATTERN_COST = 60;
const EVALUATED_FACTOR = 64;

type Schema = Readonly<Record<string, unknown>>;
type Resolve = (reference: string) => unknown;

/** The cost of a schema without recursion. Every reference is followed wherever it occurs. */
export function workOf(root: Schema, resolve: Resolve): CheckWork {
  const known = new Map<object, CheckWork>();
  const find = (node: unknown): CheckWork => {
    if (!isRecord(node)) return NO_WORK;
    const before = known.get(node);
    if (before !== undefined) return before;
    // A placeholder, in case the schema is recursive after all.
    known.set(node, NO_WORK);
    const inside = childSchemas(node).map((schemas) => schemas.map(find).reduce(maxWork, NO_WORK));
    const deeper = inside.reduce(addWork, NO_WORK);
    const own = ownWork(node);
    const here = { ...maxWork(own, deeper), whole: own.whole + deeper.whole };
    const work = sameValueSchemas(node, resolve).map(find).reduce(addWork, here);
    known.set(node, work);
    return work;
  };
  return scaleWork(find(root), tracksEvaluated(root) ? EVALUATED_FACTOR : 1);
}

/** The cost of a recursive schema: all of it for each node, as often as its references multiply. */
export function recursiveWorkOf(root: Schema, times: number): CheckWork {
  const all: unknown[] = [root];
  let work = NO_WORK;
  for (const node of all) {
    if (typeof node !== 'object' || node === null) continue;
    for (const part of Object.values(node)) all.push(part);
    if (isRecord(node)) work = addWork(work, ownWork(node));
  }
  // Keywords that visit everything inside apply again at every level.
  return scaleWork(
    { ...work, whole: work.whole * 64 },
    times * (tracksEvaluated(root) ? EVALUATED_FACTOR : 1),
  );
}

/**
 * Whether a value can be validated in this many steps. `growth` is the factor by which each level is visited more
 * often than the one above.
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
    // Nothing this deep is sent; a program may even pass a circular reference.
    if (depth > MAX_DEPTH) left = -1;
    if (typeof part === 'string') {
      if (readsTexts) text(part.length, times, MAX_TEXT_LENGTHS);
      return;
    }
    if (typeof part !== 'object' || part === null) return;
    const below = times * perLevel;
    const isList = Array.isArray(part);
    const members = isList ? part.length : (wideMemberCount(part) ?? 0);
    if (!isList) left -= times * objects;
    // Stop early once the limit is exceeded.
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

function sameValueSchemas(node: Schema, resolve: Resolve): unknown[] {
  return [
    ...SAME_VALUE_LIST_KEYWORDS.flatMap((key) => (Array.isArray(node[key]) ? node[key] : [])),
    ...SAME_VALUE_KEYWORDS.map((key) => node[key]),
    ...SAME_VALUE_MAP_KEYWORDS.flatMap((key) => (isRecord(node[key]) ? Object.values(node[key]) : [])),
    ...REFERENCES.map((key) => (typeof node[key] === 'string' ? resolve(node[key]) : undefined)),
  ];
}

/** What may apply to one member, with the alternatives that exclude each other. */
function childSchemas(node: Schema): unknown[][] {
  const { properties, patternProperties } = node;
  return [
    isRecord(properties) ? Object.values(properties) : [],
    ...(isRecord(patternProperties) ? Object.values(patternProperties).map((schema) => [schema]) : []),
    ...CHILD_KEYWORDS.map((key) => (Array.isArray(node[key]) ? node[key] : [node[key]])),
  ];
}

function ownWork(node: Schema): CheckWork {
  let each = 1;
  let objects = 0;
  const steps = MAX_TEXT_LENGTHS.map(() => 0);
  for (const [key, value] of Object.entries(node)) {
    each += ownSteps(key, value);
    objects += namesIn(key, value) * NAME_COST;
  }
  const names = isRecord(node.properties) ? Object.keys(node.properties).length : 0;
  const patterns = isRecord(node.patternProperties) ? Object.keys(node.patternProperties) : [];
  each += patterns.length * PATTERN_COST;
  if ('additionalProperties' in node) each += (names + patterns.length) * ALTERNATIVE_COST;
  const read = typeof node.pattern === 'string' ? [node.pattern, ...patterns] : patterns;
  for (const pattern of read) {
    const { degree, factor } = worstCost(pattern);
    const at = Math.min(degree, MAX_TEXT_LENGTHS.length - 1);
    steps[at] = (steps[at] ?? 0) + factor * CHARACTER_COST;
  }
  if ('minLength' in node || 'maxLength' in node) steps[1] = (steps[1] ?? 0) + CHARACTER_COST;
  steps[0] = (steps[0] ?? 0) + each;
  return { steps, objects, whole: node.uniqueItems === true ? HASH_COST : 0 };
}

/** A keyword may compare all of its values with a single node. */
function ownSteps(key: string, value: unknown): number {
  if (key === 'enum' || key === 'const') return partsOf(value) * VALUE_COST;
  // Matches are collected, which takes longer the more there are.
  if (SAME_VALUE_LIST_KEYWORDS.includes(key) && Array.isArray(value)) return 1 + value.length ** 2 / 256;
  return key === 'type' && Array.isArray(value) ? value.length : 1;
}

/** Or all of its names with a single object. */
function namesIn(key: string, value: unknown): number {
  if (key === 'required') return Array.isArray(value) ? value.length : 0;
  if (!NAME_MAP_KEYWORDS.has(key) || !isRecord(value)) return 0;
  const lists = Object.values(value).filter(Array.isArray);
  return lists.reduce((all, list) => all + list.length, Object.keys(value).length);
}

function partsOf(value: unknown): number {
  const all: unknown[] = [value];
  for (const part of all) if (typeof part === 'object' && part !== null) all.push(...Object.values(part));
  return all.length;
}

/** These keywords track which members were evaluated. */
const tracksEvaluated = (root: Schema): boolean => {
  const all: unknown[] = [root];
  for (const part of all) {
    if (typeof part !== 'object' || part === null) continue;
    if ('unevaluatedProperties' in part || 'unevaluatedItems' in part) return true;
    for (const inner of Object.values(part)) all.push(inner);
  }
  return false;
};

const addWork = (left: CheckWork, right: CheckWork): CheckWork =>
  right === NO_WORK ? left : combineWork(left, right, (one, other) => Math.min(one + other, MAX_WORK));

const maxWork = (left: CheckWork, right: CheckWork): CheckWork =>
  right === NO_WORK ? left : combineWork(left, right, Math.max);

const combineWork = (
  left: CheckWork,
  right: CheckWork,
  join: (one: number, other: number) => number,
): CheckWork => ({
  steps: left.steps.map((steps, at) => join(steps, right.steps[at] ?? 0)),
  objects: join(left.objects, right.objects),
  whole: join(left.whole, right.whole),
});

const scaleWork = ({ steps, objects, whole }: CheckWork, times: number): CheckWork => ({
  steps: steps.map((count) => Math.min(count * times, MAX_WORK)),
  objects: Math.min(objects * times, MAX_WORK),
  whole: Math.min(whole * times, MAX_WORK),
});
