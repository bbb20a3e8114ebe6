import { describe, expect, it, vi } from 'vitest';
import { onVisitorEnd, VisitorEnd } from '../../src/http/visitor-end.js';

const ADA = { caller: { id: 'ada', capabilities: [] }, access: new Set([]) };

describe('the end of a visitor', () => {
  it('is told once to everybody who still listens', () => {
    const end = new VisitorEnd();
    const told: string[] = [];
    const stop = onVisitorEnd({ ...ADA, ended: end }, () => told.push('gone'));
    onVisitorEnd({ ...ADA, ended: end }, () => told.push('here'));
    end.addEventListener('abort', { handleEvent: () => told.push('object') });
    stop();
    end.end();
    end.end();
    expect(told).toEqual(['here', 'object']);
    expect([end.aborted, (end.reason as Error).name]).toEqual([true, 'AbortError']);
    onVisitorEnd({ ...ADA, ended: end }, () => told.push('late'));
    expect(told).toEqual(['here', 'object', 'late']);
  });

  it('comes when the token expires, also in more milliseconds than a timer takes', () => {
    vi.useFakeTimers();
    try {
      const start = Date.now();
      const year = 365 * 24 * 3_600_000;
      const told: number[] = [];
      for (const expiresAt of [start + 1_000, start + year, start - 1])
        onVisitorEnd({ ...ADA, expiresAt }, () => told.push(expiresAt - start));
      expect(told).toEqual([-1]);
      vi.advanceTimersByTime(1_000);
      expect(told).toEqual([-1, 1_000]);
      vi.advanceTimersByTime(year - 2_000);
      expect(told).toHaveLength(2);
      vi.advanceTimersByTime(2_000);
      expect(told).toEqual([-1, 1_000, year]);
    } finally {
      vi.useRealTimers();
    }
  });
});
