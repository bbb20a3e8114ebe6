import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AdaptableTool,
  toAiSdkTools,
  toAnthropicTools,
  toGeminiTools,
  toOpenAiTools,
  toToolCall,
} from '../src/adapters/index.js';

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** Collects violated rules: `say(false, …)` adds one. */
function inspect(run: (say: (holds: boolean, rule: string) => void) => void): string[] {
  const faults: string[] = [];
  run((holds, rule) => {
    if (!holds) faults.push(rule);
  });
  return faults;
}

const STRICT_KEYS =
  'type description properties required additionalProperties items enum anyOf pattern format multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems'.split(
    ' ',
  );

function strictFaults(root: unknown): string[] {
  return inspect((say) => {
    let properties = 0;
    let values = 0;
    const visit = (node: unknown, depth: number): void => {
      if (!isObject(node)) {
        say(false, 'every schema is an object');
        return;
      }
      for (const key of Object.keys(node)) say(STRICT_KEYS.includes(key), `keyword ${key}`);
      say(depth <= 10, 'ten levels');
      const types = [node.type ?? []].flat();
      say(Array.isArray(node.anyOf) !== types.length > 0, 'type or anyOf');
      say(
        types.every((type) => TYPES.includes(String(type))),
        'known types',
      );
      say(new Set(types).size === types.length, 'distinct types');
      if (Array.isArray(node.anyOf)) {
        say(node.anyOf.length > 0, 'anyOf has members');
        for (const option of node.anyOf) visit(option, depth);
      }
      if (types.includes('object')) {
        const keys = Object.keys(isObject(node.properties) ? node.properties : {});
        properties += keys.length;
        say(isObject(node.properties), 'properties present');
        say(node.additionalProperties === false, 'closed');
        say(JSON.stringify(node.required ?? []) === JSON.stringify(keys), 'all required');
        for (const key of keys) visit((node.properties as Json)[key], depth + 1);
      }
      say(!('format' in node) || types.includes('string'), 'format on strings');
      if (types.includes('array')) visit(node.items, depth + 1);
      if ('enum' in node) {
        say(Array.isArray(node.enum) && node.enum.length > 0, 'enum has values');
        values += [node.enum].flat().length;
      }
    };
    say(isObject(root) && root.type === 'object' && !('anyOf' in root), 'root is an object');
    visit(root, 0);
    say(properties <= 5000 && values <= 1000, 'within limits');
  });
}

const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const SINGLE = ['items', 'not', 'if', 'then', 'else', 'contains', 'additionalProperties', 'propertyNames'];

/** What OpenAI (not strict), Anthropic and the AI SDK's providers have in common. */
function plainFaults(root: unknown): string[] {
  return inspect((say) => {
    const visit = (node: unknown): void => {
      if (typeof node === 'boolean') return;
      if (!isObject(node)) {
        say(false, 'a schema is an object or a boolean');
        return;
      }
      const types = [node.type ?? []].flat();
      say(
        types.every((type) => TYPES.includes(String(type))),
        'known types',
      );
      say(new Set(types).size === types.length, 'distinct types');
      say(node.type === undefined || types.length > 0, 'types not empty');
      say(!types.includes('array') || 'items' in node || 'prefixItems' in node, 'arrays have items');
      say(
        !('required' in node) || (node.required as unknown[]).every((key) => typeof key === 'string'),
        'required',
      );
      say(
        typeof node.exclusiveMinimum !== 'boolean' && typeof node.exclusiveMaximum !== 'boolean',
        'numeric bounds',
      );
      say(!('enum' in node) || (Array.isArray(node.enum) && node.enum.length > 0), 'enum has values');
      if (typeof node.$ref === 'string') say(resolves(root, node.$ref), `reference ${node.$ref}`);
      for (const key of LISTS) if (key in node) for (const child of node[key] as unknown[]) visit(child);
      for (const key of MAPS)
        if (key in node) for (const child of Object.values(node[key] as Json)) visit(child);
      for (const key of SINGLE) if (key in node) visit(node[key]);
    };
    if (!isObject(root)) {
      say(false, 'root is an object');
      return;
    }
    say(root.type === 'object' && isObject(root.properties), 'root has type object and properties');
    for (const key of ['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref', '$schema']) {
      say(!(key in root), `no ${key} at the root`);
    }
    visit(root);
  });
}

