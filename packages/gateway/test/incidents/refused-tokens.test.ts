import { expect, it } from 'vitest';
import type { Incident } from '../../src/incidents/incident.js';
import { RefusedTokens } from '../../src/incidents/refused-tokens.js';

function refusals() {
  const reported: Incident[] = [];
  const timers = new Set<() => void>();
  const tokens = new RefusedTokens({
    report: (incident) => void reported.push(incident),
    schedule: (work) => {
      timers.add(work);
      return () => timers.delete(work);
    },
  });
  /** The five minutes are over. */
  const pass = (): void => {
    const due = [...timers];
    timers.clear();
    for (const work of due) work();
  };
  return { tokens, reported, timers, pass };
}

it.each([
  [{ reason: 'unknown' }, 'an unknown token', 'turnbuckle token list'],
  [
    { reason: 'expired', name: 'ci' },
    'the expired token "ci"',
    'Revoke the token (turnbuckle token revoke ci), then create a new one: turnbuckle token create ci',
  ],
  [{ reason: 'revoked', name: 'ci' }, 'the revoked token "ci"', 'turnbuckle token create ci'],
  [{ reason: 'revoked', name: 'owner' }, 'an old owner token', 'turnbuckle token list'],
] as const)('reports the first refused token at once: %o', (refused, what, next) => {
  const { tokens, reported } = refusals();
  tokens.add(refused, '127.0.0.1');
  expect(reported).toEqual([
    {
      level: 'warn',
      kind: 'token-refused',
      code: 'TOKEN_REQUIRED',
      text: `A request from 127.0.0.1 with ${what} was refused.`,
      next: expect.stringContaining(next),
    },
  ]);
});

it('counts those that follow, and starts over when there are no more', () => {
  const { tokens, reported, timers, pass } = refusals();
  const add = (): void => tokens.add({ reason: 'unknown' }, '127.0.0.1');
  for (let index = 0; index < 1_000; index += 1) add();
  expect(reported).toHaveLength(1);
  pass();
  expect(reported.at(-1)?.text).toBe('999 more requests with an unknown token were refused.');
  add();
  expect(reported).toHaveLength(2);
  pass();
  expect(reported.at(-1)?.text).toBe('1 more request with an unknown token was refused.');
  pass();
  expect([reported.length, timers.size]).toEqual([3, 0]);
  add();
  expect(reported.at(-1)?.text).toContain('A request from 127.0.0.1');
});

it('reports what it has counted when it is closed', () => {
  const { tokens, reported, timers } = refusals();
  for (let index = 0; index < 3; index += 1) tokens.add({ reason: 'expired', name: 'ci' }, '::1');
  tokens.close();
  expect(reported.map(({ text }) => text)).toEqual([
    'A request from ::1 with the expired token "ci" was refused.',
    '2 more requests with the expired token "ci" were refused.',
  ]);
  expect(timers.size).toBe(0);
});
