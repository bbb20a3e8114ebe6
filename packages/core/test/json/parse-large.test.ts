import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/json/parse-json.js';
import { parseLarge } from '../../src/json/parse-large.js';
import { inSlices, runToEnd } from '../../src/json/slices.js';

const LIMITS = { maxDepth: 200, maxParts: 1_000_000 };
const read = (text: string): unknown => runToEnd(parseLarge(text, LIMITS)).value;

/** Sizes around the slice size, so that large and small parts occur in every order. */
const long = fc.constantFrom(10, 20_000, 33_000, 70_000).map((length) => 'x'.repeat(length));
const value = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(long, fc.integer(), fc.constantFrom(null, true, '', '"', '\\', '{', ']', ',', ':', '\u2028')),
    fc.array(tie('node'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', '', '__proto__', '"', '\\', ',', '7', 'é'), tie('node'), {
      maxKeys: 5,
    }),
  ),
})).node;

describe('parseLarge', () => {
  it('reads what JSON.parse reads, key by key in the same order', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), fc.constantFrom(0, 1, '\t'), (all, indent) => {
        for (const written of [all, { all, more: all }]) {
          const text = JSON.stringify(written, undefined, indent);
          expect(JSON.stringify(read(text))).toBe(JSON.stringify(parseJson(text)));
        }
      }),
      { numRuns: 200, seed: 9 },
    );
  });

  it('rejects what JSON.parse rejects, wherever the fault is', () => {
    const broken = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      gone: fc.integer({ min: 0, max: 2 }),
      come: fc.constantFrom('', ',', '[', ']', '{', '}', ':', '"', '1', ' ', ',,', '\\', 'x', '{}', '[]'),
    });
    fc.assert(
      fc.property(fc.array(value, { maxLength: 4 }), broken, (all, { at, gone, come }) => {
        const text = JSON.stringify({ all, more: [all] });
        const place = Math.floor(at * text.length);
        const changed = text.slice(0, place) + come + text.slice(place + gone);
        const plain = outcome(() => parseJson(changed));
        const large = outcome(() => read(changed));
        expect(large === undefined).toBe(plain === undefined);
        if (plain !== undefined) expect(large).toBe(plain);
      }),
      { numRuns: 800, seed: 9 },
    );
  });

  it.each([
    '',
    ' ',
    '1',
    '[1] 2',
    '[1]]',
    '[',
    '{"a":[1}',
    '[1,]',
    '[,1]',
    '{,}',
    '{"a":1,}',
    '[1 2]',
    'x[1]',
  ])('rejects %s as invalid JSON', (text) => {
    expect(() => read(text)).toThrow(SyntaxError);
  });

  it.each([
    ['plain', 'k'],
    ['quotes', '\\"'],
    ['backslashes', '\\\\'],
    ['unicode escapes', '\\u0041'],
    ['brackets', '{['],
  ])('reads a key of millions of %s before a large value', (_what, unit) => {
    const key = unit.repeat((9 * 1_024 * 1_024) / unit.length);
    const text = `{"a":1, "${key}" : ["${'x'.repeat(40_000)}"]}`;
    const [, name = ''] = Object.keys(read(text) as object);
    expect(name === JSON.parse(`"${key}"`)).toBe(true);
  });

  it.each(['\u00a0', '\ufeff', '\u2028', '\v'])(
    'accepts only JSON white space before a large value: %j',
    (space) => {
      const large = `["${'x'.repeat(40_000)}"]`;
      for (const text of [
        `[1,${space}${large}]`,
        `{"a":1,${space}"b":${large}}`,
        `{"a"${space}:${large}}`,
        `{"a":${space}${large}}`,
      ])
        expect(() => read(text)).toThrow(SyntaxError);
    },
  );

  it('rejects values beyond the limits', () => {
    const many = `[${'0,'.repeat(1_000_001)}0]`;
    expect(() => read(many)).toThrow('more than 1000000 values');
    const members = Array.from({ length: 100_001 }, (_, index) => `"k${index}":0`).join(',');
    expect(() => read(`{${members}}`)).toThrow('more than 100000 members');
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    for (const [levels, isDeep] of [
      [200, false],
      [201, true],
      [20_000, true],
    ] as const)
      expect(runToEnd(parseLarge(nested(levels), LIMITS)).isDeep).toBe(isDeep);
    expect(() => read(nested(20_001))).toThrow('more than 20000 levels deep');
  });

  it('lets other work run in between', async () => {
    const text = `[${'{"id":12,"name":"abc","tags":["a","b"]},'.repeat(60_000)}0]`;
    let turns = 0;
    const count = (): void => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const rows = (await inSlices(parseLarge(text, LIMITS))).value as unknown[];
    clearImmediate(timer);
    expect(rows).toHaveLength(60_001);
    expect(turns).toBeGreaterThan(3);
  });
});

function outcome(work: () => unknown): string | undefined {
  try {
    return JSON.stringify(work());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
