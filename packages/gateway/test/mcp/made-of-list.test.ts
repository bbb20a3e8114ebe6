/** A value derived from a list is computed once, limited in size, and released with the list. */
import { collectGarbage, waitUntil } from '@turnbuckle/testing';
import type { Steps } from 'turnbuckle/host';
import { expect, it } from 'vitest';
import { DerivedCache } from '../../src/mcp/derived-cache.js';

const open = (maxLists = 3, maxWeight = 100) =>
  new DerivedCache<object[], string>({ maxLists, maxWeight, weigh: (text) => text.length });

function* made(text: string, seen: string[] = []): Steps<string> {
  seen.push(text);
  yield;
  return text;
}

it('is computed once for concurrent and later requests', async () => {
  const kept = open();
  const seen: string[] = [];
  const list: object[] = [];
  const ask = (): Promise<string> => kept.get(list, () => made('one', seen));
  expect(await Promise.all([ask(), ask()])).toEqual(['one', 'one']);
  expect(await ask()).toBe('one');
  expect(seen).toEqual(['one']);
  expect(kept.has(list)).toBe(true);
  expect(kept.has([])).toBe(false);
});

it('is computed again after a failure, and after the cache was cleared meanwhile', async () => {
  const kept = open();
  const list: object[] = [];
  const fails = (): Steps<string> => {
    throw new Error('no');
  };
  await expect(kept.get(list, fails)).rejects.toThrow('no');
  const first = kept.get(list, () => made('one'));
  kept.clear();
  expect(await first).toBe('one');
  expect(kept.has(list)).toBe(false);
  expect(await kept.get(list, () => made('two'))).toBe('two');
});

it('keeps a limited number of lists, and a limited total size', async () => {
  const kept = open();
  const lists = Array.from({ length: 5 }, (): object[] => []);
  for (const list of lists) await kept.get(list, () => made('x'));
  expect(lists.filter((list) => kept.has(list)).length).toBeLessThanOrEqual(3);
  const heavy: object[] = [];
  await kept.get(heavy, () => made('x'.repeat(99)));
  expect(lists.filter((list) => kept.has(list))).toEqual([]);
  expect(kept.has(heavy)).toBe(true);
});

it('does not keep a list alive that is no longer used', async () => {
  const kept = open(1_000, 1_000);
  const make = async (): Promise<WeakRef<object>> => {
    const list = [{ large: true }];
    await kept.get(list, () => made('x'));
    return new WeakRef(list[0] ?? {});
  };
  const ref = await make();
  await waitUntil(() => {
    collectGarbage();
    return ref.deref() === undefined;
  });
  expect(kept).toBeDefined();
});
