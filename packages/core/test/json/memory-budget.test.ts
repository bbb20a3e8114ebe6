import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { claimRoom, inRoomOf, type Room, Rooms } from '../../src/json/rooms.js';
import { keepSpelling } from '../../src/json/spelling.js';
import { writeInSlices } from '../../src/json/write-large.js';

const LIMITS = { maxHeld: 100, maxWaiting: 60, waitMs: 60_000 };
const wish = (owner: string, bytes = 100) => ({ owner, bytes, length: 10 });

async function full(limits: object = {}): Promise<{ all: Rooms; first: Room }> {
  const all = new Rooms({ ...LIMITS, ...limits });
  const first = await all.enter(wish('first'));
  if (first === undefined) throw new Error('There is room');
  return { all, first };
}

describe('Rooms', () => {
  it('let in what fits, and one alone that never does', async () => {
    const all = new Rooms(LIMITS);
    const large = await all.enter(wish('a', 1_000));
    expect(all.held).toBe(1_000);
    large?.shrinkTo(40);
    await all.enter(wish('a', 60));
    expect(all.held).toBe(100);
    large?.release();
    large?.release();
    expect(all.held).toBe(60);
  });

  it('let those in by turns who wait', async () => {
    const { all, first } = await full();
    const order: string[] = [];
    const enter = async (owner: string): Promise<void> => {
      const room = await all.enter(wish(owner));
      order.push(owner);
      room?.release();
    };
    const waiting = ['many', 'many', 'many', 'few', 'one'].map(enter);
    first.release();
    await Promise.all(waiting);
    expect(order).toEqual(['many', 'few', 'one', 'many', 'many']);
    expect(all.held).toBe(0);
  });

  it('turn away who has too much waiting, and leave room for others', async () => {
    const { all, first } = await full();
    const came: Array<[string, boolean]> = [];
    const enter = async (owner: string): Promise<void> => {
      const room = await all.enter(wish(owner));
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

  it('do not let anybody wait for ever', async () => {
    const { all } = await full({ waitMs: 1 });
    const alive = setInterval(() => {}, 1_000);
    expect(await all.enter(wish('b'))).toBe(undefined);
    clearInterval(alive);
  });
});

describe('a Room', () => {
  it('is free at the end of a turn in which nobody claims it', async () => {
    const { all, first } = await full();
    first.handOnWith({});
    expect(all.held).toBe(100);
    await nextTurn();
    await nextTurn();
    expect(all.held).toBe(0);
  });

  it('is kept while its value is worked on, whatever comes of it', async () => {
    const { all, first } = await full();
    const [value, made] = [{}, {}];
    first.handOnWith(value);
    const work = async (): Promise<object> => {
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      expect(all.held).toBe(100);
      return made;
    };
    expect(await inRoomOf(value, work)).toBe(made);
    expect(claimRoom(made)).toBe(first);
    first.handOnWith(value);
    const failing = async (): Promise<object> => Promise.reject(new Error('no'));
    await expect(inRoomOf(value, failing)).rejects.toThrow('no');
    expect(all.held).toBe(0);
  });

  it('is free when its value, or what was made around it, is text', async () => {
    const result = { list: Array.from({ length: 100_000 }, () => [1]) };
    for (const around of [result, { result }, keepSpelling(result, { ...result, more: 1 })]) {
      const { all, first } = await full();
      first.handOnWith(result);
      keepSpelling(result, around);
      const writing = writeInSlices(around);
      expect(all.held).toBe(100);
      expect(JSON.parse(await writing)).toEqual(around);
      expect(all.held).toBe(0);
    }
  });
});
