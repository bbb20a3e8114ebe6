import { describe, expect, it } from 'vitest';
import { RateLimit } from '../../src/http/limits/rate-limit.js';
import { remoteNetwork } from '../../src/http/limits/remote-network.js';

describe('a rate limit', () => {
  it('lets a burst through, then as many as are refilled over time', () => {
    let now = 0;
    const limit = new RateLimit({ perSecond: 2, burst: 3 }, () => now);
    expect([1, 2, 3, 4].map(() => limit.take('a'))).toEqual([0, 0, 0, 500]);
    expect(limit.take('b')).toBe(0);
    now = 499;
    expect(limit.take('a')).toBeCloseTo(1);
    now = 500;
    expect([limit.take('a'), limit.take('a')]).toEqual([0, 500]);
    limit.refund('a');
    expect(limit.take('a')).toBe(0);
    now = 1_000_000;
    expect([1, 2, 3, 4].map(() => limit.take('a'))).toEqual([0, 0, 0, 500]);
  });

  it('forgets old ids', () => {
    const limit = new RateLimit({ perSecond: 1, burst: 1 }, () => 0);
    for (let number = 0; number < 50_000; number += 1) limit.take(`id-${number}`);
    expect(limit.size).toBeLessThanOrEqual(10_000);
    expect(limit.take('id-49999')).toBeGreaterThan(0);
  });
});

describe('a remote address', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::1', '0:0:0:0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::7', '2001:db8:1:2'],
    ['2001:db8::7', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    [undefined, 'unknown'],
  ])('%s counts as %s', (address, network) => {
    expect(remoteNetwork(address)).toBe(network);
  });
});
