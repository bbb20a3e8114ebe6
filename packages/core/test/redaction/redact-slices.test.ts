import { timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TurnbuckleError } from '../../src/errors.js';
import { inSlices } from '../../src/json/slices.js';
import { createRedactor, type Redactor } from '../../src/redaction/redactor.js';
import { strainOf } from '../hostile/strain.js';

const KNOWN = ['correct-horse-battery-9', 'Zx81 with a space in it', 'multi\nline-secret-value-123'];
const SHAPED = ['password=hunter2hunter2', 'https://me:hunter2hunter2@host/', `ghp_${'aB3'.repeat(12)}`];

function redactor(): Redactor {
  const made = createRedactor();
  for (const secret of KNOWN) made.learn(secret);
  return made;
}

/** Long enough for several slices, with secrets anywhere, also at slice boundaries. */
const longText = fc
  .tuple(
    fc.constantFrom('lorem ipsum dolor. ', 'x', 'a,b;c|d/', 'line\n'),
    fc.array(fc.tuple(fc.integer({ min: 0, max: 60_000 }), fc.constantFrom(...KNOWN, ...SHAPED)), {
      maxLength: 6,
    }),
  )
  .map(([filler, secrets]) => {
    let text = filler.repeat(Math.ceil(60_000 / filler.length));
    for (const [at, secret] of secrets) text = `${text.slice(0, at)} ${secret} ${text.slice(at)}`;
    return { text, secrets: secrets.map(([, secret]) => secret) };
  });

describe('large data after redaction', () => {
  it('contains none of them, at any position, and all the rest', async () => {
    const { large, truncated } = redactor();
    const whole = (text: string): unknown => truncated(text, Number.POSITIVE_INFINITY).value;
    await fc.assert(
      fc.asyncProperty(longText, async ({ text }) => {
        const { content } = (await large.value({ content: [{ text }] })) as { content: [{ text: string }] };
        const clean = content[0].text;
        for (const secret of KNOWN) expect(clean).not.toContain(secret);
        expect(clean).not.toContain('hunter2');
        expect(clean).not.toContain('ghp_a');
        expect(clean).toBe(whole(text));
      }),
      { numRuns: 150, seed: 1 },
    );
  });

  it('is the same as without slices', async () => {
    const made = redactor();
    const leaf = fc.oneof(
      fc.constantFrom<unknown>(1, null, true, 'plain', 'lorem '.repeat(5_000)),
      fc.constantFrom(KNOWN[0], SHAPED[0], `${'x '.repeat(9_000)}${KNOWN[1]}`),
    );
    const data = fc.tuple(
      fc.array(leaf, { maxLength: 20 }),
      fc.dictionary(fc.constantFrom('a', 'token', 'password', 'type', 'list'), leaf),
      fc.constantFrom('a', 'password'),
    );
    await fc.assert(
      fc.asyncProperty(data, async ([list, members, key]) => {
        const padding = Array.from({ length: 3_000 }, (_, index) => index);
        const value = { list, members, [key]: { deep: [{ ...members }, 'open'] }, padding };
        expect(await made.large.finds(value)).toBe(made.finds(value));
        expect(await made.large.knows(value)).toBe(made.knows(value));
        const { value: whole } = made.truncated(value, Number.POSITIVE_INFINITY);
        expect(await made.large.value(value)).toEqual(whole);
        if (!made.finds(value)) expect(await made.large.value(value)).toBe(value);
      }),
      { numRuns: 100, seed: 1 },
    );
  });

  it('terminates for cycles', async () => {
    const made = redactor();
    const ring: Record<string, unknown> = { padding: Array.from({ length: 3_000 }, () => KNOWN[0]) };
    Object.assign(ring, { self: ring, twice: [ring, ring] });
    expect(await made.large.finds(ring)).toBe(true);
    expect(await made.large.knows(ring)).toBe(true);
    const copy = (await made.large.value(ring)) as Record<string, unknown>;
    expect(copy.self).toBe(copy);
  });

  it.each([
    'https://a:b@c ',
    'Bearer tbk_abc password=',
    'cookie: a=b; ',
    '"token":"',
    'correct-horse-battery-9',
    'corr',
    '-----BEGIN PRIVATE KEY-----',
  ])(
    'does not block the event loop while it is full of %s',
    async (unit) => {
      const made = redactor();
      const value = { content: [{ text: unit.repeat(2_000_000 / unit.length) }] };
      for (const look of [made.large.knows, made.large.finds, made.large.value]) {
        const { stallMs } = await strainOf(async () => void (await look(value)));
        expect(stallMs).toBeLessThan(timeBound(150));
      }
    },
    60_000,
  );
});

describe('data that is redacted synchronously', () => {
  const costlyTexts = ['pw=b ', '://a:b@', 'api_key=x ', 'a.b.c.', 'eyJ', 'Bearer '];

  it.each(costlyTexts)('is short however long it was: %j', async (unit) => {
    const { text, value, error } = redactor();
    const long = unit.repeat(4_000_000 / unit.length);
    const begun = performance.now();
    expect(text(long).length).toBeLessThan(80_000);
    expect(JSON.stringify(value({ long, list: Array(100).fill(long.slice(0, 50_000)) })).length).toBeLessThan(
      200_000,
    );
    const failure = new TurnbuckleError('INTERNAL', long, { hint: long, tool: 'x', data: { long } });
    expect(JSON.stringify(error(failure)).length).toBeLessThan(300_000);
    expect(performance.now() - begun).toBeLessThan(timeBound(1_000));
  });

  it('contains no part of a secret where it is truncated', () => {
    const { text, value } = redactor();
    fc.assert(
      fc.property(
        fc.integer({ min: 58_000, max: 70_000 }),
        fc.constantFrom(...KNOWN, `ghp_${'aB3'.repeat(12)}`),
        (at, secret) => {
          const long = `${'word '.repeat(14_000).slice(0, at)} ${secret} ${'more '.repeat(8_000)}`;
          for (const told of [text(long), JSON.stringify(value({ long }))])
            for (let from = 0; from + 8 <= secret.length; from += 4)
              expect(told).not.toContain(JSON.stringify(secret.slice(from, from + 8)).slice(1, -1));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is complete with `large` and `steps`, for any length', async () => {
    const { large, steps } = redactor();
    for (let length = 1_000; length < 80_000; length += 1_013)
      for (const secret of ['plain', KNOWN[0]]) {
        const begins = 'word '.repeat(length / 5);
        const expected = { text: `${begins}${secret === 'plain' ? 'plain' : '[redacted]'} to the end`, n: 1 };
        const value = { text: `${begins}${secret} to the end`, n: 1 };
        expect(await large.value(value)).toEqual(expected);
        expect(await inSlices(steps(value))).toEqual(expected);
      }
  });

  it('is complete in slices', async () => {
    const { steps } = redactor();
    const long = `${'word '.repeat(100_000)}${KNOWN[0]}`;
    expect(await inSlices(steps({ long }))).toEqual({ long: `${'word '.repeat(100_000)}[redacted]` });
  });
});
