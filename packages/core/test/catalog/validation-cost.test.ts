/** Checking any value against any schema never blocks the event loop for long. */
import { expect, it } from 'vitest';
import { rounds, timeBound } from '../../../../testing/src/time-bound.js';
import { SchemaChecks } from '../../src/catalog/schemas/schema-checks.js';
import type { CatalogTool } from '../../src/catalog/tool.js';

type Json = Record<string, unknown>;

const toolWith = (outputSchema: object): CatalogTool => ({ outputSchema, inputSchema: {} }) as CatalogTool;
const many = <Item>(length: number, item: (at: number) => Item): Item[] =>
  Array.from({ length }, (_, at) => item(at));
const names = <Value>(count: number, value: (at: number) => Value): Record<string, Value> =>
  Object.fromEntries(many(count, (at) => [`p${at}`, value(at)]));
const nest = (at: number): unknown => ({ a: { b: [at, at] } });

/** Levels of references that each refer `wide` times to the next one. */
function multiplied(levels: number, wide: number, key = 'allOf'): Json {
  const $defs: Json = { [`a${levels}`]: { type: ['number', 'string', 'object', 'array'] } };
  for (let level = 0; level < levels; level += 1)
    $defs[`a${level}`] = { [key]: many(wide, () => ({ $ref: `#/$defs/a${level + 1}` })) };
  return $defs;
}

/** A schema of the given size for each keyword that can be large. All accept nearly every value: a failure would end the check early. */
const KEYWORDS: Record<string, (size: number) => { item: Json; $defs?: Json }> = {
  'enum of objects': (size) => ({ item: { anyOf: [{ enum: many(size, nest) }, {}] } }),
  'enum of texts': (size) => ({ item: { anyOf: [{ enum: many(size, (at) => `e${at}`) }, {}] } }),
  'enum of long lists': (size) => ({ item: { not: { enum: many(size >> 3, () => many(8, (at) => at)) } } }),
  'const object': (size) => ({ item: { not: { const: names(size, nest) } } }),
  'const list': (size) => ({ item: { not: { const: many(size, (at) => at) } } }),
  required: (size) => ({ item: { not: { required: [...many(size, (at) => `p${at}`), 'never'] } } }),
  properties: (size) => ({
    item: { properties: names(size, (at) => ({ enum: many(4, (one) => one + at), not: {} })) },
  }),
  'closed properties': (size) => ({
    item: { anyOf: [{ properties: names(size, () => ({})), additionalProperties: false }, {}] },
  }),
  patternProperties: (size) => ({
    item: { patternProperties: Object.fromEntries(many(size, (at) => [`^x${at}`, {}])) },
  }),
  'patterns of names': (size) => ({
    item: { patternProperties: Object.fromEntries(many(size >> 4, (at) => [`[a${at}]+$`, {}])) },
  }),
  propertyNames: (size) => ({
    item: { propertyNames: { anyOf: [{ enum: many(size, (at) => `e${at}`) }, {}] } },
  }),
  dependentRequired: (size) => ({ item: { dependentRequired: names(size, () => ['p1', 'p2']) } }),
  dependentSchemas: (size) => ({ item: { dependentSchemas: names(size, () => ({ type: 'object' })) } }),
  dependencies: (size) => ({ item: { dependencies: names(size, () => ({ type: 'object' })) } }),
  allOf: (size) => ({ item: { allOf: many(size, (at) => ({ not: { const: `c${at}` } })) } }),
  anyOf: (size) => ({ item: { anyOf: [...many(size, (at) => ({ const: at + 0.5 })), {}] } }),
  oneOf: (size) => ({ item: { oneOf: [...many(size, (at) => ({ const: at + 0.5 })), {}] } }),
  'anyOf that all fit': (size) => ({ item: { anyOf: many(size, () => ({})), required: ['never'] } }),
  'oneOf that all fit': (size) => ({ item: { oneOf: many(size, () => ({})) } }),
  'if, then, else': (size) => ({
    item: {
      allOf: many(size, (at) => ({
        if: { const: at },
        // biome-ignore lint/suspicious/noThenProperty: a keyword
        then: {},
        else: { type: ['object', 'string', 'number', 'array'] },
      })),
    },
  }),
  contains: (size) => ({ item: { anyOf: [{ contains: { enum: many(size, nest) } }, {}] } }),
  prefixItems: (size) => ({ item: { prefixItems: many(size, () => ({ not: { enum: many(4, nest) } })) } }),
  uniqueItems: () => ({
    item: { anyOf: [{ uniqueItems: true, items: { uniqueItems: true, items: { uniqueItems: true } } }, {}] },
  }),
  unevaluatedProperties: (size) => ({
    item: { anyOf: many(size >> 2, () => ({ properties: names(3, () => ({})) })), unevaluatedProperties: {} },
  }),
  unevaluatedItems: (size) => ({
    item: { anyOf: many(size >> 2, () => ({ prefixItems: [{}, {}] })), unevaluatedItems: {} },
  }),
  'a quadratic pattern': () => ({ item: { anyOf: [{ pattern: '^a*a*$' }, {}] } }),
  'a cubic pattern': () => ({ item: { anyOf: [{ pattern: 'a*a*$' }, {}] } }),
  'many patterns': (size) => ({
    item: { anyOf: [...many(size >> 2, (at) => ({ pattern: `^a*a*${at}$` })), {}] },
  }),
  'long texts': (size) => ({
    item: { allOf: many(size, (at) => ({ minLength: 0, maxLength: 9_999_999 + at })) },
  }),
  'references in allOf': () => ({ item: { $ref: '#/$defs/a0' }, $defs: multiplied(4, 10) }),
  'references in anyOf': () => ({
    item: { not: { $ref: '#/$defs/a0' } },
    $defs: { ...multiplied(4, 10, 'anyOf'), a4: { const: 'z' } },
  }),
  'references to a choice': (size) => ({
    item: { allOf: many(20, () => ({ $ref: '#/$defs/one' })) },
    $defs: { one: { not: { enum: many(size >> 3, nest) } } },
  }),
  recursion: (size) => ({
    item: { $ref: '#/$defs/t' },
    $defs: {
      t: {
        not: { enum: many(size, nest) },
        properties: { a: { $ref: '#/$defs/t' } },
        items: { $ref: '#/$defs/t' },
      },
    },
  }),
  'recursion twice over': (size) => ({
    item: { $ref: '#/$defs/t' },
    $defs: {
      t: {
        not: { enum: many(size >> 2, nest) },
        allOf: many(2, () => ({ properties: { a: { $ref: '#/$defs/t' } }, items: { $ref: '#/$defs/t' } })),
      },
    },
  }),
  'recursion by $recursiveRef': (size) => ({
    item: {
      not: { enum: many(size >> 2, nest) },
      allOf: many(2, () => ({ items: { $recursiveRef: '#' }, properties: { a: { $recursiveRef: '#' } } })),
    },
  }),
};

