import { collectGarbage } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { estimateJsonMemory } from '../../src/json/estimate-memory.js';
import { parseLosslessInSlices } from '../../src/json/lossless-json.js';
import { parseLarge } from '../../src/json/parse-large.js';
import { runToEnd } from '../../src/json/slices.js';

const COUNT = 20_000;
let made = 0;
const list = (unit: () => string): string => `{"a":[${Array.from({ length: COUNT }, unit).join(',')}]}`;
const name = (): string => {
  made += 1;
  return `k${made}`;
};

/** Texts that need much memory, by the reason. */
const COSTLY: Readonly<Record<string, () => string>> = {
  'empty objects': () => list(() => '{}'),
  'objects that all differ': () => list(() => `{"${name()}":{"${name()}":{}}}`),
  'objects with a number as a name': () => list(() => '{"32":1}'),
  'objects with a large number as a name': () => list(() => '{"500":1}'),
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

describe('the estimated memory of a text', () => {
  it.each(Object.entries(COSTLY))(
    'is about the real memory of the text and its value: %s',
    async (_, make) => {
      const texts = Array.from({ length: 4 }, make);
      const weight = (await Promise.all(texts.map(estimateJsonMemory))).reduce((sum, one) => sum + one);
      const before = used();
      const held = texts.map((text) => parseLosslessInSlices(Buffer.from(text).toString()));
      const values = await Promise.all(held);
      // The limit for all texts together is an eighth of the heap.
      expect(used() - before).toBeLessThan(3 * weight);
      expect(values).toHaveLength(4);
    },
  );

  it.each(Object.entries(COSTLY))('counts the parsed parts: %s', async (_, make) => {
    const text = make();
    const { parts } = runToEnd(parseLarge(text, { maxDepth: 10, maxParts: 1e6 }));
    const bytes = text.includes('€') ? 2 * text.length : text.length;
    expect(await estimateJsonMemory(text)).toBe(bytes + 64 * parts);
  });

  it('does not count the characters in strings as parts', async () => {
    const strings = [',{[', '\\",{["', '\\\\', '\\\\\\"{', '"', ''].map((text) =>
      JSON.stringify(text.repeat(300)),
    );
    const text = `[${strings.join(',')}]`;
    expect(await estimateJsonMemory(text)).toBe(text.length + 64 * strings.length);
  });

  it.each([
    ['nothing', ''],
    ['a quote', '"'.padStart(9_999)],
    ['an open string', `{"a":"${'\\"'.repeat(9_999)}`],
    ['an escape at the end', `{"a":"${'x'.repeat(9_999)}\\`],
    ['quotes', '"'.repeat(9_999)],
    ['brackets', '['.repeat(300_000)],
    ['commas', ','.repeat(3_000_000)],
  ])('is bounded for text that is not JSON: %s', async (_, text) => {
    const weight = await estimateJsonMemory(text);
    expect(weight).toBeGreaterThanOrEqual(text.length);
    expect(weight).toBeLessThanOrEqual(2 * text.length + 64 * Math.min(text.length, 250_000));
  });

  it('is never less than the memory of the parts of a short text', async () => {
    for (const unit of ['{},', '[],', '{"a":1},', '[[]],', '1,', '"",']) {
      const text = `[${unit.repeat(60)}0]`;
      const { parts } = runToEnd(parseLarge(text, { maxDepth: 10, maxParts: 1e6 }));
      expect(await estimateJsonMemory(text)).toBeGreaterThanOrEqual(text.length + 64 * parts * 0.95);
    }
  });
});

it('a text with more values than the limit is rejected before they are parsed', () => {
  let items = 0;
  const text = `[${'1.5,'.repeat(900_000)}1]`;
  const parsing = parseLarge(text, { maxDepth: 10, maxParts: 100_000 });
  expect(() => {
    for (let step = parsing.next(); step.done !== true; step = parsing.next()) items += 1;
  }).toThrow('more than 100000 values');
  // Only the first 100,000 parts of 4 million characters were parsed.
  expect(items).toBeLessThan(150);
});
