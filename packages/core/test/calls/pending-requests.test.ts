import { describe, expect, it } from 'vitest';
import { Cancellation, toAbortSignal } from '../../src/cancel-signal.js';
import { Slots } from '../../src/connection/slots.js';

describe('slots', () => {
  it('find what is there by its number, and nothing by the number of what was there before', () => {
    const slots = new Slots<string>(1_000_000_000, 2_000_000_000);
    const first = slots.reserve();
    slots.put(first, 'first');
    const second = slots.reserve();
    slots.put(second, 'second');
    expect([slots.get(first), slots.get(second), slots.size]).toEqual(['first', 'second', 2]);
    expect(slots.delete(first)).toBe(true);
    expect(slots.delete(first)).toBe(false);
    const third = slots.reserve();
    slots.put(third, 'third');
    expect(third).not.toBe(first);
    expect([slots.get(first), slots.get(third), slots.values()]).toEqual([
      undefined,
      'third',
      ['third', 'second'],
    ]);
    for (const stranger of [0, -1, 999_999_999, first + 65_536, 3_000_000_000, Number.NaN])
      expect(slots.get(stranger)).toBeUndefined();
  });

  it('give numbers within their bounds that do not come again soon', () => {
    const slots = new Slots<number>(1_000_000_000, 2_000_000_000);
    const seen = new Set<number>();
    for (let turn = 0; turn < 15_000; turn += 1) {
      const number = slots.reserve();
      slots.put(number, turn);
      expect(number).toBeGreaterThanOrEqual(1_000_000_000);
      expect(number).toBeLessThan(2_000_000_000);
      expect(seen.has(number)).toBe(false);
      seen.add(number);
      slots.delete(number);
    }
    expect(slots.size).toBe(0);
  });
});

describe('a cancellation', () => {
  it('tells each listener once, functions and objects, and nobody who has left', () => {
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

  it('becomes an AbortSignal for those who need one', () => {
    const cancellation = new Cancellation();
    const signal = toAbortSignal(cancellation);
    expect(signal.aborted).toBe(false);
    cancellation.cancel('why');
    expect([signal.aborted, signal.reason]).toEqual([true, 'why']);
    expect(toAbortSignal(cancellation).aborted).toBe(true);
    expect(toAbortSignal(signal)).toBe(signal);
  });
});
