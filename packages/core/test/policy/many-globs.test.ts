/** Patterns that take many steps: beyond a limit, the stricter answer counts. */
import { expect, it } from 'vitest';
import { valuesFor } from '../../src/policy/glob-map.js';
import { RuleSet } from '../../src/policy/rules.js';

const costly = (index: number): string => `${'*?a'.repeat(80)}*${index}*`;
const ADDRESS = `x://${'a'.repeat(8_000)}`;
const SECRETS = { knows: () => false, finds: () => false };
const CONTEXT = { callerId: 'agent', trusted: false, scope: undefined };
const subject = { server: 's', tool: ADDRESS, kind: 'resource' as const, hints: undefined };

const placed = (action: 'allow' | 'deny') =>
  Array.from({ length: 500 }, (_, index) => ({
    rule: { action, tool: costly(index) },
    from: 'project' as const,
  }));

it('a map of very many of them requires everything', () => {
  const map = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [costly(index), [`word-${index}`]]),
  );
  expect(valuesFor<string>(map, subject)).toContain('word-999');
});

it('rules with very many of them deny, and never allow', () => {
  const denies = new RuleSet(placed('deny') as never, SECRETS as never);
  expect(denies.find(subject, CONTEXT).rule?.action).toBe('deny');
  const allows = new RuleSet(placed('allow') as never, SECRETS as never);
  expect(allows.find(subject, CONTEXT).rule).toBeUndefined();
});

it('a map of ordinary patterns is exact', () => {
  const map = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [`file-${index}*`, [`word-${index}`]]),
  );
  expect(valuesFor<string>(map, { tool: 'file-7x', kind: 'tool' })).toEqual(['word-7']);
});
