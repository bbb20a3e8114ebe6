/** A project may separate callers at a server of the user, never join them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { adjust } from '../../src/config/layers/adjust.js';

const SHARES = ['shared', 'agent', 'session'] as const;
const share = fc.option(fc.constantFrom(...SHARES), { nil: undefined });
const isolation = (name: (typeof SHARES)[number]): number => SHARES.indexOf(name);

it('callers are at least as separate as the user wants, whatever a project says', () => {
  fc.assert(
    fc.property(share, share, share, fc.boolean(), (own, usual, wanted, hasCredentials) => {
      const before = { ...(own && { share: own }), ...(hasCredentials && { credentials: {} }) };
      const adjustment = { ...(wanted && { share: wanted }) };
      const defaults = usual && { share: usual };
      const adjusted = adjust(before, adjustment, { narrowing: true, defaults });
      const inEffect = (entry: Record<string, unknown>) =>
        (entry.share ?? usual ?? (hasCredentials ? 'agent' : 'shared')) as (typeof SHARES)[number];
      expect(isolation(inEffect(adjusted))).toBeGreaterThanOrEqual(isolation(inEffect(before)));
      if (wanted !== undefined && isolation(wanted) >= isolation(inEffect(before)))
        expect(inEffect(adjusted)).toBe(wanted);
    }),
  );
});
