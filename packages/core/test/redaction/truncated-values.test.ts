/** A truncated value never shows a part of a secret, wherever the secret is. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRedactor } from '../../src/redaction/redactor.js';

const LIMIT = 2_000;
/** A secret that begins in the shown part is removed completely, up to this length: the redactor reads that far beyond the cut. */
const LONGEST = 2_048;
/** So few characters do not reveal a secret: many texts begin with them. */
const MAX_SHOWN = 4;

const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const generated = (min: number, max: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...letters), { minLength: min, maxLength: max })
    .map((all) => all.join(''))
    .filter((text) => /\d/.test(text) && /[A-Z]/.test(text) && /[a-z]/.test(text));

interface Planted {
  readonly before: string;
  readonly secret: string;
  readonly after: string;
  readonly isKnown: boolean;
}

const planted: fc.Arbitrary<Planted> = fc.oneof(
  generated(20, 900).map((secret) => ({ before: ' ', secret, after: ' ', isKnown: true })),
  generated(36, 36).map((secret) => ({ before: ' ghp_', secret, after: ' ', isKnown: false })),
  generated(12, 60).map((secret) => ({
    before: ' postgres://admin:',
    secret,
    after: '@db.example/x ',
    isKnown: false,
  })),
  generated(12, 1_500).map((secret) => ({ before: ' api_key="', secret, after: '" ', isKnown: false })),
  generated(20, 800).map((secret) => ({ before: ' {"password":"', secret, after: '"} ', isKnown: false })),
  generated(200, 1_900).map((secret) => ({
    before: ' -----BEGIN PRIVATE KEY-----\n',
    secret,
    after: '\n-----END PRIVATE KEY----- ',
    isKnown: false,
  })),
);

const fill = 'lorem ipsum '.repeat(1_000);

/** The length of the longest prefix of the secret that is in the text. */
function leftOf(secret: string, text: string): number {
  let length = 0;
  while (length < secret.length && text.includes(secret.slice(0, length + 1))) length += 1;
  return length;
}

const shapes: ReadonlyArray<(text: string) => unknown> = [
  (text) => ({ text }),
  (text) => ({ first: fill, list: [text, { text }], last: 'x' }),
  (text) => ({ [text]: 1, other: fill }),
  (text) => ({ inner: { inner: { [text]: text } } }),
];

it('no more than a few characters of a secret are shown, wherever the cut is', () => {
  fc.assert(
    fc.property(
      planted,
      fc.integer({ min: -2_100, max: 60 }),
      fc.constantFrom(0, 1, 2, 3),
      fc.integer({ min: 0, max: 5 }),
      ({ before, secret, after, isKnown }, offset, shape, others) => {
        const redactor = createRedactor();
        if (isKnown) redactor.learn(secret);
        expect(secret.length).toBeLessThanOrEqual(LONGEST);
        // Redacting earlier secrets shortens the text: this must not reveal text beyond the cut.
        const head = `${before}${secret}${after}`.repeat(others);
        for (const edge of [LIMIT, LIMIT / 2, LIMIT / 3, 256]) {
          const at = Math.max(edge + offset - head.length, 0);
          const text = `${head}${fill.slice(0, at)}${before}${secret}${after}${fill}`;
          const shown = redactor.truncated(shapes[shape]?.(text), LIMIT);
          expect(shown.isCut).toBe(true);
          expect(leftOf(secret, JSON.stringify(shown.value))).toBeLessThanOrEqual(MAX_SHOWN);
        }
      },
    ),
    { numRuns: 150 },
  );
});

it('a value that fits is the same as without truncation', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const redactor = createRedactor();
      const sent = { value, apiKey: 'sk-live-0123456789', list: { password: [1, 'two', { scope: 'x' }] } };
      const { value: shown, isCut } = redactor.truncated(sent, 1_000_000);
      expect(isCut).toBe(false);
      expect(JSON.stringify(shown)).toBe(JSON.stringify(redactor.value(sent)));
    }),
  );
});
