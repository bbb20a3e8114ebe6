import { timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { SchemaChecks } from 'turnbuckle/host';
import { beforeAll, describe, expect, it } from 'vitest';
import { sampleArguments } from '../../src/quarantine/sample-arguments.js';
import { samplePattern } from '../../src/quarantine/sample-pattern.js';

const checks = new SchemaChecks();
beforeAll(() => checks.load());

type Schema = Record<string, unknown>;

/** A busy machine must not end an attempt early. */
const now = (): number => 0;

const sample = (schema: Schema, seed = 1): unknown => sampleArguments(schema, { seed, checks, now });
const sampleOne = (property: unknown): unknown => {
  const made = sample({ type: 'object', properties: { a: property }, required: ['a'] });
  return made === undefined ? undefined : (made as { a: unknown }).a;
};

describe('arguments are the smallest valid ones', () => {
  it.each<readonly [Schema, unknown]>([
    [{ type: 'string' }, 'sample'],
    [{ type: 'string', maxLength: 2 }, 'sa'],
    [{ type: 'string', minLength: 8 }, 'samplesa'],
    [{ type: 'string', enum: ['b', 'c'] }, 'b'],
    [{ const: { x: 1 } }, { x: 1 }],
    [{ type: 'string', default: 'd', examples: ['e'] }, 'd'],
    [{ type: 'string', examples: ['e'] }, 'e'],
    [{ type: 'string', format: 'email' }, 'sample@example.com'],
    [{ type: 'string', format: 'uri' }, 'https://example.com/'],
    [{ type: 'integer' }, 1],
    [{ type: 'integer', minimum: 0 }, 0],
    [{ type: 'integer', exclusiveMinimum: 5 }, 6],
    [{ type: 'integer', minimum: 3, multipleOf: 5 }, 5],
    [{ type: 'number', maximum: -2 }, -2],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    [{ type: 'boolean' }, false],
    [{ type: ['null', 'string'] }, 'sample'],
    [{ type: 'array', items: { type: 'integer' } }, []],
    [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [1, 1]],
    [{ type: 'array', prefixItems: [{ type: 'integer' }, { type: 'boolean' }], minItems: 2 }, [1, false]],
    [{ type: 'object', properties: { b: { type: 'integer' }, c: {} }, required: ['b'] }, { b: 1 }],
    [{ oneOf: [{ type: 'integer' }, { type: 'string' }] }, 1],
    [{ anyOf: [{ const: 2 }, { const: 3 }] }, 2],
    [{ allOf: [{ type: 'integer', minimum: 2 }, { minimum: 7 }] }, 7],
    [{ type: 'string', pattern: '^abc$' }, 'abc'],
  ])('%j', (schema, expected) => {
    expect(sampleOne(schema)).toEqual(expected);
  });

  it('follow references, also recursive ones', () => {
    const node = {
      type: 'object',
      properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } },
      required: ['name'],
    };
    const schema = {
      type: 'object',
      $defs: { node },
      properties: { a: { $ref: '#/$defs/node' } },
      required: ['a'],
    };
    expect(sample(schema)).toEqual({ a: { name: 'sample' } });
  });

  it('are found by a later attempt if the first alternative is impossible', () => {
    expect(sampleOne({ oneOf: [false, { type: 'integer', minimum: 2, maximum: 1 }, { const: 'ok' }] })).toBe(
      'ok',
    );
    expect(sampleOne({ type: 'integer', default: 'wrong' })).toEqual(expect.any(Number));
    expect(
      sampleOne({ type: 'array', items: { enum: [1, 2, 3] }, minItems: 3, uniqueItems: true }),
    ).toHaveLength(3);
  });

  it('are the same for the same seed', () => {
    const schema = { type: 'object', properties: { a: { pattern: '^[a-f\\d]{8}$' } }, required: ['a'] };
    expect(sample(schema, 7)).toEqual(sample(schema, 7));
    expect(sample(schema, 7)).not.toEqual(sample(schema, 8_000));
  });
});

describe('it gives up on', () => {
  it.each<readonly [string, Schema]>([
    ['a false schema', { not: {} }],
    ['contradicting limits', { type: 'string', minLength: 3, maxLength: 2 }],
    ['a text that is too long', { type: 'string', minLength: 10_000_000 }],
    ['a list that is too long', { type: 'array', minItems: 1_000_000 }],
    ['a look-ahead', { type: 'string', pattern: '^(?=a)b$' }],
    ['an infinite value', { $ref: '#/properties/a', type: 'object', required: ['a'] }],
    ['a remote reference', { $ref: 'https://example.com/schema' }],
  ])('%s', (_, schema) => {
    expect(sampleOne(schema)).toBeUndefined();
  });
});

