import { describe, expect, it, vi } from 'vitest';
import { IdentityEnd, onIdentityEnd } from '../../src/identity/identity-end.js';

const ADA = { caller: { id: 'ada', capabilities: [] }, access: new Set([]) };

describe('the end of an identity', () => {
  it('notifies every remaining listener once', () => {
    const end = new IdentityEnd();
    const received: string[] = [];
    const stop = onIdentityEnd({ ...ADA, ended: end }, () => received.push('gone'));
    onIdentityEnd({ ...ADA, ended: end }, () => received.push('here'));
    end.addEventListener('abort', { handleEvent: () => received.push('object') });
    stop();
    end.end();
    end.end();
    expect(received).toEqual(['here', 'object']);
    expect([end.aborted, (end.reason as Error).name]).toEqual([true, 'AbortError']);
    onIdentityEnd({ ...ADA, ended: end }, () => received.push('late'));
    expect(received).toEqual(['here', 'object', 'late']);
  });

  it('comes when the token expires, even beyond the longest timer', () => {
    vi.useFakeTimers();
    try {
      const start = Date.now();
      const year = 365 * 24 * 3_600_000;
      const received: number[] = [];
      for (const expiresAt of [start + 1_000, start + year, start - 1])
        onIdentityEnd({ ...ADA, expiresAt }, () => received.push(expiresAt - start));
      expect(received).toEqual([-1]);
      vi.advanceTimersByTime(1_000);
      expect(received).toEqual([-1, 1_000]);
      vi.advanceTimersByTime(year - 2_000);
      expect(received).toHaveLength(2);
      vi.advanceTimersByTime(2_000);
      expect(received).toEqual([-1, 1_000, year]);
    } finally {
      vi.useRealTimers();
    }
  });
});
