import { timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, type Redactor } from '../../src/observe/redact.js';
import { strainOf } from '../hostile/strain.js';

const KNOWN = ['correct-horse-battery-9', 'Zx81 with a space in it', 'multi\nline-secret-value-123'];
const SHAPED = ['password=hunter2hunter2', 'https://me:hunter2hunter2@host/', `ghp_${'aB3'.repeat(12)}`];

function redactor(): Redactor {
  const made = createRedactor();
  for (const secret of KNOWN) made.learn(secret);
  return made;
}

/** Long enough for several pieces, with secrets anywhere, at the edges of pieces as well. */
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

describe('large data without its secrets', () => {
  it('holds none of them, wherever they stand, and all the rest', async () => {
    const { large, text: whole } = redactor();
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

  it('is looked through as it would be at once', async () => {
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
        expect(await made.large.value(value)).toEqual(made.value(value));
        if (!made.finds(value)) expect(await made.large.value(value)).toBe(value);
      }),
      { numRuns: 100, seed: 1 },
    );
  });

  it('ends with rings', async () => {
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
    'leaves the loop to others while it is full of %s',
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
