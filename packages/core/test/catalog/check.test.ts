import { beforeAll, describe, expect, it } from 'vitest';
import { SchemaChecks } from '../../src/catalog/schemas/schema-checks.js';
import { guardSchema } from '../../src/catalog/schemas/schema-guard.js';
import type { CatalogTool } from '../../src/catalog/tool.js';

const checks = new SchemaChecks();
beforeAll(() => checks.load());

const tool = (inputSchema: Record<string, unknown>): CatalogTool => ({
  name: 't',
  server: 's',
  tool: 't',
  displayName: 's:t',
  title: undefined,
  description: undefined,
  inputSchema,
  outputSchema: undefined,
  annotations: undefined,
  native: false,
  flags: [],
  definition: {},
});

const faults = (schema: Record<string, unknown>, value: unknown): unknown =>
  checks.checkInput(tool(schema), value);

// requirement T5
describe('argument checks', () => {
  it('name the place and the fault', () => {
    const schema = {
      type: 'object',
      properties: {
        items: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
        mode: { enum: ['a', 'b'] },
      },
    };
    expect(faults(schema, { items: [{ n: 1 }, { n: 'x' }] })).toEqual([
      { path: 'items[1].n', message: 'must be integer' },
    ]);
    expect(faults(schema, { mode: 'c' })).toEqual([
      expect.objectContaining({ path: 'mode', message: expect.stringContaining('"a", "b"') }),
    ]);
  });

  it.each([
    [
      'local references',
      { type: 'object', properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'number' } } },
      { a: 1 },
      { a: 'x' },
    ],
    [
      'draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { a: { $ref: '#/definitions/n' } },
        definitions: { n: { type: 'number' } },
      },
      { a: 1 },
      { a: 'x' },
    ],
    [
      'recursion',
      { type: 'object', properties: { v: { type: 'number' }, next: { $ref: '#' } } },
      { v: 1, next: { v: 2 } },
      { v: 1, next: { v: 'x' } },
    ],
    [
      'harmless patterns',
      { type: 'object', properties: { a: { type: 'string', pattern: '^[a-z]+$' } } },
      { a: 'abc' },
      { a: 'ABC' },
    ],
    [
      'oneOf with const',
      { type: 'object', properties: { k: { oneOf: [{ const: 'x' }, { const: 'y' }] } } },
      { k: 'x' },
      { k: 'z' },
    ],
    [
      '2020-12 prefixItems',
      { type: 'object', properties: { p: { prefixItems: [{ type: 'number' }], items: false } } },
      { p: [1] },
      { p: [1, 2] },
    ],
  ])('support %s', (_what, schema, good, bad) => {
    expect(faults(schema, good)).toEqual([]);
    expect(faults(schema, bad)).not.toEqual([]);
  });

  it('do not assert formats, which are only annotations', () => {
    expect(
      faults(
        { type: 'object', properties: { d: { type: 'string', format: 'date-time' } } },
        { d: 'tomorrow' },
      ),
    ).toEqual([]);
  });

  it.each([
    [
      'a reference to the network',
      { type: 'object', properties: { a: { $ref: 'https://example.invalid/s.json' } } },
    ],
    ['an unresolvable reference', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
    ['an unknown dialect', { $schema: 'https://example.invalid/dialect', type: 'object' }],
  ])('reject %s instead of accepting everything', (_what, schema) => {
    expect(guardSchema(schema)).toHaveProperty('fault');
    expect(faults(schema, {})).toHaveProperty('fault');
  });

  it('do not apply patterns with exponential cost', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    expect(faults(schema, { a: `${'a'.repeat(40)}!` })).toEqual([]);
  });

  it('reject references that multiply', () => {
    const $defs: Record<string, unknown> = { d40: { type: 'number' } };
    for (let level = 0; level < 40; level += 1) {
      $defs[`d${level}`] = { anyOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] };
    }
    expect(guardSchema({ type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs })).toHaveProperty(
      'fault',
    );
  });

  it('skip deep values of recursive schemas rather than stall', () => {
    const schema = {
      type: 'object',
      anyOf: [
        { properties: { x: { $ref: '#' } }, required: ['never'] },
        { properties: { x: { $ref: '#' } } },
      ],
    };
    let value: unknown = {};
    for (let depth = 0; depth < 60; depth += 1) value = { x: value };
    expect(faults(schema, value)).toEqual([]);
  });
});
