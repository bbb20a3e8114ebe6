/** Unnecessary escapes do not hide a secret, do not affect the text around it, and are decoded quickly. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { timeBound } from '../../../../testing/src/time-bound.js';
import { unescapeText } from '../../src/redaction/escaped-text.js';
import { createRedactor } from '../../src/redaction/redactor.js';

const SECRET = 'zebraquartz-lampshade77';
const ESCAPES: readonly ((letter: string) => string)[] = [
  (letter) => letter,
  (letter) => `%${letter.charCodeAt(0).toString(16)}`,
  (letter) => `%2525${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`,
  (letter) => `\\\\\\u00${letter.charCodeAt(0).toString(16)}`,
  (letter) => `\\x${letter.charCodeAt(0).toString(16)}`,
  (letter) => `&#${letter.charCodeAt(0)};`,
  (letter) => `&#x00${letter.charCodeAt(0).toString(16)};`,
];

it('a known secret is found in any mix of escapes, and the text around it is kept', () => {
  const redactor = createRedactor();
  redactor.learn(SECRET);
  const ways = fc.array(fc.constantFrom(...ESCAPES), { minLength: SECRET.length, maxLength: SECRET.length });
  const around = fc.constantFrom('', 'a', ' ', '100% of ', '%20', 'x=%41&y=', 'é', '"', '\\n');
  fc.assert(
    fc.property(ways, around, around, (escapes, before, after) => {
      const written = [...SECRET].map((letter, at) => escapes[at]?.(letter) ?? letter).join('');
      const text = `${before} ${written} ${after}`;
      expect(redactor.text(text)).toBe(`${before} [redacted] ${after}`);
      expect(redactor.knows({ x: [text] })).toBe(true);
    }),
  );
});

it.each(['100 % of it', 'a%20b%2Fc', '{"a":"\\n\\u00e9"}', '&amp;&#39;', 'C:\\users', ''])(
  'an ordinary text is not decoded: %j',
  (text) => expect(unescapeText(text)).toBeUndefined(),
);

it.each(['\\', '%', '%25', '%2', '&#0', '&#x0', '\\u00', '%41', '\\u0041', '&#65;', '\\x4'])(
  'a long run of %j is read in time',
  (unit) => {
    const text = `${unit.repeat(60_000 / unit.length)}%41`;
    const started = performance.now();
    unescapeText(text);
    expect(performance.now() - started).toBeLessThan(timeBound(100));
  },
);
