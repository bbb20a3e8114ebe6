import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createSerialQueue } from '../../src/async/serial-queue.js';

it('runs work one after the other, in order, with its result', async () => {
  const enqueue = createSerialQueue();
  const order: string[] = [];
  const first = enqueue(async () => {
    await sleep(20);
    order.push('first');
    return 1;
  });
  const second = enqueue(() => order.push('second'));
  expect(await Promise.all([first, second])).toEqual([1, 2]);
  expect(order).toEqual(['first', 'second']);
});

it('runs the next work after one that failed, and rejects only for the caller of that one', async () => {
  const enqueue = createSerialQueue();
  const failed = enqueue(() => Promise.reject(new Error('mine')));
  const thrown = enqueue(() => {
    throw new Error('also mine');
  });
  const next = enqueue(() => 'done');
  await expect(failed).rejects.toThrow('mine');
  await expect(thrown).rejects.toThrow('also mine');
  expect(await next).toBe('done');
});
