import fc from 'fast-check';
import type { RuntimeEvents } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { CallMetrics } from '../../src/metrics/call-metrics.js';
import { renderFamilies } from '../../src/metrics/exposition.js';
import { parseExposition } from './parse-exposition.js';

const settled = (toolName: string, durationMs = 1): RuntimeEvents['call.settled'] => ({
  requestId: '1',
  server: 's',
  tool: toolName,
  toolName,
  callerId: undefined,
  run: undefined,
  era: undefined,
  kind: 'tool',
  startedAt: 0,
  durationMs,
  waitedMs: 0,
  outcome: 'ok',
  error: undefined,
  attempts: 1,
  arguments: {},
  result: {},
  decision: 'allow',
  reason: undefined,
  remembered: false,
});

function read(names: readonly string[], most = 2_000): Map<string, number> {
  const calls = new CallMetrics(most);
  for (const name of names) calls.record(settled(name));
  return parseExposition(renderFamilies(calls.families()));
}

const total = (numbers: Map<string, number>): number =>
  [...numbers].reduce((sum, [name, value]) => sum + (name.startsWith('mcp_calls_total') ? value : 0), 0);

describe('labels', () => {
  it.each([
    ['quotes', 'a"b'],
    ['a backslash', 'a\\'],
    ['a new line and another sample', 'a"} 1\nmcp_calls_total{tool_name="b'],
    ['a carriage return', 'a\r# TYPE x counter'],
    ['an empty name', ''],
    ['hidden characters', 'a\u200b\u202eb\u0000'],
    ['a lone surrogate', 'a\ud800'],
    ['a great length', 'x'.repeat(100_000)],
  ])('stay one line with %s', (_, name) => {
    const numbers = read([name]);
    expect(total(numbers)).toBe(1);
    for (const key of numbers.keys()) expect(key.length).toBeLessThan(500);
  });

  it('are unique, whatever the names are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 30 }), (names) => {
        if (names.length > 0) expect(total(read(names))).toBe(names.length);
      }),
    );
    const alike = ['a\u200bx', 'a\u200cx', `${'y'.repeat(300)}1`, `${'y'.repeat(300)}2`];
    expect(total(read(alike))).toBe(4);
  });

  it('are limited in number, and no call is lost beyond the limit', () => {
    const names = Array.from({ length: 5_000 }, (_, number) => `tool_${number}`);
    const numbers = read([...names, ...names]);
    expect(total(numbers)).toBe(10_000);
    expect([...numbers.keys()].filter((name) => name.startsWith('mcp_calls_total'))).toHaveLength(2_001);
  });
});

describe('buckets', () => {
  it.each([
    [0.5, '0.001'],
    [1, '0.001'],
    [1.01, '0.0025'],
    [100, '0.1'],
    [29_999, '30'],
    [30_001, '+Inf'],
  ])('%d ms is within %s s', (durationMs, bound) => {
    const calls = new CallMetrics(10);
    calls.record(settled('a', durationMs));
    const numbers = parseExposition(renderFamilies(calls.families()));
    const first = [...numbers].find(([name, count]) => name.includes('_bucket') && count === 1);
    expect(first?.[0]).toBe(`mcp_call_duration_seconds_bucket{tool_name="a",le="${bound}"}`);
  });
});
