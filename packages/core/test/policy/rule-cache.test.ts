/** Decisions are cached by name, kind and server of the subject. Another subject never gets a cached decision. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decide } from '../../src/policy/decide.js';
import type { RuleSubject } from '../../src/policy/rules.js';
import { decideFor, placed, policyOf, tell } from './decision-world.js';

const AGENT = { id: 'a', capabilities: ['mcp_integration'] };
const subject = (kind: RuleSubject['kind'], tool: string, server = 'files'): RuleSubject => ({
  server,
  tool,
  kind,
  hints: undefined,
});

it('a tool that is named like a resource with its kind is not that resource', () => {
  const rules = placed([
    { action: 'allow', kind: 'resource', tool: 'notes://a' },
    { action: 'deny', kind: 'tool' },
  ]);
  const policy = policyOf(rules);
  expect(tell(decide(AGENT, subject('resource', 'notes://a'), policy))).toBe('allow 0');
  expect(tell(decide(AGENT, subject('tool', 'resource notes://a'), policy))).toBe('hidden 1');
  expect(tell(decide(AGENT, subject('tool', 'prompt notes://a'), policy))).toBe('hidden 1');
});

it('a used set of rules decides like a fresh one', () => {
  const names = fc.constantFrom('a', 'resource a', 'prompt a', 'a resource');
  const places = fc.constantFrom('a', 'a resource');
  const kinds = fc.constantFrom('tool', 'resource', 'prompt');
  const rule = fc.record(
    {
      action: fc.constantFrom('allow', 'ask', 'deny'),
      kind: kinds,
      tool: names,
      server: places,
      caller: places,
    },
    { requiredKeys: ['action'] },
  );
  const call = fc.record({ kind: kinds, tool: names, server: places, caller: places });
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 1, maxLength: 5 }),
      fc.array(call, { maxLength: 60 }),
      (rules, calls) => {
        const used = policyOf(placed(rules as never));
        for (const { caller, kind, tool, server } of calls) {
          const who = { id: caller, capabilities: ['mcp_integration'] };
          const what = subject(kind as never, tool, server);
          expect(decide(who, what, used)).toEqual(decide(who, what, policyOf(placed(rules as never))));
        }
      },
    ),
    { numRuns: 1_000, seed: 3 },
  );
});

it('stays correct when a flood of names exceeds the cache', () => {
  const policy = policyOf(placed([{ action: 'deny', tool: 'x*' }]));
  for (let count = 0; count < 12_000; count += 1)
    expect(decide(AGENT, subject('prompt', `${count % 2 === 0 ? 'x' : 'y'}${count}`), policy).action).toBe(
      count % 2 === 0 ? 'deny' : 'allow',
    );
  expect(tell(decideFor([{ action: 'deny', tool: 'x*' }], 'a', 'files:x'))).toBe('hidden 0');
});
