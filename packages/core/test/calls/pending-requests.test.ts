import { describe, expect, it } from 'vitest';
import { Cancellation, toAbortSignal } from '../../src/async/cancel-signal.js';
import { PendingRequests } from '../../src/connection/lanes/pending-requests.js';

describe('pending requests', () => {
  it('find a pending request by its id, and nothing by the id of a completed one', () => {
    const slots = new PendingRequests<string>(1_000_000_000, 2_000_000_000);
    const reserve = (): number => slots.reserve() ?? Number.NaN;
    const first = reserve();
    slots.put(first, 'first');
    const second = reserve();
    slots.put(second, 'second');
    expect([slots.get(first), slots.get(second), slots.size]).toEqual(['first', 'second', 2]);
    expect(slots.delete(first)).toBe(true);
    expect(slots.delete(first)).toBe(false);
    const third = reserve();
    slots.put(third, 'third');
    expect(third).not.toBe(first);
    expect([slots.get(first), slots.get(third), slots.values()]).toEqual([
      undefined,
      'third',
      ['third', 'second'],
    ]);
    for (const unknownId of [0, -1, 999_999_999, first + 65_536, 3_000_000_000, Number.NaN])
      expect(slots.get(unknownId)).toBeUndefined();
  });

  it('assign ids within their bounds that are not reused soon', () => {
    const slots = new PendingRequests<number>(1_000_000_000, 2_000_000_000);
    const seen = new Set<number>();
    for (let turn = 0; turn < 15_000; turn += 1) {
      const number = slots.reserve() ?? Number.NaN;
      slots.put(number, turn);
      expect(number).toBeGreaterThanOrEqual(1_000_000_000);
      expect(number).toBeLessThan(2_000_000_000);
      expect(seen.has(number)).toBe(false);
      seen.add(number);
      slots.delete(number);
    }
    expect(slots.size).toBe(0);
  });

  it('have no number for more requests than there are slots, and never two for one', () => {
    const slots = new PendingRequests<number>(1_000_000_000, 2_000_000_000);
    const numbers = Array.from({ length: 65_536 }, (_, index) => {
      const number = slots.reserve() ?? Number.NaN;
      slots.put(number, index);
      return number;
    });
    expect(slots.reserve()).toBeUndefined();
    expect(numbers.every((number, index) => slots.get(number) === index)).toBe(true);
    slots.delete(numbers[7] ?? 0);
    const again = slots.reserve();
    expect(again).toBeDefined();
    expect(slots.reserve()).toBeUndefined();
    slots.release(again ?? 0);
    expect(slots.reserve()).toBeDefined();
  });
});

describe('a cancellation', () => {
  it('calls each listener once, functions and objects, and no removed one', () => {
    const cancellation = new Cancellation();
    const told: string[] = [];
    const gone = (): void => void told.push('gone');
    cancellation.addEventListener('abort', () => told.push('function'));
    cancellation.addEventListener('abort', { handleEvent: () => told.push('object') });
    cancellation.addEventListener('abort', gone);
    cancellation.removeEventListener('abort', gone);
    cancellation.cancel('why');
    cancellation.cancel('again');
    expect({ told, aborted: cancellation.aborted, reason: cancellation.reason }).toEqual({
      told: ['function', 'object'],
      aborted: true,
      reason: 'why',
    });
  });

  it('becomes an AbortSignal where one is needed', () => {
    const cancellation = new Cancellation();
    const signal = toAbortSignal(cancellation);
    expect(signal.aborted).toBe(false);
    cancellation.cancel('why');
    expect([signal.aborted, signal.reason]).toEqual([true, 'why']);
    expect(toAbortSignal(cancellation).aborted).toBe(true);
    expect(toAbortSignal(signal)).toBe(signal);
  });
});
