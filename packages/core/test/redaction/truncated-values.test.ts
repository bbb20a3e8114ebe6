/** What a person is shown of a call: no secret is cut in two and shown in half, wherever it stands. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRedactor } from '../../src/observe/redact.js';

const LIMIT = 2_000;
/** A secret that begins in what is shown is taken out whole, if it is not longer than what is looked at beyond that. */
const LONGEST = 2_048;
/** So few characters of a secret are none: the first of what many texts begin with. */
const MAX_LEFT = 4;

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

/** The longest beginning of the secret that stands in the text. */
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
        // Secrets before it make what is left shorter: what is cut off behind must not come nearer by that.
        const head = `${before}${secret}${after}`.repeat(others);
        for (const edge of [LIMIT, LIMIT / 2, LIMIT / 3, 256]) {
          const at = Math.max(edge + offset - head.length, 0);
          const text = `${head}${fill.slice(0, at)}${before}${secret}${after}${fill}`;
          const shown = redactor.shown(shapes[shape]?.(text), LIMIT);
          expect(shown.isCut).toBe(true);
          expect(leftOf(secret, JSON.stringify(shown.value))).toBeLessThanOrEqual(MAX_LEFT);
        }
      },
    ),
    { numRuns: 150 },
  );
});

it('is what the redactor makes of it where nothing is cut', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const redactor = createRedactor();
      const sent = { value, apiKey: 'sk-live-0123456789', list: { password: [1, 'two', { scope: 'x' }] } };
      const { value: shown, isCut } = redactor.shown(sent, 1_000_000);
      expect(isCut).toBe(false);
      expect(JSON.stringify(shown)).toBe(JSON.stringify(redactor.value(sent)));
    }),
  );
});
