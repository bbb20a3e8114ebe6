import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Budget, EnergyBudgets } from '../../src/energy/budgets.js';
import { costOfCall, DEFAULT_CALL_COSTS } from '../../src/energy/call-cost.js';
import { Energy } from '../../src/energy/energy.js';
import { EnergyEstimates, type EstimatedItem } from '../../src/energy/estimates.js';
import { EnergyRegulator, rangeOf } from '../../src/energy/regulator.js';

const TOOL: EstimatedItem = { server: 'files', tool: 'read', kind: 'tool' };
const SPENDER = { caller: 'cursor', run: 'session-1', server: 'files' };

function movableNow(): { now: () => number; advance: (ms: number) => void } {
  let time = 1_000_000;
  return {
    now: () => time,
    advance: (ms) => {
      time += ms;
    },
  };
}

// requirement E5
describe('the cost of a call', () => {
  it('is a base and two units for each second', () => {
    expect(costOfCall(0, DEFAULT_CALL_COSTS)).toBe(0.1);
    expect(costOfCall(1_500, DEFAULT_CALL_COSTS)).toBe(3.1);
    expect(costOfCall(-5, DEFAULT_CALL_COSTS)).toBe(0.1);
    expect(costOfCall(0.4, DEFAULT_CALL_COSTS)).toBe(0.101);
  });
});

describe('the estimate for a tool', () => {
  it('is a guess from annotations and schema before the first call', () => {
    const estimates = new EnergyEstimates();
    const estimate = (item: Partial<EstimatedItem>): number =>
      estimates.estimate({ ...TOOL, ...item }, DEFAULT_CALL_COSTS);
    const plain = estimate({});
    expect(estimate({ annotations: { readOnlyHint: true } })).toBeLessThan(plain);
    expect(estimate({ annotations: { openWorldHint: true } })).toBeGreaterThan(plain);
    expect(estimate({ inputSchema: { properties: { a: {}, b: {} } } })).toBeGreaterThan(plain);
    expect(estimate({ inputSchema: { properties: 'none' } })).toBe(plain);
  });

  it('is learned from few calls, for each tool on its own', () => {
    const estimates = new EnergyEstimates();
    for (const cost of [5, 5.2, 5.1]) estimates.record(TOOL, cost);
    expect(estimates.estimate(TOOL, DEFAULT_CALL_COSTS)).toBe(5.1);
    expect(estimates.sampleCount(TOOL)).toBe(3);
    expect(estimates.sampleCount({ ...TOOL, tool: 'write' })).toBe(0);
  });

  it('shares one estimate between all resources of a server', () => {
    const estimates = new EnergyEstimates();
    for (let count = 0; count < 5; count += 1)
      estimates.record({ server: 'files', tool: `file:///${count}`, kind: 'resource' }, 2);
    expect(
      estimates.estimate({ server: 'files', tool: 'file:///new', kind: 'resource' }, DEFAULT_CALL_COSTS),
    ).toBe(2);
  });

  it('stays between the usual costs, whatever a few outliers cost', () => {
    const usual = fc.double({ min: 1, max: 2, noNaN: true });
    const outlier = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(usual, { minLength: 7, maxLength: 7 }),
        fc.array(outlier, { minLength: 3, maxLength: 3 }),
        (good, bad) => {
          const estimates = new EnergyEstimates();
          for (const cost of [...bad, ...good]) estimates.record(TOOL, cost);
          const estimate = estimates.estimate(TOOL, DEFAULT_CALL_COSTS);
          return estimate >= 0.999 && estimate <= 2.001;
        },
      ),
    );
  });

  it('follows a tool that became slower, and forgets tools nobody calls', () => {
    const estimates = new EnergyEstimates();
    for (let count = 0; count < 100; count += 1) estimates.record(TOOL, 1);
    for (let count = 0; count < 16; count += 1) estimates.record(TOOL, 9);
    expect(estimates.estimate(TOOL, DEFAULT_CALL_COSTS)).toBe(9);
    for (let count = 0; count < 5_000; count += 1) estimates.record({ ...TOOL, tool: `tool-${count}` }, 1);
    expect(estimates.sampleCount(TOOL)).toBe(0);
  });
});