function resolves(root: unknown, ref: string): boolean {
  let node = root;
  for (const step of ref.split('/').slice(1)) node = isObject(node) ? node[step] : undefined;
  return ref.startsWith('#') && node !== undefined;
}

const parameterFaults = (root: unknown, pattern: RegExp): string[] =>
  isObject(root) && isObject(root.properties)
    ? Object.keys(root.properties).filter((key) => !pattern.test(key))
    : [];

const GEMINI_KEYS: Record<string, string> = {
  STRING: 'type nullable description enum format pattern minLength maxLength',
  NUMBER: 'type nullable description format minimum maximum',
  INTEGER: 'type nullable description format minimum maximum',
  BOOLEAN: 'type nullable description',
  NULL: 'type nullable description',
  ARRAY: 'type nullable description items minItems maxItems',
  OBJECT: 'type nullable description properties required minProperties maxProperties',
};
const GEMINI_FORMATS: Record<string, string[]> = {
  STRING: ['enum', 'date-time'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
};

function geminiFaults(root: unknown): string[] {
  return inspect((say) => {
    const visit = (node: unknown): void => {
      if (!isObject(node)) {
        say(false, 'every schema is an object');
        return;
      }
      if ('anyOf' in node) {
        say(Object.keys(node).length === 1, 'anyOf stands alone');
        for (const option of node.anyOf as unknown[]) visit(option);
        return;
      }
      const type = String(node.type);
      const allowed = GEMINI_KEYS[type]?.split(' ') ?? [];
      for (const key of Object.keys(node)) say(allowed.includes(key), `${key} on ${type}`);
      if ('format' in node) say(GEMINI_FORMATS[type]?.includes(String(node.format)) ?? false, 'format');
      if ('enum' in node) {
        const values = node.enum as unknown[];
        say(
          values.length > 0 && values.every((value) => typeof value === 'string' && value !== ''),
          'enum of strings',
        );
      }
      say((node.format === 'enum') === 'enum' in node, 'format enum goes with enum');
      for (const key of Object.keys(node).filter((name) => /^(min|max)[A-Z]/.test(name))) {
        say(/^\d+$/.test(String(node[key])), key);
      }
      if (type === 'ARRAY') visit(node.items);
      if ('properties' in node) {
        const properties = node.properties as Json;
        say(Object.keys(properties).length > 0, 'properties not empty');
        for (const child of Object.values(properties)) visit(child);
      }
      for (const key of (node.required as string[]) ?? []) {
        say(isObject(node.properties) && Object.hasOwn(node.properties, key), `required ${key} is declared`);
      }
    };
    if (root === undefined) return;
    say(isObject(root) && root.type === 'OBJECT' && isObject(root.properties), 'root is an object');
    visit(root);
  });
}

const GEMINI_JSON_KEYS =
  'type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required'.split(
    ' ',
  );

function geminiJsonFaults(root: unknown): string[] {
  if (root === undefined) return [];
  const visit = (node: unknown): string[] => {
    if (!isObject(node)) return [];
    const children = [
      ...Object.values(isObject(node.properties) ? node.properties : {}),
      ...((node.anyOf as unknown[]) ?? []),
      node.items,
      node.additionalProperties,
    ];
    const values = (node.enum as unknown[]) ?? [];
    const bad = values.some(
      (value) => typeof value === 'boolean' || (typeof value === 'object' && value !== null),
    );
    return [
      ...Object.keys(node).filter((key) => !GEMINI_JSON_KEYS.includes(key)),
      ...(bad ? ['enum of strings and numbers'] : []),
      ...children.flatMap(visit),
    ];
  };
  return [...plainFaults(root), ...visit(root)];
}

const key = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'id',
    'filter[id]',
    '$top',
    'é',
    '1st',
    'foo-bar',
    '__proto__',
    'constructor',
    'x'.repeat(70),
  ),
  fc.string({ maxLength: 5 }),
);
const ref = fc.constantFrom(
  '#',
  '#/$defs/a',
  '#/$defs/b',
  '#/properties/a',
  '#/nowhere',
  '#anchor',
  'https://x.test/s',
  '#/%',
);
const count = fc.nat({ max: 5 });
const type = fc.constantFrom(...TYPES);

