import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideSteward, type StewardFacts } from '../../src/loop/steward-rule.js';

const facts = (more: Partial<StewardFacts>): StewardFacts => ({
  level: 50,
  floor: -50,
  hasWork: true,
  isPaused: false,
  way: 'pause',
  ...more,
});

// requirement E7
describe('the work of the steward below energy 10', () => {
  it('continues with "finish", and is paused in the lower half below 0', () => {
    expect(decideSteward(facts({ way: 'finish', level: 9.999 }))).toBe('continue');
    expect(decideSteward(facts({ way: 'finish', level: -24.999 }))).toBe('continue');
    expect(decideSteward(facts({ way: 'finish', level: -25 }))).toBe('pause');
  });

  it('is paused with "pause", and cancelled in the lower half below 0', () => {
    expect(decideSteward(facts({ way: 'pause', level: 9.999 }))).toBe('pause');
    expect(decideSteward(facts({ way: 'pause', level: 9.999, isPaused: true }))).toBe('continue');
    expect(decideSteward(facts({ way: 'pause', level: -25, isPaused: true }))).toBe('cancel');
  });

  it('is cancelled with "cancel"', () => {
    expect(decideSteward(facts({ way: 'cancel', level: 9.999 }))).toBe('cancel');
  });

  it('continues from 10 on, and is resumed from 20 on', () => {
    expect(decideSteward(facts({ level: 10 }))).toBe('continue');
    expect(decideSteward(facts({ level: 19.999, isPaused: true }))).toBe('continue');
    expect(decideSteward(facts({ level: 20, isPaused: true, hasWork: false }))).toBe('resume');
  });

  it('is never touched without need', () => {
    const level = fc.double({ min: -50, max: 100, noNaN: true });
    const way = fc.constantFrom('finish' as const, 'pause' as const, 'cancel' as const);
    fc.assert(
      fc.property(level, way, fc.boolean(), fc.boolean(), (at, how, hasWork, isPaused) => {
        const action = decideSteward(facts({ level: at, way: how, hasWork, isPaused }));
        if (action === 'pause' || action === 'cancel') expect(hasWork && at < 10).toBe(true);
        if (action === 'resume') expect(isPaused && at >= 20).toBe(true);
        if (action === 'pause') expect(isPaused).toBe(false);
      }),
    );
  });
});
