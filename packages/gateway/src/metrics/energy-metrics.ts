/** What calls cost, what was expected, and what budgets refused. */
import type { Runtime } from 'turnbuckle';
import { Counter } from './counter.js';
import type { Family } from './exposition.js';

export class EnergyMetrics {
  readonly #spent = new Counter('turnbuckle_energy_spent_total', 'Energy used by calls, by server.');
  readonly #estimated = new Counter(
    'turnbuckle_energy_estimated_total',
    'Energy that the same calls were expected to use, by server.',
  );
  readonly #refused = new Counter(
    'turnbuckle_energy_refusals_total',
    'Calls refused because a budget had too little energy left, by kind of budget.',
  );
  readonly #low = new Counter(
    'turnbuckle_energy_low_total',
    'Number of times a budget had less than a fifth left, by kind of budget.',
  );

  /** Counts calls of this runtime, as those of one server if it is named. */
  listen(runtime: Pick<Runtime, 'on'>, named?: string): (() => void)[] {
    return [
      runtime.on('call.settled', ({ server: own, energy, estimatedEnergy }) => {
        if (energy === undefined) return;
        const server = named ?? own;
        this.#spent.add({ server }, energy);
        this.#estimated.add({ server }, estimatedEnergy ?? energy);
      }),
      runtime.on('energy.refused', ({ for: kind }) => this.#refused.add({ for: kind })),
      runtime.on('energy.low', ({ for: kind }) => this.#low.add({ for: kind })),
    ];
  }

  families(): Family[] {
    return [this.#spent, this.#estimated, this.#refused, this.#low];
  }
}
