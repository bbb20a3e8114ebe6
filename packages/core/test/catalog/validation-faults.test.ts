import { expect, it } from 'vitest';
import { SchemaChecks } from '../../src/catalog/schemas/schema-checks.js';
import type { CatalogTool } from '../../src/catalog/tool.js';
import { strainOf } from '../hostile/strain.js';

const toolWith = (outputSchema: object): CatalogTool => ({ outputSchema, inputSchema: {} }) as CatalogTool;
const listOf = (items: object): object => ({ type: 'object', properties: { v: { type: 'array', items } } });
const MANY = 1_000_000;

it('a result with a million errors is rejected without collecting all of them', async () => {
  const checks = new SchemaChecks();
  await checks.load();
  const few = checks.checkOutput(toolWith(listOf({ type: 'string' })), { v: [1, 2] });
  expect(few).toMatchObject([{ path: 'v[0]' }, { path: 'v[1]' }]);
  const value = { v: Array(MANY).fill(0) };
  const { peakBytes } = await strainOf(async () => {
    const faults = checks.checkOutput(toolWith(listOf({ type: 'string' })), value);
    expect(faults).toMatchObject([
      { path: '', message: expect.stringContaining('too large to show which part is invalid') },
    ]);
  });
  // Collecting each error took hundreds of megabytes.
  expect(peakBytes).toBeLessThan(64 * 1_024 * 1_024);
});

it.each([
  ['uniqueItems', { type: 'array', uniqueItems: true }],
  [
    'many alternatives',
    { type: 'array', items: { anyOf: Array.from({ length: 500 }, (_, at) => ({ const: `x${at}` })) } },
  ],
])('a schema that visits each part very often (%s) is applied to small results only', async (_, v) => {
  const checks = new SchemaChecks();
  await checks.load();
  const tool = toolWith({ type: 'object', properties: { v } });
  expect(checks.checkOutput(tool, { v: [1, 1] })).not.toEqual([]);
  expect(checks.checkOutput(tool, { v: Array(MANY).fill(1) })).toEqual([]);
});
