/**
 * The energy of an agent: work uses it up, time replenishes it, and its range says how much effort the next step may
 * take. Pure: the clock is passed in, and the state is plain data that can be stored.
 */
import { fromThousandths, toThousandths } from './call-cost.js';

export interface RegulatorSettings {
  /** The most it can have (100). */
  readonly full: number;
  /** The least it can have (-50): work that costs more is counted, but does not lower it further. */
  readonly floor: number;
  readonly replenishPerSecond: number;
}

export const DEFAULT_REGULATOR: RegulatorSettings = { full: 100, floor: -50, replenishPerSecond: 1 };

export type EnergyRange = 'high' | 'medium' | 'low' | 'urgent';

/** Everything about the energy that is stored. In thousandths, except the time. */
export interface EnergyState {
  readonly level: number;
  /** When the level was last computed, in milliseconds of the clock. */
  readonly at: number;
  /** All energy that was ever deducted, also below the floor. */
  readonly deducted: number;
}

/** The share of `full` above which a range begins. */
const HIGH_SHARE = 0.5;
const MEDIUM_SHARE = 0.2;

export class EnergyRegulator {
  readonly #settings: RegulatorSettings;
  readonly #now: () => number;
  #state: EnergyState;

  /** `now`: a clock that never goes back; each time that it catches up would replenish energy again. */
  constructor(now: () => number, settings: Partial<RegulatorSettings> = {}, state?: EnergyState) {
    this.#now = now;
    this.#settings = { ...DEFAULT_REGULATOR, ...settings };
    this.#state = state ?? { level: toThousandths(this.#settings.full), at: now(), deducted: 0 };
  }

  get state(): EnergyState {
    return this.#replenished();
  }

  get level(): number {
    return fromThousandths(this.#replenished().level);
  }

  /** The sum of all deductions, exact to a thousandth. */
  get deducted(): number {
    return fromThousandths(this.#state.deducted);
  }

  get range(): EnergyRange {
    return rangeOf(this.level, this.#settings);
  }

  /** Deducts energy; the level does not fall below the floor. */
  consume(units: number): void {
    const amount = Math.max(toThousandths(units), 0);
    const { level, at, deducted } = this.#replenished();
    const floor = toThousandths(this.#settings.floor);
    this.#state = { level: Math.max(level - amount, floor), at, deducted: deducted + amount };
  }

  /** How long it takes until the level is at least this; infinite if it never is. */
  msUntil(level: number): number {
    const { full, replenishPerSecond } = this.#settings;
    const missing = level - this.level;
    if (missing <= 0) return 0;
    if (level > full || replenishPerSecond <= 0) return Number.POSITIVE_INFINITY;
    return Math.ceil((missing / replenishPerSecond) * 1_000);
  }

  /** A clock that was set back replenishes nothing, and takes nothing away. */
  #replenished(): EnergyState {
    const { full, replenishPerSecond } = this.#settings;
    const now = this.#now();
    const { level, at, deducted } = this.#state;
    const gained = Math.floor(Math.max(now - at, 0) * replenishPerSecond);
    // The rest of a thousandth is not lost: its time stays uncounted.
    const counted = replenishPerSecond > 0 && now >= at ? at + gained / replenishPerSecond : now;
    const replenished = Math.min(level + gained, Math.max(toThousandths(full), level));
    this.#state = { level: replenished, at: counted, deducted };
    return this.#state;
  }
}

/** With the defaults: high above 50, medium above 20, low above 0, urgent at 0 and below. */
export function rangeOf(
  level: number,
  { full }: Pick<RegulatorSettings, 'full'> = DEFAULT_REGULATOR,
): EnergyRange {
  if (level > full * HIGH_SHARE) return 'high';
  if (level > full * MEDIUM_SHARE) return 'medium';
  return level > 0 ? 'low' : 'urgent';
}
