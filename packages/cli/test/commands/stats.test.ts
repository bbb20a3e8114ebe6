import { describe, expect, it } from 'vitest';
import { bar, sparkline, toBuckets } from '../../src/terminal/plot.js';
import { formatDuration, formatPeriod, formatTimestamp, parseSince } from '../../src/terminal/time-format.js';
import { call, createLoggedHome } from './logged-home.js';
import { createHome, json, turnbuckle } from './turnbuckle.js';

const server = (name: string, toolTokens: number) => ({
  name,
  config: '{}',
  enabled: true,
  at: Date.now() - 1e9,
  removed: false,
  tools: 3,
  toolTokens,
});

const home = await createLoggedHome(
  [
    ...Array.from({ length: 20 }, (_, number) => call(`quick-${number}`, { durationMs: number + 1 })),
    ...Array.from({ length: 5 }, (_, number) =>
      call(`slow-${number}`, {
        server: 'web',
        tool: 'fetch',
        durationMs: 2_000,
        outcome: number === 0 ? 'failed' : 'ok',
      }),
    ),
    call('old', { server: 'web', tool: 'old', startedAt: Date.now() - 20 * 86_400_000 }),
  ],
  { servers: [server('demo', 900), server('web', 120), server('idle', 22_000)] },
);

// requirement D5
describe('stats', () => {
  it('shows usage and latency of tools and servers, and unused servers', async () => {
    const { stdout, stderr, code } = await turnbuckle(['stats'], { home });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^25 calls in 7 days, 4 % failed$/m);
    expect(stdout).toMatch(/^demo echo +20 +█+ +10 ms +19 ms$/m);
    expect(stdout).toMatch(/^web fetch +5 +█+[▏▎▍▌▋▊▉]? +20 % +2 s +2 s$/m);
    expect(stdout).toMatch(/^idle +0 +3 +22000 +never$/m);
    expect(stderr).toContain('Servers not called in 7 days: idle');
    expect(stdout).not.toContain('\u001b');
  });

  it('prints JSON, also for one server and in another order', async () => {
    expect(await json(['stats', '--slow'], { home })).toMatchObject({
      calls: 25,
      failures: 1,
      tools: [
        { server: 'web', tool: 'fetch', calls: 5, failureRate: 0.2, p50Ms: 2_000 },
        { server: 'demo', tool: 'echo', calls: 20, p50Ms: 10, p95Ms: 19, maxMs: 20 },
      ],
      unused: ['idle'],
    });
    expect(await json(['stats', 'web', '--since', '30d'], { home })).toMatchObject({
      calls: 6,
      tools: [{ tool: 'fetch' }, { tool: 'old' }],
      servers: [{ name: 'web', toolTokens: 120, totalCalls: 6 }],
      unused: [],
    });
    expect(await json(['stats'], { home: await createHome() })).toBeNull();
  });

  it('refuses an unknown server, conflicting options and a time in the future', async () => {
    expect((await turnbuckle(['stats', 'nobody'], { home })).stderr).toContain('No calls to server "nobody"');
    expect((await turnbuckle(['stats', 'nobody', '--json'], { home })).code).toBe(11);
    expect((await turnbuckle(['stats', '--slow', '--failing'], { home })).code).toBe(13);
    const ahead = await turnbuckle(['stats', '--since', '2999-01-01'], { home });
    expect(ahead.stderr).toContain('is in the future');
    expect({ code: ahead.code, stdout: ahead.stdout }).toEqual({ code: 13, stdout: '' });
  });
});

describe('plots', () => {
  it.each([
    [[], ''],
    [[0, 0], '  '],
    [[1, 4, 8], '▁▄█'],
    [[0.001, 1_000], '▁█'],
  ])('sparkline of %j', (values, expected) => {
    expect(sparkline(values)).toBe(expected);
  });

  it.each([
    [0, 10, 10, ''],
    [10, 10, 4, '████'],
    [5, 10, 4, '██'],
    [1, 1_000, 4, '▏'],
    [20, 10, 4, '████'],
    [1, 0, 4, ''],
    [1, 1, 0, ''],
  ])('bar of %d of %d in %d columns', (value, most, width, expected) => {
    expect(bar(value, most, width)).toBe(expected);
  });

  it('puts every point into a bucket, and loses none', () => {
    const points = [5, 10, 19, 20, 99, 1].map((at) => ({ at, value: 1 }));
    expect(toBuckets(points, { from: 10, spanMs: 10, count: 3 })).toEqual([4, 1, 1]);
  });
});

describe('times', () => {
  it.each([
    ['90s', 10_000],
    ['1m', 40_000],
    ['1970-01-01T00:00:05Z', 5_000],
    ['1970-01-01 00:00:05+00:00', 5_000],
  ])('%s', (text, expected) => {
    expect(parseSince(text, 100_000)).toBe(expected);
  });

  it('without a time zone are local', () => {
    const now = Date.now();
    expect(parseSince('2001-02-03', now)).toBe(new Date(2001, 1, 3).getTime());
    expect(parseSince('2001-02-03 04:05', now)).toBe(new Date(2001, 1, 3, 4, 5).getTime());
    expect(parseSince(formatTimestamp(Date.UTC(2001, 1, 3, 4, 5, 6)), now)).toBe(
      Date.UTC(2001, 1, 3, 4, 5, 6),
    );
  });

  it.each(['5', '30', 'May', '2001', '2001-02-30', '2001-02-03T99:00', ''])('%j is not a time', (text) => {
    expect(() => parseSince(text, Date.now())).toThrow('is not a time');
  });

  it('are printed in a short form', () => {
    expect([0.42, 9.99, 12.4, 950, 1_500, 60_000, 600_000].map(formatDuration)).toEqual([
      '0.4 ms',
      '10 ms',
      '12 ms',
      '950 ms',
      '1.5 s',
      '60 s',
      '10 min',
    ]);
    expect([10, 30_000, 180_000, 3_600_000, 7_200_000, 604_800_000].map(formatPeriod)).toEqual([
      '1 second',
      '30 seconds',
      '3 minutes',
      '60 minutes',
      '2 hours',
      '7 days',
    ]);
  });
});
