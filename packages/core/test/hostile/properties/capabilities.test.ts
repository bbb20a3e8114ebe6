import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findGrant, type KnownServers, possibleMeanings } from '../../../src/policy/capabilities.js';

const RUNS = { numRuns: 10_000 };
const word = fc.string({ unit: fc.constantFrom('a', 'b', '_'), minLength: 1, maxLength: 4 });
const world = fc.uniqueArray(fc.record({ server: word, tool: word }), {
  selector: ({ server, tool }) => `${server}/${tool}`,
  minLength: 1,
  maxLength: 12,
});

function knownTools(pairs: ReadonlyArray<{ server: string; tool: string }>): KnownServers {
  return {
    hasServer: (server) => pairs.some((pair) => pair.server === server),
  };
}

/** All meanings of a capability, by trying every server. */
function everyMeaning(
  capability: string,
  pairs: ReadonlyArray<{ server: string; tool: string }>,
): Set<string> {
  return new Set(
    pairs.flatMap(({ server }) => [
      ...(capability === `mcp_${server}` ? [`mcp:${server}`] : []),
      // Any tool name: the tools of a server are unknown before it is connected.
      ...(capability.startsWith(`mcp_${server}_`) && capability !== `mcp_${server}_`
        ? [`mcp:${server}/${capability.slice(server.length + 5)}`]
        : []),
    ]),
  );
}

// requirement P1
describe('capabilities', () => {
  it('grant nothing if they are ambiguous, and exactly their one meaning otherwise', () => {
    fc.assert(
      fc.property(world, fc.nat(), (pairs, pick) => {
        const one = pairs[pick % pairs.length];
        if (one === undefined) return;
        const known = knownTools(pairs);
        for (const capability of [`mcp_${one.server}`, `mcp_${one.server}_${one.tool}`]) {
          const meanings = everyMeaning(capability, pairs);
          expect(new Set(possibleMeanings(capability, known))).toEqual(meanings);
          for (const pair of pairs) {
            const grant = findGrant({ capabilities: [capability] }, pair, known);
            const [only] = meanings;
            const meant = only === `mcp:${pair.server}` || only === `mcp:${pair.server}/${pair.tool}`;
            expect(grant.granted).toBe(meanings.size === 1 && meant);
          }
        }
      }),
      RUNS,
    );
  });

  it('always work in the exact form, and for nothing else', () => {
    fc.assert(
      fc.property(world, fc.nat(), (pairs, pick) => {
        const one = pairs[pick % pairs.length];
        if (one === undefined) return;
        const known = knownTools(pairs);
        const granted = (capability: string) =>
          pairs.filter((pair) => findGrant({ capabilities: [capability] }, pair, known).granted);
        expect(granted(`mcp:${one.server}/${one.tool}`)).toEqual([one]);
        expect(granted(`mcp:${one.server}`)).toEqual(pairs.filter(({ server }) => server === one.server));
        expect(granted('mcp_integration')).toEqual(pairs);
        expect(granted('mcp')).toEqual([]);
      }),
      RUNS,
    );
  });

  it('never grant more because of a capability that grants nothing', () => {
    fc.assert(
      fc.property(
        world,
        fc.array(
          fc.oneof(
            word,
            word.map((text) => `mcp_${text}`),
          ),
        ),
        (pairs, capabilities) => {
          const known = knownTools(pairs);
          for (const pair of pairs) {
            const grant = findGrant({ capabilities }, pair, known);
            if (grant.granted) expect(capabilities).toContain(grant.by);
            expect(findGrant({ capabilities: [] }, pair, known).granted).toBe(false);
          }
        },
      ),
      RUNS,
    );
  });
});
