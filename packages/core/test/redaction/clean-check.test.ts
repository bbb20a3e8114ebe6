/** The quick check of plain data may only report "clean" if the thorough check finds nothing either. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { redactDeep } from '../../src/redaction/redact-deep.js';
import { REDACTED } from '../../src/redaction/redact-shapes.js';
import { createRedactor } from '../../src/redaction/redactor.js';
import { isSecretName } from '../../src/redaction/secret-names.js';

const SECRET = 'correct-horse-battery';

const name = fc.constantFrom('text', 'password', 'token', 'auth', 'type', 'scope', 'items', `x-${SECRET}`);
const leaf = fc.oneof(
  fc.constantFrom('hello', '', SECRET, `see ${SECRET}!`, `\${TOKEN}`, 'Bearer ${TOKEN}', 'api_key=abc'),
  fc.constantFrom(7, 12n, true, null, undefined),
);
// Small, so that usually a single value decides.
const data = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(name, tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
})).value;

it('plain data is redacted like with the thorough check alone, whatever was seen and learned before', () => {
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

it('data that is nested deeper than the check is redacted too', () => {
  let deep: unknown = SECRET;
  for (let level = 0; level < 100; level += 1) deep = [deep];
  const redactor = createRedactor();
  redactor.learn(SECRET);
  expect(JSON.stringify(redactor.value(deep))).not.toContain(SECRET);
  const ring: Record<string, unknown> = { text: 'hello' };
  ring.self = ring;
  expect(redactor.value(ring)).toBe(ring);
});
