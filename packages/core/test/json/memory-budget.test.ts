import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { copyRawNumbers } from '../../src/json/lossless-json.js';
import {
  claimReservation,
  MemoryBudget,
  type MemoryReservation,
  withReservationOf,
} from '../../src/json/memory-budget.js';
import { writeInSlices } from '../../src/json/write-large.js';

const LIMITS = { maxHeldBytes: 100, maxWaitingCharacters: 60, waitMs: 60_000 };
const wish = (owner: string, bytes = 100) => ({ owner, bytes, length: 10 });

async function full(limits: object = {}): Promise<{ all: MemoryBudget; first: MemoryReservation }> {
  const all = new MemoryBudget({ ...LIMITS, ...limits });
  const first = await all.reserve(wish('first'));
  if (first === undefined) throw new Error('There is room');
  return { all, first };
}

describe('MemoryBudget', () => {
  it('admits values that fit, and a single value that is too large', async () => {
    const all = new MemoryBudget(LIMITS);
    const large = await all.reserve(wish('a', 1_000));
    expect(all.heldBytes).toBe(1_000);
    large?.shrinkTo(40);
    await all.reserve(wish('a', 60));
    expect(all.heldBytes).toBe(100);
    large?.release();
    large?.release();
    expect(all.heldBytes).toBe(60);
  });

  it('admits waiting owners in rotation', async () => {
    const { all, first } = await full();
    const order: string[] = [];
    const enter = async (owner: string): Promise<void> => {
      const room = await all.reserve(wish(owner));
      order.push(owner);
      room?.release();
    };
    const waiting = ['many', 'many', 'many', 'few', 'one'].map(enter);
    first.release();
    await Promise.all(waiting);
    expect(order).toEqual(['many', 'few', 'one', 'many', 'many']);
    expect(all.heldBytes).toBe(0);
  });

  it('rejects an owner with too many waiting values, and leaves room for others', async () => {
    const { all, first } = await full();
    const came: Array<[string, boolean]> = [];
    const enter = async (owner: string): Promise<void> => {
      const room = await all.reserve(wish(owner));
      came.push([owner, room !== undefined]);
      room?.release();
    };
    const waiting = ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b'].map(enter);
    await nextTurn();
    expect(came.filter(([, isIn]) => !isIn).map(([owner]) => owner)).toEqual(['a', 'a', 'b']);
    first.release();
    await Promise.all(waiting);
    expect(came.filter(([, isIn]) => isIn)).toHaveLength(5);
  });

  it('lets no one wait forever', async () => {
    const { all } = await full({ waitMs: 1 });
    const alive = setInterval(() => {}, 1_000);
    expect(await all.reserve(wish('b'))).toBe(undefined);
    clearInterval(alive);
  });
});

describe('a reservation', () => {
  it('is released at the end of a turn in which it is not claimed', async () => {
    const { all, first } = await full();
    first.attachTo({});
    expect(all.heldBytes).toBe(100);
    await nextTurn();
    await nextTurn();
    expect(all.heldBytes).toBe(0);
  });

  it('is kept while its value is processed, whether that succeeds or fails', async () => {
    const { all, first } = await full();
    const [value, made] = [{}, {}];
    first.attachTo(value);
    const work = async (): Promise<object> => {
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      expect(all.heldBytes).toBe(100);
      return made;
    };
    expect(await withReservationOf(value, work)).toBe(made);
    expect(claimReservation(made)).toBe(first);
    first.attachTo(value);
    const failing = async (): Promise<object> => Promise.reject(new Error('no'));
    await expect(withReservationOf(value, failing)).rejects.toThrow('no');
    expect(all.heldBytes).toBe(0);
  });

  it('is released when its value, or a value around it, has been written', async () => {
    const result = { list: Array.from({ length: 100_000 }, () => [1]) };
    for (const around of [result, { result }, copyRawNumbers(result, { ...result, more: 1 })]) {
      const { all, first } = await full();
      first.attachTo(result);
      copyRawNumbers(result, around);
      const writing = writeInSlices(around);
      expect(all.heldBytes).toBe(100);
      expect(JSON.parse(await writing)).toEqual(around);
      expect(all.heldBytes).toBe(0);
    }
  });
});
