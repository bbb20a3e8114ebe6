/** A path with `..` can lead anywhere: an ask or deny rule considers all its meanings, an `allow` matches only a plain path. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strictTest, wideTest } from '../../src/policy/argument-pattern.js';
import { DecisionBudget } from '../../src/policy/decision-budget.js';
import { decideFor } from './decision-world.js';

const guards = (pattern: string, value: unknown): boolean => wideTest(pattern)(value, new DecisionBudget());
const opens = (pattern: string, value: unknown): boolean => strictTest(pattern)(value, new DecisionBudget());

const NAMES = ['x', 'a b', '.x', 'x.', '...', 'home', 'ü', '-', 'etcetera'];
/** Starts of unknown depth. */
const STARTS = [
  '',
  './',
  '~/',
  '~root/',
  '$HOME/',
  `\${HOME}/`,
  '%USERPROFILE%/',
  '$(pwd)/',
  './././',
  './/',
];
const SPACES = ['', ' ', '\t', '\n', '\r\n', '\u00a0', '\ufeff', '\u001f', '\u0085', '%20', '\u0000'];

/** Names and `..` steps that lead at least one level above the start. */
const climb = fc
  .tuple(
    fc.constantFrom(...STARTS),
    fc.array(fc.constantFrom(...NAMES), { maxLength: 4 }),
    fc.integer({ min: 1, max: 9 }),
    fc.constantFrom('../', '..//', '.././', '..\\', '%2e%2e/', '.%2e%2f', '%252e%252e/'),
  )
  .map(([start, names, more, up]) => {
    const down = [...(start.match(/[~$%]/) ? [start] : [`${start}`]), ...names.map((name) => `${name}/`)];
    return down.join('') + up.repeat(names.length + more + (/[~$%]/.test(start) ? 1 : 0));
  });

describe('an ask or deny rule for a path', () => {
  it('takes every path that climbs and goes down to it', () => {
    const shape = fc.tuple(climb, fc.constantFrom(...SPACES), fc.constantFrom(...SPACES));
    fc.assert(
      fc.property(shape, ([up, before, after]) => {
        for (const [pattern, rest] of [
          ['/etc/**', 'etc/passwd'],
          ['/etc/*', 'etc'],
          ['/srv/secret/**', 'srv/x/../secret/deep/y'],
        ] as const) {
          expect(guards(pattern, `${before}${up}${rest}${after}`)).toBe(true);
          expect(opens(pattern, `${before}${up}${rest}${after}`)).toBe(false);
          expect(opens('**', `${before}${up}${rest}${after}`)).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '../../../../../../etc/passwd',
    './../../../etc/passwd',
    'x/../../../../etc/passwd',
    '~root/../etc/passwd',
    '~/../../etc/passwd',
    '$HOME/../../etc/passwd',
    ' /etc/passwd',
    '\t/etc/passwd\n',
    '\ufeff/etc/passwd',
    '%20/etc/passwd',
    '/etc./passwd',
    '/etc /passwd',
    '/etc\u0000/../home',
    '/x/../../etc/passwd',
  ])('matches %j, in a call and in a list', (path) => {
    expect(guards('/etc/**', path)).toBe(true);
    expect(guards('/etc/**', { in: [path] })).toBe(true);
    const rules = [{ action: 'deny', arguments: { path: '/etc/**' } } as const, { action: 'allow' } as const];
    expect(decideFor(rules, 'a', 'files:write', { args: { path } }).action).toBe('deny');
  });

  it.each([
    'etc/passwd',
    './etc/passwd',
    'x/../etc/passwd',
    '../home/etc/x',
    '~/etc/x',
    '~x/etc',
    ' etc',
    'Hello. World.',
    '..',
    '../',
  ])('does not match %j, which leads elsewhere or stays where it is', (path) => {
    expect(guards('/etc/**', path)).toBe(false);
  });
});
