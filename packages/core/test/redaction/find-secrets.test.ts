/** Finding secrets uses the same patterns as redacting them, and is fast. */
import { sampled, timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/redaction/redactor.js';

const TOKEN = 'kq7-ZrT0-private-91x';
const redactor = createRedactor();
redactor.learn(TOKEN);

const BITS = [
  ...[
    'token":"',
    '"token":"',
    '\\"token\\":\\"',
    'cookie:',
    'cookie: a=',
    '-eyJaaaaaaaaaaaa',
    'eyJaaaaaaaaaaaa.',
  ],
  ...[
    'authorization: ',
    'Bearer ',
    '://',
    '://a:b',
    'a="',
    "key='",
    'password=',
    '-----BEGIN PRIVATE KEY-----',
  ],
  ...[
    'sk-',
    'ghp_',
    '[redacted]',
    TOKEN,
    TOKEN.slice(0, 9),
    ' ',
    'x',
    '"',
    '\\',
    '=',
    ';',
    '@',
    '1234567890abcdefghij',
  ],
];
const text = fc.array(fc.constantFrom(...BITS), { maxLength: 8 }).map((bits) => bits.join(''));
const value = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, text, fc.integer(), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(fc.oneof(text, fc.constantFrom('q', 'password', 'type')), tie('value'), {
    maxKeys: 3,
  }),
})).value;

it('finds something exactly where something would be redacted', () => {
  fc.assert(
    fc.property(value, (given) => {
      expect(redactor.finds(given)).toBe(redactor.value(given) !== given);
    }),
    { seed: 9, numRuns: 2_000 },
  );
});

describe('four megabytes are searched quickly, made of', () => {
  it.each(sampled(BITS, 3))('%j', (bit) => {
    const given = { q: bit.repeat(Math.ceil(4_194_304 / bit.length)) };
    const started = performance.now();
    redactor.finds(given);
    redactor.knows(given);
    // A quarter of a second on an idle machine; a quadratic search takes minutes.
    expect(performance.now() - started).toBeLessThan(timeBound(1_000));
  });
});

it.each(['password=', '; a=b', 'x', '\\"', '\\n'])(
  'a text that is too long for a pattern is redacted too: %j',
  (bit) => {
    const given = `"token":"cookie: a=b${bit.repeat(Math.ceil(12_000_000 / bit.length))}`;
    expect(redactor.finds(given)).toBe(true);
    expect(redactor.text(given)).not.toBe(given);
  },
);
