import { openWorkDatabase } from '@turnbuckle/store';
import { temporaryDirectory } from '@turnbuckle/testing';
import { DEFAULT_REGULATOR, fromThousandths } from 'turnbuckle/light';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENERGY_STEPS } from '../../src/energy/energy-steps.js';
import { EnergyLedger } from '../../src/energy/ledger.js';

const START = Date.parse('2026-01-01T00:00:00Z');
const SECOND = 1_000;
const HOUR = 3_600_000;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => directory.remove());

/** A ledger that has used everything up, with a clock that can be set, and one that cannot. */
async function openLedger() {
  const database = await openWorkDatabase({
    file: directory.file('work.db'),
    part: 'agent',
    steps: ENERGY_STEPS,
  });
  let [wall, elapsed, count] = [START, 0, 0];
  let ledger = new EnergyLedger(database, () => elapsed);
  const level = (): number => fromThousandths(ledger.deduct(wall, DEFAULT_REGULATOR).level);
  return {
    level,
    close: () => database.close(),
    use: (units: number): number => {
      count += 1;
      ledger.record({ ref: `model:${count}`, source: 'model', thousandths: units * 1_000, at: wall });
      return level();
    },
    pass: (ms: number): void => {
      wall += ms;
      elapsed += ms;
    },
    set: (ms: number): void => {
      wall += ms;
    },
    reopen: (): void => {
      elapsed = 0;
      ledger = new EnergyLedger(database, () => elapsed);
    },
  };
}

// requirement E7
describe('energy while the clock of the machine is set', () => {
  it('is not replenished by setting it back and forth', async () => {
    const { level, use, set, pass, close } = await openLedger();
    expect(use(200)).toBe(-50);
    for (let round = 0; round < 20; round += 1) {
      set(-HOUR);
      level();
      set(HOUR);
      level();
    }
    expect(level()).toBe(-50);
    pass(10 * SECOND);
    expect(level()).toBe(-40);
    close();
  });

  it('goes on while the clock is behind, at the same rate, also after a restart', async () => {
    const { level, use, set, pass, reopen, close } = await openLedger();
    use(200);
    set(-24 * HOUR);
    expect(level()).toBe(-50);
    for (let step = 0; step < 5; step += 1) {
      pass(2 * SECOND);
      level();
    }
    expect(level()).toBe(-40);
    reopen();
    expect(level()).toBe(-40);
    pass(10 * SECOND);
    expect(level()).toBe(-30);
    set(24 * HOUR);
    expect(level()).toBe(-30);
    close();
  });

  it('is replenished for the time that the agent did not run', async () => {
    const { level, use, set, reopen, close } = await openLedger();
    use(200);
    reopen();
    set(30 * SECOND);
    expect(level()).toBe(-20);
    close();
  });
});
