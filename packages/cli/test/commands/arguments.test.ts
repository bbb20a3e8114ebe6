import { expect, it } from 'vitest';
import { coerce, missingArguments, parseArguments } from '../../src/calls/tool-arguments.js';

it.each<[text: string, schema: Record<string, unknown>, value: unknown]>([
  ['5', { type: 'string' }, '5'],
  ['', { type: 'string' }, ''],
  ['5', { type: 'number' }, 5],
  ['-1.5e3', { type: 'number' }, -1500],
  ['1e999', { type: 'number' }, '1e999'],
  ['five', { type: 'number' }, 'five'],
  ['', { type: 'number' }, ''],
  ['0x10', { type: 'integer' }, '0x10'],
  ['12345678901234567890', { type: 'integer' }, '12345678901234567890'],
  ['true', { type: 'boolean' }, true],
  ['Off', { type: 'boolean' }, false],
  ['1', { type: 'boolean' }, '1'],
  ['a, b', { type: 'array', items: { type: 'string' } }, ['a', 'b']],
  ['1,2', { type: 'array', items: { type: 'integer' } }, [1, 2]],
  ['', { type: 'array' }, []],
  ['["a,b"]', { type: 'array' }, ['a,b']],
  ['{"a":1}', { type: 'object' }, { a: 1 }],
  ['{broken', { type: 'object' }, '{broken'],
  ['2', { enum: [1, 2] }, 2],
  ['2', { enum: ['1', '2'] }, '2'],
  ['null', { enum: ['a', null] }, 'null'],
  ['null', { enum: [1, null] }, null],
  ['true', { const: true }, true],
  ['5', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 5],
  ['null', { type: ['integer', 'null'] }, null],
  ['5', { oneOf: [{ type: 'string' }, { type: 'integer' }] }, '5'],
  ['5', { allOf: [{ type: 'integer' }, { minimum: 1 }] }, 5],
  ['5', {}, 5],
  ['word', {}, 'word'],
])('%j as %j is %j', (text, schema, value) => {
  expect(coerce(text, schema)).toEqual(value);
});

it('follows references, also circular ones', () => {
  const schema = {
    properties: {
      id: { $ref: '#/$defs/id' },
      round: { $ref: '#/properties/round' },
      far: { $ref: 'http://x' },
    },
    $defs: { id: { type: 'string' } },
  };
  expect(parseArguments(['id=7', 'round=7', 'far=7'], schema)).toEqual({ id: '7', round: 7, far: 7 });
});

it('treats __proto__ and constructor as ordinary argument names', () => {
  const args = parseArguments(['__proto__:={"polluted":true}', 'constructor=x'], {});
  expect(Object.keys(args)).toEqual(['__proto__', 'constructor']);
  expect(Reflect.get(args, 'polluted')).toBeUndefined();
});

it('names the missing arguments', () => {
  expect(missingArguments({ a: undefined }, { required: ['a', 'b', 5] })).toEqual(['b']);
  expect(missingArguments({}, {})).toEqual([]);
});
