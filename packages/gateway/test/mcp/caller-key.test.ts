/** Lists and names are cached by caller: no id and no capability makes one caller look like another. */
import { fixture } from '@turnbuckle/testing';
import fc from 'fast-check';
import type { Caller } from 'turnbuckle';
import { callerKey } from 'turnbuckle/host';
import { expect, it, onTestFinished } from 'vitest';
import { modern } from './raw-client.js';
import { openStand } from './stand.js';

const text = fc.string({ unit: fc.constantFrom('a', '\n', '"', ',', '[', '\\', '\0'), maxLength: 4 });
const CALLER: fc.Arbitrary<Caller> = fc.record({
  id: text,
  capabilities: fc.array(text, { maxLength: 3 }),
  isHost: fc.constantFrom(true, undefined),
});

it('the key is the same only for the same caller', () => {
  fc.assert(
    fc.property(CALLER, CALLER, (one, other) => {
      const isSame = JSON.stringify(one) === JSON.stringify(other);
      expect(callerKey({ ...one }) === callerKey({ ...other })).toBe(isSame);
    }),
    { seed: 16, numRuns: 2_000 },
  );
});

it('keeps the lists of callers apart whose names hold what others may', async () => {
  const stand = await openStand({
    servers: { one: fixture('echo'), two: fixture('echo') },
    callers: {
      both: { id: 'jwt:alice', capabilities: ['mcp:one', 'mcp:two'] },
      sly: { id: 'jwt:alice\nmcp:one', capabilities: ['mcp:two'] },
    },
    views: { plain: { names: 'plain' } },
  });
  onTestFinished(() => stand.close());
  const namesOf = async (token: string, path: string) => {
    const { body } = await modern(stand, { method: 'tools/list' }, { token, path });
    const tools = body.result?.tools as Array<{ name: string }>;
    return tools.map(({ name }) => name);
  };
  for (const path of ['/mcp', '/mcp/plain']) {
    const both = await namesOf('both', path);
    const sly = await namesOf('sly', path);
    expect(both.length, path).toBe(2 * sly.length);
    expect(sly.filter((name) => name.startsWith('one_'))).toEqual([]);
  }
  const { body } = await modern(
    stand,
    { method: 'tools/call', params: { name: 'one_echo', arguments: { text: 'x' } } },
    { token: 'sly' },
  );
  expect(body.error).toMatchObject({ code: -32602 });
});
