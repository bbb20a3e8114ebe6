import { collectGarbage } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { parseLarge } from '../../src/json/parse-large.js';
import { atOnce } from '../../src/json/slices.js';
import { parseInSlices } from '../../src/json/spelling.js';
import { weighJson } from '../../src/json/weigh-json.js';

const COUNT = 20_000;
let made = 0;
const list = (unit: () => string): string => `{"a":[${Array.from({ length: COUNT }, unit).join(',')}]}`;
const name = (): string => {
  made += 1;
  return `k${made}`;
};

/** By what they are dear. */
const DEAR: Readonly<Record<string, () => string>> = {
  'empty objects': () => list(() => '{}'),
  'objects that all differ': () => list(() => `{"${name()}":{"${name()}":{}}}`),
  'objects with a number for a name': () => list(() => '{"32":1}'),
  'objects with a large number for a name': () => list(() => '{"500":1}'),
  'members of one object': () => `{${Array.from({ length: COUNT }, () => `"${name()}":{}`).join(',')}}`,
  lists: () => list(() => '[[1]]'),
  'lists of fractions': () => list(() => '[1.5,""]'),
  texts: () => list(() => `"${name().padStart(12, 'x')}"`),
  'a text': () => JSON.stringify({ text: 'x'.repeat(4_000_000) }),
  'a text with a character of two bytes': () => JSON.stringify({ text: `${'x'.repeat(3_900_000)}€` }),
};

const used = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

describe('the weight of a text', () => {
  it.each(Object.entries(DEAR))('is about what it takes with its value: %s', async (_, make) => {
    const texts = Array.from({ length: 4 }, make);
    const weight = (await Promise.all(texts.map(weighJson))).reduce((sum, one) => sum + one);
    const before = used();
    const held = texts.map((text) => parseInSlices(Buffer.from(text).toString()));
    const values = await Promise.all(held);
    // The limit for all of them is an eighth of the heap.
    expect(used() - before).toBeLessThan(3 * weight);
    expect(values).toHaveLength(4);
  });

  it.each(Object.entries(DEAR))('counts the parts that are read: %s', async (_, make) => {
    const text = make();
    const { parts } = atOnce(parseLarge(text, { maxDepth: 10, maxParts: 1e6 }));
    const bytes = text.includes('€') ? 2 * text.length : text.length;
    expect(await weighJson(text)).toBe(bytes + 64 * parts);
  });

  it('takes what stands in strings for what it is', async () => {
    const strings = [',{[', '\\",{["', '\\\\', '\\\\\\"{', '"', ''].map((text) =>
      JSON.stringify(text.repeat(300)),
    );
    const text = `[${strings.join(',')}]`;
    expect(await weighJson(text)).toBe(text.length + 64 * strings.length);
  });

  it.each([
    ['nothing', ''],
    ['a quote', '"'.padStart(9_999)],
    ['an open string', `{"a":"${'\\"'.repeat(9_999)}`],
    ['an escape at the end', `{"a":"${'x'.repeat(9_999)}\\`],
    ['quotes', '"'.repeat(9_999)],
    ['brackets', '['.repeat(300_000)],
    ['commas', ','.repeat(3_000_000)],
  ])('has an end and a bound for what is no JSON: %s', async (_, text) => {
    const weight = await weighJson(text);
    expect(weight).toBeGreaterThanOrEqual(text.length);
    expect(weight).toBeLessThanOrEqual(2 * text.length + 64 * Math.min(text.length, 250_000));
  });

  it('of a short one is never less than that of its parts', async () => {
    for (const unit of ['{},', '[],', '{"a":1},', '[[]],', '1,', '"",']) {
      const text = `[${unit.repeat(60)}0]`;
      const { parts } = atOnce(parseLarge(text, { maxDepth: 10, maxParts: 1e6 }));
      expect(await weighJson(text)).toBeGreaterThanOrEqual(text.length + 64 * parts * 0.95);
    }
  });
});

it('what has more parts than are read is refused before they are', () => {
  let items = 0;
  const text = `[${'1.5,'.repeat(900_000)}1]`;
  const parsing = parseLarge(text, { maxDepth: 10, maxParts: 100_000 });
  expect(() => {
    for (let step = parsing.next(); step.done !== true; step = parsing.next()) items += 1;
  }).toThrow('more than 100000 parts');
  // Of 4 million characters, those of the first 100,000 parts.
  expect(items).toBeLessThan(150);
});
