import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Breaker } from '../../../src/resilience/breaker.js';

const OPTIONS = { failures: 3, openMs: 100, maxOpenMs: 250 };

/** A simple model of the breaker. */
interface Model {
  now: number;
  failures: number;
  /** How often it opened since it was last closed; 0 if it is closed. */
  opened: number;
  until: number;
  probing: boolean;
  /** A probe was admitted since it opened. */
  halfOpen: boolean;
}

type Command = fc.Command<Model, Breaker>;

const admit: Command = {
  check: () => true,
  run: (model, breaker) => {
    const wait = breaker.admit(model.now);
    if (model.opened === 0) expect(wait).toBe(0);
    else if (model.now < model.until) expect(wait).toBe(model.until - model.now);
    else if (model.probing) expect(wait).toBeGreaterThan(0);
    else {
      expect(wait).toBe(0);
      model.probing = true;
      model.halfOpen = true;
    }
  },
  toString: () => 'admit',
};

const succeed: Command = {
  check: () => true,
  run: (model, breaker) => {
    breaker.succeed();
    Object.assign(model, { failures: 0, opened: 0, probing: false, halfOpen: false });
    expect(breaker.state).toBe('closed');
  },
  toString: () => 'succeed',
};

const fail: Command = {
  check: () => true,
  run: (model, breaker) => {
    breaker.fail(model.now);
    // The failure of a call that was admitted before it opened.
    if (model.opened > 0 && !model.halfOpen) return;
    model.failures += 1;
    model.probing = false;
    if (!model.halfOpen && model.failures < OPTIONS.failures) return;
    model.failures = 0;
    model.opened += 1;
    model.halfOpen = false;
    model.until = model.now + Math.min(OPTIONS.openMs * model.opened, OPTIONS.maxOpenMs);
    expect(breaker.state).toBe('open');
  },
  toString: () => 'fail',
};

const abstain: Command = {
  check: () => true,
  run: (model, breaker) => {
    breaker.abstain();
    model.probing = false;
  },
  toString: () => 'abstain',
};

const pass = (ms: number): Command => ({
  check: () => true,
  run: (model) => {
    model.now += ms;
  },
  toString: () => `pass ${ms} ms`,
});

describe('Breaker', () => {
  it('behaves like its model, for any order of events', () => {
    const steps = [
      fc.constant(admit),
      fc.constant(succeed),
      fc.constant(fail),
      fc.constant(abstain),
      fc.nat(300).map(pass),
    ];
    fc.assert(
      fc.property(fc.commands(steps, { maxCommands: 25 }), (commands) => {
        const model: Model = { now: 0, failures: 0, opened: 0, until: 0, probing: false, halfOpen: false };
        fc.modelRun(() => ({ model, real: new Breaker(OPTIONS) }), commands);
      }),
      { numRuns: 10_000 },
    );
  });

  it('is never open longer than its maximum', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { maxLength: 40 }), (gaps) => {
        const breaker = new Breaker(OPTIONS);
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          expect(breaker.admit(now)).toBeLessThanOrEqual(OPTIONS.maxOpenMs);
          breaker.fail(now);
        }
        expect(breaker.admit(now + OPTIONS.maxOpenMs)).toBe(0);
      }),
      { numRuns: 10_000 },
    );
  });
});
