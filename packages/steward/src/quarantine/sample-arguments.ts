/**
 * Arguments for a sample call, from the input schema of the tool: the smallest valid ones that are found. The same
 * seed makes the same arguments. Bounded in size, depth and number of attempts; every result has been validated.
 */
import { isRecord, monotonicNow, type SchemaChecks } from 'turnbuckle/host';
import { flattenSchema, type Schema } from './sample-schema.js';
import { sampleText } from './sample-text.js';

const MAX_ATTEMPTS = 32;
const MAX_DEPTH = 16;
/** Values made in one attempt. */
const MAX_VALUES = 500;
const MAX_ITEMS = 64;
/** Explaining why a value is invalid can take long. */
const MAX_MS = 100;
/** In the first attempts: only what is required, and the first of all alternatives. */
const PLAIN_ATTEMPTS = 2;

export interface SampleOptions {
  readonly seed: number;
  /** Has to be loaded. */
  readonly checks: SchemaChecks;
  readonly now?: () => number;
}

interface Attempt {
  readonly root: Schema;
  readonly random: () => number;
  readonly number: number;
  /** How many values may still be made. */
  left: number;
}

/** No value: this attempt is over. Not `undefined`, which is not JSON but easily mistaken for it. */
const NONE = Symbol('none');
type Sample = unknown | typeof NONE;

/** Valid arguments, or undefined if none were found or the schema is unusable. */
export function sampleArguments(
  schema: Schema,
  { seed, checks, now = monotonicNow }: SampleOptions,
): Readonly<Record<string, unknown>> | undefined {
  const owner = { inputSchema: schema, outputSchema: undefined };
  const deadline = now() + MAX_MS;
  for (let number = 0; number < MAX_ATTEMPTS && now() < deadline; number += 1) {
    const attempt: Attempt = { root: schema, random: createRandom(seed + number), number, left: MAX_VALUES };
    const value = makeValue({ type: 'object', ...schema }, attempt, 0);
    if (!isRecord(value)) continue;
    const checked = checks.checkInput(owner, value);
    if ('fault' in checked) return undefined;
    if (checked.length === 0) return value;
  }
  return undefined;
}

function makeValue(schema: unknown, attempt: Attempt, depth: number): Sample {
  attempt.left -= 1;
  if (attempt.left < 0 || depth > MAX_DEPTH) return NONE;
  const flat = flattenSchema(schema, attempt.root, (items) => choose(items, attempt));
  if (flat === undefined) return NONE;
  const fixed = fixedValues(flat, attempt);
  if (fixed !== undefined) return fixed.length === 0 ? NONE : choose(fixed, attempt);
  const kinds = typesOf(flat);
  if (kinds.length === 0) return NONE;
  return MAKERS[choose(kinds, attempt) ?? 'null'](flat, attempt, depth);
}

/** Values that the schema itself names; undefined if it names none. A default may be wrong: later attempts skip it. */
function fixedValues(schema: Schema, { number, random }: Attempt): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum;
  if (number >= PLAIN_ATTEMPTS && random() < 0.5) return undefined;
  if (Object.hasOwn(schema, 'default')) return [schema.default];
  return Array.isArray(schema.examples) && schema.examples.length > 0 ? schema.examples : undefined;
}

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'] as const;
type JsonType = (typeof TYPES)[number];

