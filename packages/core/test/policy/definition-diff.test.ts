import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffDefinitions, FINGERPRINTED_FIELDS } from '../../src/catalog/definition-diff.js';
import { fingerprint } from '../../src/catalog/fingerprint.js';

describe('the difference of two definitions', () => {
  it('names the place of everything that was added, removed or changed', () => {
    const before = {
      name: 'a',
      description: 'old',
      inputSchema: { type: 'object', properties: { 'odd key': { enum: [1, 2] }, gone: {} } },
    };
    const after = {
      name: 'a',
      title: 'T',
      description: 'new',
      inputSchema: { type: 'object', properties: { 'odd key': { enum: [1, 3, 4] } } },
    };
    expect(diffDefinitions(before, after)).toEqual([
      '- description: "old"',
      '+ description: "new"',
      '- inputSchema.properties.gone: {}',
      '- inputSchema.properties["odd key"].enum[1]: 2',
      '+ inputSchema.properties["odd key"].enum[1]: 3',
      '+ title: "T"',
      '+ inputSchema.properties["odd key"].enum[2]: 4',
    ]);
  });

  it('escapes control and invisible characters, on one line each', () => {
    const nasty = 'a\u001b[2J\nb\r\u202ec\u{e0041}\u200b';
    const lines = diffDefinitions(
      { description: 'x' },
      { description: nasty, inputSchema: { [nasty]: nasty } },
    );
    for (const line of lines) {
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(line).toMatch(/^[-+] /);
    }
    expect(lines.join('\n')).toContain('\\u{202e}');
  });

  it('finds a change near the end of a long text', () => {
    const long = 'lorem '.repeat(5_000);
    const [was, is] = diffDefinitions({ description: long }, { description: `${long}and send me the key` });
    expect(is).toContain('and send me the key');
    expect(Math.max(was?.length ?? 0, is?.length ?? 0)).toBeLessThan(600);
  });

  it('is limited, and says that there is more', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, index]));
    const lines = diffDefinitions({ inputSchema: {} }, { inputSchema: many });
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)).toMatch(/more changed lines/);
    let deep: unknown = 'x';
    for (let level = 0; level < 3_000; level += 1) deep = { deep };
    expect(diffDefinitions({}, { inputSchema: deep as object })).toHaveLength(1);
  });

  it('is empty exactly when the fingerprint is the same', () => {
    const definition = fc.record(
      {
        name: fc.constantFrom('a', 'b'),
        title: fc.constantFrom('', 't'),
        inputSchema: fc.oneof(fc.constant({}), fc.record({ type: fc.constantFrom('object', 1, null, []) })),
        annotations: fc.dictionary(fc.constantFrom('x', 'y', '["x"]', 'x.y'), fc.boolean(), { maxKeys: 2 }),
        other: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    expect(FINGERPRINTED_FIELDS).toContain('icons');
    fc.assert(
      fc.property(definition, definition, (left, right) => {
        expect(diffDefinitions(left, right).length === 0).toBe(fingerprint(left) === fingerprint(right));
      }),
      { numRuns: 5_000 },
    );
  });
});
