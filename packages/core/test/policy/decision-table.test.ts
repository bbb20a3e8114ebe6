import { describe, expect, it } from 'vitest';
import { parseRules } from '../../src/config/layers/read-rules.js';
import { DECISIONS } from './decision-table.js';
import { decideFor, tell } from './decision-world.js';
import { GUARD_DECISIONS } from './guard-decisions.js';

const ALL = [...DECISIONS, ...GUARD_DECISIONS];

// requirement P3
describe('the table of decisions', () => {
  it('has at least 200 rows', () => {
    expect(ALL.flatMap(({ rows }) => rows).length).toBeGreaterThanOrEqual(200);
  });

  it.each(ALL)('holds: $about', ({ rules, rows }) => {
    // Every rule of the table is valid in a file.
    expect(parseRules(rules)).toHaveLength(rules.length);
    for (const [index, row] of rows.entries()) {
      const [caller, call, extras, expected] = row.length === 4 ? row : [row[0], row[1], {}, row[2]];
      const decision = decideFor(rules, caller, call, extras);
      expect(`${index} ${caller} ${call} ${tell(decision)}`).toBe(`${index} ${caller} ${call} ${expected}`);
      expect(decision.reason).not.toBe('');
    }
  });
});