/** JSON Schemas of several drafts: booleans, missing types, tuples, references to anywhere, compositions. */
const { schema } = fc.letrec<{ schema: Json; sub: unknown }>((tie) => {
  const sub = tie('sub');
  const subs = fc.array(sub, { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(key, sub, { maxKeys: 3 });
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(type, type, type, fc.uniqueArray(type, { minLength: 1 })),
    title: fc.string(),
    description: fc.string(),
    default: fc.jsonValue({ maxDepth: 1 }),
    enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 4 }),
    const: fc.jsonValue({ maxDepth: 1 }),
    nullable: fc.boolean(),
    properties: map,
    required: fc.uniqueArray(key, { maxLength: 3 }),
    additionalProperties: sub,
    patternProperties: fc.dictionary(fc.constant('^x'), sub, { maxKeys: 1 }),
    items: fc.oneof(sub, subs),
    prefixItems: subs,
    anyOf: subs,
    oneOf: subs,
    allOf: subs,
    not: sub,
    if: sub,
    $ref: ref,
    $defs: fc.record({ a: sub, b: sub }),
    $anchor: fc.constant('anchor'),
    minLength: count,
    pattern: fc.constantFrom('^a', '(?=x)', '(a)\\1'),
    format: fc.constantFrom('uri', 'date-time', 'int32', 'double', 'uuid', 'odd'),
    minimum: fc.integer(),
    exclusiveMinimum: fc.oneof(fc.integer(), fc.boolean()),
    multipleOf: fc.constantFrom(0.5, 2),
    maxItems: count,
    uniqueItems: fc.boolean(),
    minProperties: count,
  };
  const entry = fc.oneof(
    ...Object.entries(keywords).map(([name, value]) => fc.tuple(fc.constant(name), value)),
  );
  const entries = fc.uniqueArray(entry, { maxLength: 5, selector: ([name]) => name });
  return {
    schema: fc.tuple(fc.option(keywords.type ?? type), entries).map(([kind, list]) => ({
      ...(kind !== null && { type: kind }),
      ...Object.fromEntries(list),
    })),
    sub: fc.oneof({ maxDepth: 3 }, fc.boolean(), tie('schema'), tie('schema'), tie('schema')),
  };
});

const parameters = fc
  .tuple(schema, fc.dictionary(key, schema, { minKeys: 1, maxKeys: 4 }))
  .map(([{ anyOf, oneOf, allOf, $ref, not, enum: _, const: __, ...rest }, properties]) => ({
    ...rest,
    type: 'object',
    properties,
  }));
const input = fc.oneof({ weight: 1, arbitrary: schema }, { weight: 3, arbitrary: parameters });
const tools = fc.array(
  fc.record({ name: fc.oneof(fc.constantFrom('mcp__a__b', 'a.b', 'a b'), fc.string()), inputSchema: input }),
  { minLength: 1, maxLength: 3 },
) as fc.Arbitrary<AdaptableTool[]>;

const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const runs = { numRuns: 500 };

