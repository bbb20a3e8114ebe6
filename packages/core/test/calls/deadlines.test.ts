import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Deadlines, type PendingDeadline } from '../../src/async/deadlines.js';

function deadline(afterMs: number, onDue: (self: PendingDeadline) => void): PendingDeadline {
  const self: PendingDeadline = { dueAt: performance.now() + afterMs, place: 0, onDue: () => onDue(self) };
  return self;
}

describe('deadlines that share a timer', () => {
  it('each is due once, not before its time, in any order, whatever else is deleted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 30 }), isDeleted: fc.boolean() }), {
          minLength: 1,
          maxLength: 30,
        }),
        async (wanted) => {
          const deadlines = new Deadlines();
          const due = new Map<PendingDeadline, number>();
          const all = wanted.map(({ afterMs, isDeleted }) => ({
            isDeleted,
            deadline: deadline(afterMs, (self) => {
              expect(due.has(self)).toBe(false);
              due.set(self, performance.now());
            }),
          }));
          for (const one of all) deadlines.add(one.deadline);
          for (const one of all) if (one.isDeleted) deadlines.delete(one.deadline);
          while (due.size < all.filter(({ isDeleted }) => !isDeleted).length) await delay(5);
          for (const one of all) {
            const at = due.get(one.deadline);
            expect(at === undefined).toBe(one.isDeleted);
            if (at !== undefined) expect(at).toBeGreaterThanOrEqual(one.deadline.dueAt);
          }
        },
      ),
      { numRuns: 20 },
    );
  });

  it('one that is added again while it is handled is due again', async () => {
    const deadlines = new Deadlines();
    let times = 0;
    await new Promise<void>((resolve) => {
      deadlines.add(
        deadline(1, (self) => {
          times += 1;
          if (times === 3) return resolve();
          self.dueAt = performance.now() + 1;
          deadlines.add(self);
        }),
      );
    });
    expect(times).toBe(3);
  });

  it('one that is due can delete another', async () => {
    const deadlines = new Deadlines();
    const order: string[] = [];
    const second = deadline(0, () => order.push('second'));
    const first = deadline(0, () => {
      order.push('first');
      deadlines.delete(second);
    });
    deadlines.add(first);
    deadlines.add(second);
    await delay(30);
    expect(order).toEqual(['first']);
  });

  it('one that throws does not stop the others', async () => {
    const deadlines = new Deadlines();
    const uncaught: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process
      .removeAllListeners('uncaughtException')
      .once('uncaughtException', (error) => uncaught.push(error));
    try {
      deadlines.add(
        deadline(1, () => {
          throw new Error('a bug');
        }),
      );
      await new Promise<void>((resolve) => deadlines.add(deadline(20, () => resolve())));
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of listeners) process.on('uncaughtException', listener);
    }
    expect(uncaught).toEqual([new Error('a bug')]);
  });

  it('a short one is due in time next to a long one', async () => {
    const deadlines = new Deadlines();
    const long = deadline(60_000, () => {});
    deadlines.add(long);
    const from = performance.now();
    await new Promise<void>((resolve) => deadlines.add(deadline(5, () => resolve())));
    expect(performance.now() - from).toBeLessThan(30_000);
    // Nothing keeps the process alive afterwards.
    deadlines.delete(long);
  });
});