describe('the energy of an agent', () => {
  it('has four ranges', () => {
    expect([100, 50.001].map((level) => rangeOf(level))).toEqual(['high', 'high']);
    expect([50, 20.001].map((level) => rangeOf(level))).toEqual(['medium', 'medium']);
    expect([20, 0.001].map((level) => rangeOf(level))).toEqual(['low', 'low']);
    expect([0, -50].map((level) => rangeOf(level))).toEqual(['urgent', 'urgent']);
  });

  it('is used up by work and replenished by time, up to full', () => {
    const { now, advance } = movableNow();
    const regulator = new EnergyRegulator(now);
    expect(regulator.level).toBe(100);
    regulator.consume(80);
    expect(regulator.range).toBe('low');
    advance(1_500);
    expect(regulator.level).toBe(21.5);
    expect(regulator.msUntil(50)).toBe(28_500);
    expect(regulator.msUntil(101)).toBe(Number.POSITIVE_INFINITY);
    advance(3_600_000);
    expect(regulator.level).toBe(100);
  });

  it('never falls below its floor, and still counts what was deducted', () => {
    const { now, advance } = movableNow();
    const regulator = new EnergyRegulator(now);
    regulator.consume(1_000);
    expect(regulator.level).toBe(-50);
    expect(regulator.deducted).toBe(1_000);
    advance(50_001);
    expect(regulator.level).toBeGreaterThan(0);
  });

  it('goes on from a stored state', () => {
    const { now, advance } = movableNow();
    const before = new EnergyRegulator(now);
    before.consume(30);
    const { state } = before;
    advance(10_000);
    const after = new EnergyRegulator(now, {}, state);
    expect(after.level).toBe(80);
    expect(after.deducted).toBe(30);
  });

  it('counts exactly, in whatever order energy is used and time passes', () => {
    const step = fc.oneof(
      fc.record({ use: fc.integer({ min: 0, max: 50_000 }) }),
      fc.record({ wait: fc.integer({ min: 0, max: 5_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { now, advance } = movableNow();
        const regulator = new EnergyRegulator(now);
        let used = 0;
        for (const one of steps) {
          if ('use' in one) {
            used += one.use;
            regulator.consume(one.use / 1_000);
          } else advance(one.wait);
          const { level } = regulator;
          if (level < -50 || level > 100) return false;
        }
        return regulator.deducted === used / 1_000;
      }),
    );
  });

  it('is not changed by a clock that was set back', () => {
    const { now, advance } = movableNow();
    const regulator = new EnergyRegulator(now);
    regulator.consume(60);
    advance(-100_000);
    expect(regulator.level).toBe(40);
    advance(1_000);
    expect(regulator.level).toBe(41);
  });
});

describe('budgets', () => {
  const create = (...budgets: Budget[]) => {
    const clock = movableNow();
    const all = new EnergyBudgets(clock.now);
    all.set(budgets);
    return { ...clock, all };
  };

  it('refuse when too little is left, for that caller only', () => {
    const { all } = create({ for: 'caller', limit: 10 });
    const spent = all.reserve(SPENDER, 4);
    if (spent !== undefined) all.settle(spent, 9.5);
    expect(all.faultOf(SPENDER, 0.4)).toBeUndefined();
    expect(all.faultOf(SPENDER, 1)).toMatchObject({ name: 'cursor', left: 0.5, needed: 1 });
    expect(all.faultOf({ ...SPENDER, caller: 'other' }, 1)).toBeUndefined();
  });

  it('charge a budget that is there twice only once, also after it is set again', () => {
    const clock = movableNow();
    const all = new EnergyBudgets(clock.now);
    const twice: Budget[] = [
      { for: 'caller', limit: 10 },
      { for: 'caller', limit: 10 },
    ];
    for (const budgets of [twice, twice, [...twice, ...twice]]) {
      all.set(budgets);
      const call = all.reserve(SPENDER, 1);
      if (call !== undefined) all.settle(call, 1);
    }
    expect(all.status()).toMatchObject([{ left: 7 }]);
  });

  it('count what running calls reserve', () => {
    const { all } = create({ for: 'server', limit: 10 });
    const first = all.reserve(SPENDER, 6);
    expect(all.faultOf({ ...SPENDER, caller: 'other' }, 6)).toMatchObject({ name: 'files', left: 4 });
    if (first !== undefined) all.settle(first, 0);
    expect(all.faultOf(SPENDER, 6)).toBeUndefined();
  });

  it('let a call that costs more than the whole budget use a full one', () => {
    const { all } = create({ for: 'run', limit: 1 });
    expect(all.faultOf(SPENDER, 5)).toBeUndefined();
    const call = all.reserve(SPENDER, 5);
    expect(all.faultOf(SPENDER, 5)).toBeDefined();
    if (call !== undefined) all.settle(call, 5);
    expect(all.faultOf(SPENDER, 5)).toMatchObject({ retryAfterMs: undefined });
  });

  it('with a limit of 0 refuse the first call', () => {
    const { all } = create({ for: 'caller', limit: 0 });
    expect(all.faultOf(SPENDER, 1)).toMatchObject({ left: 0 });
  });

  it('refill within their period, and say when enough is left', () => {
    const { all, advance } = create({ for: 'caller', limit: 60, perSeconds: 60 });
    const call = all.reserve(SPENDER, 60);
    if (call !== undefined) all.settle(call, 60);
    const fault = all.faultOf(SPENDER, 10);
    expect(fault?.retryAfterMs).toBe(10_000);
    advance(9_999);
    expect(all.faultOf(SPENDER, 10)).toBeDefined();
    advance(1);
    expect(all.faultOf(SPENDER, 10)).toBeUndefined();
  });

  it('apply to the callers and servers that they name', () => {
    const { all } = create({ for: 'caller', caller: 'cur*', server: 'web', limit: 1 });
    const call = all.reserve({ ...SPENDER, server: 'web' }, 1);
    if (call !== undefined) all.settle(call, 1);
    expect(all.faultOf({ ...SPENDER, server: 'web' }, 1)).toBeDefined();
    expect(all.faultOf(SPENDER, 1)).toBeUndefined();
    expect(all.faultOf({ ...SPENDER, server: 'web', caller: 'zed' }, 1)).toBeUndefined();
  });

  it('stay used up while they are used, however many other runs begin', () => {
    const { all } = create({ for: 'run', limit: 5 });
    const use = (run: string): void => {
      const call = all.reserve({ ...SPENDER, run }, 5);
      if (call !== undefined) all.settle(call, 5);
    };
    use('long');
    for (let count = 0; count < 25_000; count += 1) {
      use(`other ${count}`);
      if (count % 5_000 === 0) expect(all.faultOf({ ...SPENDER, run: 'long' }, 1)).toBeDefined();
    }
    expect(all.faultOf({ ...SPENDER, run: 'long' }, 1)).toBeDefined();
    expect(all.status()).toHaveLength(10_000);
  });

  it('keep what was spent when they are set again', () => {
    const budget: Budget = { for: 'caller', limit: 5 };
    const { all } = create(budget);
    const call = all.reserve(SPENDER, 5);
    if (call !== undefined) all.settle(call, 5);
    all.set([{ ...budget }, { for: 'server', limit: 1_000 }]);
    expect(all.faultOf(SPENDER, 1)).toBeDefined();
    all.set([{ for: 'caller', limit: 6 }]);
    expect(all.faultOf(SPENDER, 1)).toBeUndefined();
  });

  it('never allow more than the limit and its refill, whatever runs at the same time', () => {
    const step = fc.oneof(
      fc.record({ start: fc.integer({ min: 1, max: 4_000 }) }),
      fc.record({ end: fc.nat({ max: 20 }) }),
      fc.record({ wait: fc.nat({ max: 1_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const { all, now, advance } = create({ for: 'caller', limit: 10, perSeconds: 100 });
        const from = now();
        const running: { reserved: NonNullable<ReturnType<typeof all.reserve>>; cost: number }[] = [];
        let spent = 0;
        for (const one of steps) {
          if ('wait' in one) advance(one.wait);
          else if ('start' in one) {
            if (all.faultOf(SPENDER, one.start / 1_000) !== undefined) continue;
            const reserved = all.reserve(SPENDER, one.start / 1_000);
            if (reserved !== undefined) running.push({ reserved, cost: one.start });
          } else {
            const [ended] = running.splice(one.end % Math.max(running.length, 1), 1);
            if (ended === undefined) continue;
            all.settle(ended.reserved, ended.cost / 1_000);
            spent += ended.cost;
          }
          if (spent > 10_000 + (now() - from) * 0.1 + 1) return false;
        }
        return true;
      }),
    );
  });
});

describe('energy across restarts', () => {
  it('knows past calls: estimates, and what is left of budgets', () => {
    const { now } = movableNow();
    const energy = new Energy(now, { budgets: [{ for: 'caller', limit: 100, perSeconds: 100 }] });
    energy.learn([10, 10, 10].map((cost) => ({ ...TOOL, energy: cost })));
    expect(energy.estimate(TOOL)).toBe(10);
    const spend = (amounts: readonly [number, number][]) =>
      amounts.map(([amount, seconds]) => ({ ...SPENDER, energy: amount, agoMs: seconds * 1_000 }));
    energy.restoreBudgets(
      spend([
        [30, 60],
        [20, 20],
      ]),
    );
    // 30 used 60 s ago were refilled 30 s later; 20 of 20 s ago were, too.
    expect(energy.budgets()).toMatchObject([{ name: 'cursor', left: 100 }]);
    expect(energy.longestPeriodMs).toBe(100_000);
    const later = new Energy(now, {
      budgets: [
        { for: 'caller', limit: 100, perSeconds: 100 },
        { for: 'server', limit: 10 },
      ],
    });
    later.restoreBudgets(
      spend([
        [50, 60],
        [50, 60],
        [50, 10],
      ]),
    );
    // Of 100 used 60 s ago, 50 were refilled 10 s ago; then 50 more were used, and 10 refilled.
    expect(later.budgets()).toMatchObject([{ left: 10 }]);
  });

  it('uses the functions of a host, and ignores what is no cost', () => {
    const { now } = movableNow();
    const energy = new Energy(now, {
      estimate: ({ tool }) => (tool === 'read' ? 7 : Number.NaN),
      meter: ({ outcome }) => (outcome === 'ok' ? 3 : -1),
    });
    expect(energy.estimate(TOOL)).toBe(7);
    expect(energy.estimate({ ...TOOL, tool: 'write' })).toBeGreaterThan(0);
    const use = energy.begin(TOOL, undefined);
    expect(energy.end(use, { durationMs: 1_000, outcome: 'ok' })).toBe(3);
    expect(energy.end(use, { durationMs: 1_000, outcome: 'failed' })).toBe(2.1);
  });
});