describe('a text for a pattern', () => {
  const random = (): number => 0.9;

  it.each([
    '^[a-z]{3}-\\d{2,4}$',
    '^(?:foo|bar)+$',
    '^\\w+@\\w+\\.com$',
    '^[^abc]$',
    '^#[0-9a-fA-F]{6}$',
    'a|b',
    '^\\x41\\u0042$',
    '^(?<year>\\d{4})\\/\\d\\d$',
    '^[\\w.-]+$',
  ])('%s', (pattern) => {
    expect(samplePattern(pattern, random)).toMatch(new RegExp(pattern, 'u'));
  });

  it.each(['(', '[a', 'a{', '\\1', '\\p{L}', '(?!a)', `${'('.repeat(50)}${')'.repeat(50)}`])(
    '%s: none',
    (pattern) => {
      expect(samplePattern(pattern, random)).toBeUndefined();
    },
  );

  it('is made in time for a pattern that would take forever to match', () => {
    const started = performance.now();
    samplePattern('^((a{1,60}){1,60}){1,60}$', () => 0.99);
    samplePattern('^(a{999999999})$', () => 0.99);
    expect(performance.now() - started).toBeLessThan(timeBound(250));
  });
});

/** Schemas with every keyword, among them contradictory and invalid ones. */
const { schema: anySchema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'schema' },
    fc.boolean(),
    fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array', 'object', 'nonsense'),
          fc.subarray(['string', 'integer', 'null', 'object']),
        ),
        minimum: fc.integer({ min: -5, max: 5 }),
        exclusiveMaximum: fc.integer({ min: -5, max: 9 }),
        multipleOf: fc.constantFrom(1, 2, 0.5, 3),
        minLength: fc.nat(9),
        maxLength: fc.nat(9),
        pattern: fc.constantFrom('^a+$', '^[a-c]{2,3}$', '(a+)+$', '([', '^\\d+(\\.\\d+)?$', '(?=x)y'),
        format: fc.constantFrom('email', 'uuid', 'unknown'),
        minItems: fc.nat(4),
        uniqueItems: fc.boolean(),
        minProperties: fc.nat(3),
        required: fc.subarray(['a', 'b', '__proto__']),
        additionalProperties: fc.boolean(),
        default: fc.jsonValue({ maxDepth: 1 }),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        type: fc.constantFrom('object', 'array'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'constructor'), tie('schema'), {
          maxKeys: 3,
        }),
        required: fc.subarray(['a', 'b', 'c']),
        items: tie('schema'),
        prefixItems: fc.array(tie('schema'), { maxLength: 2 }),
        contains: tie('schema'),
        minItems: fc.nat(3),
        allOf: fc.array(tie('schema'), { maxLength: 2 }),
        anyOf: fc.array(tie('schema'), { maxLength: 2 }),
        oneOf: fc.array(tie('schema'), { maxLength: 2 }),
        not: tie('schema'),
        $ref: fc.constantFrom('#', '#/properties/a', '#/nowhere', 'http://127.0.0.1:9/'),
        enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
        const: fc.jsonValue({ maxDepth: 1 }),
      },
      { requiredKeys: [] },
    ),
  ),
}));

describe('for any schema', () => {
  it('the arguments are valid, or there are none, soon', () => {
    let found = 0;
    const property = fc.property(anySchema, fc.nat(), (schema, seed) => {
      const whole = { type: 'object', properties: { a: schema }, required: ['a'] };
      const started = performance.now();
      const made = sampleArguments(whole, { seed, checks, now });
      expect(performance.now() - started).toBeLessThan(timeBound(250));
      expect(made).toEqual(sampleArguments(whole, { seed, checks, now }));
      if (made === undefined) return;
      found += 1;
      // A fresh object: compiled once more, without anything that was stored.
      expect(
        checks.checkInput({ inputSchema: structuredClone(whole), outputSchema: undefined }, made),
      ).toEqual([]);
      expect(JSON.parse(JSON.stringify(made))).toEqual(made);
    });
    fc.assert(property, { numRuns: 400 });
    expect(found).toBeGreaterThan(100);
  });

  it('a schema of plain parts always has arguments', () => {
    const plain = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        fc.record({ type: fc.constantFrom('string', 'integer', 'number', 'boolean') }),
        fc.record({
          type: fc.constant('string'),
          minLength: fc.nat(5),
          maxLength: fc.integer({ min: 5, max: 9 }),
        }),
        fc.record({
          type: fc.constant('integer'),
          minimum: fc.integer(),
          multipleOf: fc.constantFrom(1, 2, 3),
        }),
        fc.record({ enum: fc.array(fc.integer(), { minLength: 1 }) }),
        fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(2) }),
        fc.record({
          type: fc.constant('object'),
          properties: fc.record({ a: tie('schema'), b: tie('schema') }),
          required: fc.subarray(['a', 'b']),
        }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      ),
    })).schema;
    const property = fc.property(plain, (schema) => {
      expect(sample({ type: 'object', properties: { a: schema }, required: ['a'] })).toBeDefined();
    });
    fc.assert(property, { numRuns: 200 });
  });
});