describe('for any schema', () => {
  it('OpenAI gets what it accepts, strict or not', () => {
    fc.assert(
      fc.property(tools, (list) => {
        for (const built of toOpenAiTools(list)) {
          expect(built.function.name).toMatch(NAME);
          expect(plainFaults(built.function.parameters)).toEqual([]);
        }
        for (const built of toOpenAiTools(list, { api: 'responses', strict: true })) {
          expect((built.strict ? strictFaults : plainFaults)(built.parameters)).toEqual([]);
        }
      }),
      runs,
    );
  });

  it('Anthropic gets what it accepts', () => {
    fc.assert(
      fc.property(tools, (list) => {
        for (const built of toAnthropicTools(list)) {
          expect(built.name).toMatch(NAME);
          expect(plainFaults(built.input_schema)).toEqual([]);
          expect(parameterFaults(built.input_schema, /^[a-zA-Z0-9_.-]{1,64}$/)).toEqual([]);
        }
      }),
      runs,
    );
  });

  it('Gemini gets what it accepts, in either dialect', () => {
    fc.assert(
      fc.property(tools, (list) => {
        for (const built of toGeminiTools(list)[0]?.functionDeclarations ?? []) {
          expect(built.name).toMatch(NAME);
          expect(geminiFaults(built.parameters)).toEqual([]);
          expect(parameterFaults(built.parameters, /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/)).toEqual([]);
        }
        for (const built of toGeminiTools(list, { dialect: 'json-schema' })[0]?.functionDeclarations ?? []) {
          expect(geminiJsonFaults(built.parametersJsonSchema)).toEqual([]);
        }
      }),
      runs,
    );
  });

  it('the AI SDK gets a schema without references', () => {
    fc.assert(
      fc.property(tools, (list) => {
        for (const built of Object.values(toAiSdkTools(list, async () => null))) {
          expect(plainFaults(built.inputSchema.jsonSchema)).toEqual([]);
          expect(JSON.stringify(built.inputSchema.jsonSchema)).not.toContain('"$ref":');
        }
      }),
      runs,
    );
  });

  it('the bytes are the same every time and the schema is not modified', () => {
    fc.assert(
      fc.property(tools, (list) => {
        const before = JSON.stringify(list);
        const all = () =>
          JSON.stringify([
            toOpenAiTools(list, { strict: true }),
            toAnthropicTools(list),
            toGeminiTools(list),
          ]);
        expect(all()).toBe(all());
        expect(JSON.stringify(list)).toBe(before);
      }),
      { numRuns: 200 },
    );
  });

  it('every name resolves to its tool, and any input is accepted', () => {
    fc.assert(
      fc.property(tools, fc.jsonValue(), (list, value) => {
        const unique = [...new Map(list.map((tool) => [tool.name, tool])).values()];
        const back = toAnthropicTools(unique).map(
          ({ name }) => toToolCall(unique, { name, input: value })?.name,
        );
        expect(back).toEqual(unique.map(({ name }) => name));
      }),
      { numRuns: 200 },
    );
  });
});

describe('hostile schemas', () => {
  const doubling = (levels: number) => ({
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, i) => [
        `d${i}`,
        {
          type: 'object',
          properties: { l: { $ref: `#/$defs/d${i + 1}` }, r: { $ref: `#/$defs/d${i + 1}` } },
        },
      ]),
    ),
  });
  const nested = (depth: number) => {
    let node: Json = { type: 'string' };
    for (let i = 0; i < depth; i++)
      node = { type: 'object', properties: { a: node }, allOf: [{ anyOf: [node] }] };
    return node;
  };
  const chained = (depth: number) => {
    let node: Json = { type: 'object' };
    for (let i = 0; i < depth; i++) node = { allOf: [node] };
    return node;
  };

  it.each<[string, Json]>([
    ['references that double', doubling(40)],
    ['nesting', nested(5000)],
    ['allOf in allOf', chained(5000)],
    ['a reference to itself', { $ref: '#' }],
    ['a prototype key', JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')],
    ['nonsense', { type: 7, properties: [], required: 'x', anyOf: 3, enum: null, items: 5, $defs: null }],
  ])('%s', (_, inputSchema) => {
    const list = [{ name: 't', inputSchema }];
    const [gemini] = toGeminiTools(list);
    expect(JSON.stringify(gemini).length).toBeLessThan(2_000_000);
    expect(geminiFaults(gemini?.functionDeclarations[0]?.parameters)).toEqual([]);
    expect(plainFaults(toAnthropicTools(list)[0]?.input_schema)).toEqual([]);
    expect(toOpenAiTools(list, { strict: true })).toHaveLength(1);
  });
});
