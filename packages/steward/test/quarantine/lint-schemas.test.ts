import { timeBound } from '@turnbuckle/testing';
import { SchemaChecks } from 'turnbuckle/host';
import { beforeAll, describe, expect, it } from 'vitest';
import { lintSchemas } from '../../src/quarantine/lint-schemas.js';

const checks = new SchemaChecks();
beforeAll(() => checks.load());

const lint = (inputSchema: Record<string, unknown>, more: object = {}): string[] =>
  lintSchemas({ description: 'Does it', inputSchema, ...more }, checks);

const withProperty = (property: object): Record<string, unknown> => ({
  type: 'object',
  properties: { a: { description: 'a', ...property } },
});

describe('schemas without a problem', () => {
  it.each([
    { type: 'object' },
    withProperty({ type: 'string', enum: ['x', 'y'], default: 'x' }),
    withProperty({ type: ['integer', 'null'], default: null }),
    { ...withProperty({ $ref: '#/$defs/b' }), $defs: { b: { type: 'number', default: 0.5 } } },
    { ...withProperty({ type: 'string' }), required: ['a'] },
    withProperty({ type: 'object', properties: { default: { type: 'string' }, enum: { type: 'string' } } }),
  ])('%j', (schema) => {
    expect(lint(schema)).toEqual([]);
  });
});

describe('a problem is found:', () => {
  it.each<readonly [string, Record<string, unknown>, RegExp]>([
    ['no type', {}, /"type" is not "object"/],
    ['a remote reference', withProperty({ $ref: 'http://127.0.0.1:9/s' }), /points outside the schema/],
    ['a missing reference', withProperty({ $ref: '#/$defs/none' }), /points outside the schema/],
    ['an endless reference', { type: 'object', allOf: [{ $ref: '#' }] }, /infinitely recursive reference/],
    [
      'required but unknown',
      { ...withProperty({ type: 'string' }), required: ['b'] },
      /"b" is required but not/,
    ],
    [
      'required in depth',
      withProperty({ type: 'object', properties: {}, required: ['x'] }),
      /a: "x" is required/,
    ],
    ['an empty enum', withProperty({ enum: [] }), /"enum" must be a non-empty array/],
    [
      'an enum of another type',
      withProperty({ type: 'string', enum: ['a', 1] }),
      /a value in "enum" does not match "type"/,
    ],
    [
      'a default of another type',
      withProperty({ type: 'number', default: '1' }),
      /"default" does not match "type"/,
    ],
    [
      'a default outside the enum',
      withProperty({ enum: ['a'], default: 'b' }),
      /"default" is not one of the values in "enum"/,
    ],
    ['an invalid pattern', withProperty({ type: 'string', pattern: '([' }), /not a valid regular expression/],
    [
      'no description of a parameter',
      { type: 'object', properties: { b: {} } },
      /1 of 1 parameters have no description/,
    ],
    ['a large schema', { type: 'object', description: 'x'.repeat(40_000) }, /it is larger than 32768 bytes/],
    [
      'an unknown dialect',
      { $schema: 'https://example.invalid/d', type: 'object' },
      /dialect .* is not supported/,
    ],
  ])('%s', (_, schema, expected) => {
    expect(lint(schema).join('\n')).toMatch(expected);
  });

  it('no description of the tool', () => {
    expect(lint({ type: 'object' }, { description: ' ' })).toEqual(['it has no description']);
  });

  it('in the output schema', () => {
    const outputSchema = withProperty({ $ref: 'https://example.com/' });
    expect(lint({ type: 'object' }, { outputSchema }).join()).toMatch(/output schema: .*points outside/);
  });
});

it('a schema of the maximum size is checked in less than 250 ms', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 2_400 }, (_, index) => [`p${index}`, { type: 'string', default: 1 }]),
  );
  const started = performance.now();
  const problems = lint({ type: 'object', properties });
  expect(problems.length).toBeLessThanOrEqual(20);
  expect(performance.now() - started).toBeLessThan(timeBound(250));
});