const chain = (depth: number): unknown => (depth === 0 ? 1 : { a: chain(depth - 1) });

/** Values with roughly the given number of parts. */
const VALUES: Record<string, (parts: number) => unknown[]> = {
  'objects like those in the schema': (parts) => Array(parts >> 2).fill(nest(9_999)),
  'empty objects': (parts) => Array(parts).fill({}),
  'objects with a name of the schema': (parts) => Array(parts >> 1).fill({ p1: 1 }),
  'wide objects': (parts) => Array(1 + Math.floor(parts / 1_000)).fill(names(1_000, (at) => at)),
  'objects with long names': (parts) =>
    many(1 + Math.floor(parts / 4_000), (at) => ({ [`${'a'.repeat(60_000)}${at}`]: 1 })),
  numbers: (parts) => Array(parts).fill(7),
  'short texts': (parts) => Array(parts).fill('e99999'),
  'strings that nearly match': (parts) => many(parts >> 7, () => `${'a'.repeat(3_100)}b`),
  'shorter strings that nearly match': (parts) => many(parts >> 3, () => `${'a'.repeat(200)}b`),
  'long lists': (parts) => Array(1 + Math.floor(parts / 1_000)).fill(many(1_000, (at) => at)),
  'lists in lists': (parts) => Array(parts >> 4).fill([[[1, 2, 3]], [[[4], [5]]]]),
  'deep objects': (parts) => Array(1 + Math.floor(parts / 20)).fill(chain(20)),
};

const values = new Map<string, readonly unknown[]>();

function made(kind: string, parts: number): readonly unknown[] {
  const key = `${kind} ${parts}`;
  const known = values.get(key) ?? VALUES[kind]?.(parts) ?? [];
  values.set(key, known);
  return known;
}

/** From far below the limits up to as much as a message can hold. */
const PARTS = [300, 2_000, 10_000, 60_000, 400_000];
const SIZES = [20, 150, 600, 1_200];

async function checkCpuMs(item: Json, $defs: Json | undefined, values: readonly unknown[]): Promise<number> {
  const checks = new SchemaChecks();
  await checks.load();
  const tool = toolWith({
    type: 'object',
    properties: { l: { type: 'array', items: item } },
    ...($defs && { $defs }),
  });
  // Compiles the schema, which costs time only once.
  checks.checkOutput(tool, { l: [] });
  // CPU time: other processes on this machine do not count.
  const started = process.cpuUsage();
  checks.checkOutput(tool, { l: values });
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

it.each(Object.entries(KEYWORDS))(
  'a schema with much in %s is checked in time, or not at all',
  async (_, make) => {
    const found: string[] = [];
    const every = rounds(1, 7);
    let at = 0;
    for (const size of SIZES)
      for (const parts of PARTS)
        for (const kind of Object.keys(VALUES)) {
          at += 1;
          if (at % every !== 0) continue;
          const { item, $defs } = make(size);
          const took = await checkCpuMs(item, $defs, made(kind, parts));
          if (took > timeBound(250)) found.push(`${size} x ${parts} ${kind}: ${Math.round(took)} ms`);
        }
    expect(found).toEqual([]);
  },
  120_000,
);

it('a large result of ordinary rows is checked to the last row', async () => {
  const checks = new SchemaChecks();
  await checks.load();
  const row = {
    type: 'object',
    properties: { ...names(8, () => ({ type: 'string' })), state: { enum: ['open', 'closed', 'gone'] } },
    required: many(8, (at) => `p${at}`),
    additionalProperties: false,
  };
  const tool = toolWith({ type: 'object', properties: { l: { type: 'array', items: row } } });
  const rows: unknown[] = many(20_000, () => ({ ...names(8, (at) => `text ${at}`), state: 'open' }));
  expect(checks.checkOutput(tool, { l: rows })).toEqual([]);
  expect(checks.checkOutput(tool, { l: [...rows, { p0: 'x' }] })).not.toEqual([]);
});

it('matching the names of an object with a pattern does not block other work', async () => {
  const took = await checkCpuMs({ patternProperties: { '[a]+$': {} } }, undefined, [
    { [`${'a'.repeat(200_000)}b`]: 1 },
  ]);
  expect(took).toBeLessThan(timeBound(250));
});
