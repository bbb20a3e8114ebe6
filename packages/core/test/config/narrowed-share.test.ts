/** A project may separate callers at a server of the user, never join them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { narrow } from '../../src/config/layers/adjust.js';
import { parseServer } from '../../src/config/layers/parse.js';
import { withDefaults } from '../../src/config/layers/server-defaults.js';

const SHARES = ['shared', 'agent', 'session'] as const;
const share = fc.option(fc.constantFrom(...SHARES), { nil: undefined });
const isolation = (name: (typeof SHARES)[number]): number => SHARES.indexOf(name);

it('callers are at least as separate as the user wants, whatever a project says', () => {
  fc.assert(
    fc.property(share, share, share, fc.boolean(), (own, usual, wanted, hasCredentials) => {
      fc.pre(!(hasCredentials && own === 'shared'));
      const credentials = { ada: { env: { KEY: 'x' } } };
      const before = { command: 'x', ...(own && { share: own }), ...(hasCredentials && { credentials }) };
      const adjustment = { ...(wanted && { share: wanted }) };
      const defaults = usual && { share: usual };
      const inEffect = (entry: Record<string, unknown>) =>
        parseServer('x', withDefaults(entry, defaults)).share;
      const adjusted = narrow(before, adjustment, parseServer('x', withDefaults(before, defaults)));
      expect(isolation(inEffect(adjusted))).toBeGreaterThanOrEqual(isolation(inEffect(before)));
      if (wanted !== undefined && isolation(wanted) >= isolation(inEffect(before)))
        expect(inEffect(adjusted)).toBe(wanted);
    }),
  );
});
