/** The quick look at plain data may only say "clean" where the thorough one finds nothing either. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRedactor } from '../../src/observe/redact.js';
import { redactDeep } from '../../src/observe/redact-deep.js';
import { REDACTED } from '../../src/text/redact-shapes.js';
import { isSecretName } from '../../src/text/secret-names.js';

const SECRET = 'correct-horse-battery';

const name = fc.constantFrom('text', 'password', 'token', 'auth', 'type', 'scope', 'items', `x-${SECRET}`);
const leaf = fc.oneof(
  fc.constantFrom('hello', '', SECRET, `see ${SECRET}!`, `\${TOKEN}`, 'Bearer ${TOKEN}', 'api_key=abc'),
  fc.constantFrom(7, 12n, true, null, undefined),
);
// Small, so that mostly one thing alone decides.
const data = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(name, tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
})).value;

it('plain data comes out as by the thorough look alone, whatever was seen and learned before', () => {
  fc.assert(
    fc.property(data, data, (before, value) => {
      const redactor = createRedactor();
      redactor.value(before);
      redactor.value(value);
      redactor.learn(SECRET);
      const thorough = redactDeep(value, { text: redactor.text, isSecretName, mark: REDACTED });
      expect(redactor.value(value)).toEqual(thorough);
    }),
    { numRuns: 2_000 },
  );
});

it('what is deeper than anybody looks is not passed on', () => {
  let deep: unknown = SECRET;
  for (let level = 0; level < 100; level += 1) deep = [deep];
  const redactor = createRedactor();
  redactor.learn(SECRET);
  expect(JSON.stringify(redactor.value(deep))).not.toContain(SECRET);
  const ring: Record<string, unknown> = { text: 'hello' };
  ring.self = ring;
  expect(redactor.value(ring)).toBe(ring);
});
