/** Searching for many similar secrets takes linear time, whatever the text contains. */
import { timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, type Redactor } from '../../src/redaction/redactor.js';

const COUNT = 250;
const numbers = [...Array(COUNT).keys()];
const digits = (index: number): string => String(index).padStart(4, '0');
const binary = (index: number): string =>
  index.toString(2).padStart(24, '0').replaceAll('0', 'a').replaceAll('1', 'b');

const SIMILAR: Readonly<Record<string, (index: number) => string>> = {
  'the same beginning': (index) => `sk-proj-abcdefghijklmnop${digits(index)}`,
  'the same end': (index) => `${digits(index)}abcdefghijklmnop`,
  'the same except for the middle': (index) => `abcdefgh${digits(index)}abcdefgh`,
  'two letters': binary,
  'one letter': (index) => 'a'.repeat(index + 12),
};

function knowing(make: (index: number) => string): Redactor {
  const redactor = createRedactor();
  for (const index of numbers) redactor.learn(make(index));
  return redactor;
}

/** Texts that nearly match all of them. */
const texts = (make: (index: number) => string): readonly string[] => {
  const [first, last] = [make(1).slice(0, -1), make(COUNT - 1).slice(1)];
  return [
    first,
    last,
    `${first}…`,
    `…${last}`,
    first.slice(4, 12),
    `${first.slice(4, 11)}…`,
    `${first}…${last}`,
  ];
};

describe.each(Object.entries(SIMILAR))('secrets with %s', (_, make) => {
  const redactor = knowing(make);

  it('are found, each of them', () => {
    // A text that consists only of their common characters counts as one secret.
    for (const index of numbers)
      expect(redactor.text(`x ${make(index)} y`)).toMatch(/^(x )?\[redacted\]( y)?$/);
    for (const index of numbers) expect(redactor.knows([`x ${make(index)} y`])).toBe(true);
    for (const index of numbers)
      expect(redactor.text(`x ${Buffer.from(`..${make(index)}..`).toString('base64')} y`)).toContain(
        '[redacted]',
      );
  });

  it.each(texts(make))('do not block other work with a text of nothing but %j', (part) => {
    const text = part.repeat(Math.ceil((64 * 1_024) / part.length)).slice(0, 64 * 1_024);
    const started = performance.now();
    redactor.text(text);
    redactor.knows([text]);
    redactor.finds([text]);
    expect(performance.now() - started).toBeLessThan(timeBound(250));
  });

  it('leave no part of them where a text is truncated', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: COUNT - 1 }),
        fc.nat({ max: 11 }),
        fc.constantFrom('start', 'end', 'both'),
        (index, cut, where) => {
          const secret = make(index);
          const kept = secret.slice(
            where === 'start' ? 0 : cut + 1,
            where === 'end' ? undefined : -(cut + 1),
          );
          fc.pre(kept.length >= 12);
          expect(redactor.text(`it is ${where === 'start' ? '' : '…'}${kept}…`)).not.toContain(kept);
        },
      ),
      { numRuns: 200 },
    );
  });
});
