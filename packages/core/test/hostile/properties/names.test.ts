import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isReservedName,
  isValidName,
  type NamingPreset,
  parseToolName,
  toHashedName,
  toToolName,
} from '../../../src/catalog/names.js';

const PRESETS: NamingPreset[] = ['mcp__server__tool', 'mcp_server_tool', 'server_tool'];
const RUNS = { numRuns: 10_000 };

// Short words of few letters, so that many pairs look alike; and arbitrary strings.
const confusing = fc.string({
  unit: fc.constantFrom('a', 'b', '_', '-', '.', 'ż', ' '),
  minLength: 1,
  maxLength: 6,
});
const hashLike = fc
  .string({ unit: fc.constantFrom(...'0a9z'), minLength: 13, maxLength: 13 })
  .map((end) => `a_x${end}`);
const anything = fc.string({ unit: 'binary', minLength: 1, maxLength: 90 });
const word = fc.oneof(confusing, anything, hashLike);
const identity = fc.record({ server: word, tool: word });
const key = ({ server, tool }: { server: string; tool: string }): string => JSON.stringify([server, tool]);

// requirement T2
describe.each(PRESETS)('names in the form %s', (preset) => {
  it('are valid for every model and depend on the pair alone', () => {
    fc.assert(
      fc.property(identity, (pair) => {
        const name = toToolName(preset, pair);
        expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
        expect(isValidName(name)).toBe(true);
        expect(toToolName(preset, { ...pair })).toBe(name);
      }),
      RUNS,
    );
  });

  it('map back to their pair, by parsing or by a map', () => {
    fc.assert(
      fc.property(identity, (pair) => {
        const name = toToolName(preset, pair);
        const parsed = parseToolName(preset, name);
        if (parsed === undefined) expect(name).toBe(toHashedName(preset, pair));
        else expect(parsed).toEqual(pair);
      }),
      RUNS,
    );
  });

  it('never collide, whatever other names exist', () => {
    fc.assert(
      fc.property(fc.uniqueArray(identity, { selector: key, minLength: 2, maxLength: 12 }), (pairs) => {
        const names = new Map(pairs.map((pair) => [toToolName(preset, pair), key(pair)]));
        expect(names.size).toBe(pairs.length);
        for (const pair of pairs) expect(names.get(toToolName(preset, pair))).toBe(key(pair));
      }),
      RUNS,
    );
  });

  it('have a hashed form that differs from every plain one', () => {
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        const hashed = toHashedName(preset, one);
        expect(isValidName(hashed)).toBe(true);
        expect(isReservedName(preset, hashed)).toBe(true);
        expect(parseToolName(preset, hashed)).toBeUndefined();
        if (key(one) !== key(other)) expect(toToolName(preset, other)).not.toBe(hashed);
      }),
      RUNS,
    );
  });

  it('are not parsed from other names', () => {
    fc.assert(
      fc.property(fc.oneof(confusing, anything), (text) => {
        const parsed = parseToolName(preset, text);
        if (parsed !== undefined) expect(toToolName(preset, parsed)).toBe(text);
      }),
      RUNS,
    );
  });
});