/** Keywords from which a missing type is inferred. */
const TYPE_KEYWORDS: ReadonlyArray<readonly [JsonType, readonly string[]]> = [
  ['object', ['properties', 'required', 'additionalProperties', 'minProperties', 'patternProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'contains', 'uniqueItems']],
  ['string', ['pattern', 'minLength', 'maxLength', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function typesOf(schema: Schema): readonly JsonType[] {
  const { type } = schema;
  if (type !== undefined) return TYPES.filter((known) => [type].flat().includes(known));
  const inferred = TYPE_KEYWORDS.find(([, keywords]) =>
    keywords.some((keyword) => Object.hasOwn(schema, keyword)),
  );
  return inferred === undefined ? TYPES : [inferred[0]];
}

type Maker = (schema: Schema, attempt: Attempt, depth: number) => Sample;

const MAKERS: Readonly<Record<JsonType, Maker>> = {
  string: (schema, { random }) => sampleText(schema, random) ?? NONE,
  integer: (schema, attempt) => makeNumber(schema, attempt, 1),
  number: (schema, attempt) => makeNumber(schema, attempt, 0),
  boolean: (_, attempt) => choose([false, true], attempt),
  null: () => null,
  object: makeObject,
  array: makeArray,
};

/** The smallest allowed one; without a lower limit 1. A step of 0 means any number. */
function makeNumber(schema: Schema, { number, random }: Attempt, wholeStep: number): Sample {
  const step = numberOr(schema.multipleOf, wholeStep);
  const edge = step > 0 ? step : 0.5;
  const least = Math.max(
    numberOr(schema.minimum, Number.NEGATIVE_INFINITY),
    numberOr(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY),
  );
  const most = Math.min(
    numberOr(schema.maximum, Number.POSITIVE_INFINITY),
    numberOr(schema.exclusiveMaximum, Number.POSITIVE_INFINITY),
  );
  const start = Number.isFinite(least) ? least : Math.min(1, most);
  const rounded = step > 0 ? Math.ceil(start / step) * step : start;
  // Beside an excluded limit, or anywhere nearby if the first attempts were wrong.
  const isExcluded = rounded === schema.exclusiveMinimum || rounded === schema.exclusiveMaximum;
  const shift = number < PLAIN_ATTEMPTS ? (isExcluded ? 1 : 0) : Math.floor(random() * 5) - 2;
  const middle = Number.isFinite(least) && Number.isFinite(most) && step === 0 && shift !== 0;
  return middle ? (least + most) / 2 : rounded + shift * edge;
}

const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise;

function makeObject(schema: Schema, attempt: Attempt, depth: number): Sample {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = (Array.isArray(schema.required) ? schema.required : []).filter(
    (name) => typeof name === 'string',
  );
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const isWanted = (): boolean => attempt.number >= PLAIN_ATTEMPTS && attempt.random() < 0.3;
  const names = [...new Set([...required, ...optional.filter(isWanted)])];
  const least = Math.min(numberOr(schema.minProperties, 0), MAX_ITEMS);
  const spare = [...optional, ...Array.from({ length: least }, (_, index) => `sample${index + 1}`)];
  for (const name of spare) if (names.length < least && !names.includes(name)) names.push(name);
  if (names.length > MAX_VALUES) return NONE;
  // Without a prototype: a property may be called __proto__.
  const entries: Array<readonly [string, unknown]> = [];
  for (const name of [...names, ...neededWith(names, schema)]) {
    const value = makeValue(propertySchema(name, schema, properties), attempt, depth + 1);
    if (value !== NONE) entries.push([name, value]);
    else if (required.includes(name)) return NONE;
  }
  return Object.fromEntries(entries);
}

/** Properties that others require to be present. */
function neededWith(names: readonly string[], { dependentRequired }: Schema): string[] {
  if (!isRecord(dependentRequired)) return [];
  const needed = names.flatMap((name) => {
    const more = Object.hasOwn(dependentRequired, name) ? dependentRequired[name] : [];
    return Array.isArray(more) ? more.filter((one) => typeof one === 'string') : [];
  });
  return [...new Set(needed)].filter((name) => !names.includes(name)).slice(0, MAX_ITEMS);
}

/** A property that is not declared may still have a schema. */
function propertySchema(name: string, schema: Schema, properties: Schema): unknown {
  if (Object.hasOwn(properties, name)) return properties[name];
  const { additionalProperties, patternProperties } = schema;
  const [first] = isRecord(patternProperties) ? Object.values(patternProperties) : [];
  return isRecord(additionalProperties) ? additionalProperties : (first ?? {});
}

function makeArray(schema: Schema, attempt: Attempt, depth: number): Sample {
  const prefix = Array.isArray(schema.prefixItems)
    ? schema.prefixItems
    : Array.isArray(schema.items)
      ? schema.items
      : [];
  const least = numberOr(schema.minItems, 0);
  const contained = Object.hasOwn(schema, 'contains') ? Math.max(numberOr(schema.minContains, 1), 0) : 0;
  const extra = attempt.number < PLAIN_ATTEMPTS ? 0 : Math.floor(attempt.random() * 2);
  const length = Math.min(Math.max(least, contained) + extra, numberOr(schema.maxItems, MAX_ITEMS));
  if (length > MAX_ITEMS) return NONE;
  const items: unknown[] = [];
  for (let index = 0; index < length; index += 1) {
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
    const member = prefix[index] ?? (index < contained ? schema.contains : (rest ?? {}));
    const item = makeItem(member, { attempt, depth, items, isUnique: schema.uniqueItems === true });
    if (item === NONE) return NONE;
    items.push(item);
  }
  return items;
}

interface ItemPlace {
  readonly attempt: Attempt;
  readonly depth: number;
  readonly items: readonly unknown[];
  readonly isUnique: boolean;
}

const UNIQUE_TRIES = 8;

/** An item unlike those before it, where that is asked for. */
function makeItem(schema: unknown, { attempt, depth, items, isUnique }: ItemPlace): Sample {
  if (!isUnique) return makeValue(schema, attempt, depth + 1);
  const known = new Set(items.map((item) => JSON.stringify(item)));
  for (let tries = 0; tries < UNIQUE_TRIES; tries += 1) {
    // Later tries choose freely, as a later attempt would.
    const number = attempt.number + tries * PLAIN_ATTEMPTS;
    const own: Attempt = { ...attempt, number };
    const item = makeValue(schema, own, depth + 1);
    attempt.left = own.left;
    if (item === NONE) return NONE;
    if (!known.has(JSON.stringify(item))) return item;
  }
  return NONE;
}

/** The first one in the first attempts, then any. */
function choose<Item>(items: readonly Item[], { number, random }: Attempt): Item | undefined {
  return items[
    number < PLAIN_ATTEMPTS ? Math.min(number, items.length - 1) : Math.floor(random() * items.length)
  ];
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
