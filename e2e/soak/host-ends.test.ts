import { it } from 'vitest';
import { ENDINGS, runCycle } from '../../packages/core/test/processes/host-cycle.js';

const CYCLES = Number(process.env.SOAK_CYCLES ?? 200);
const AT_ONCE = 4;

it.skipIf(process.platform !== 'linux')(
  `${CYCLES} hosts end in every possible way, and no process that they started is left`,
  async () => {
    let next = 0;
    const work = async (): Promise<void> => {
      for (let cycle = next++; cycle < CYCLES; cycle = next++) {
        const ending = ENDINGS[cycle % ENDINGS.length] ?? 'close';
        try {
          await runCycle({ ending, runtimes: cycle % 5 === 0 ? 2 : 1 });
        } catch (cause) {
          throw new Error(`cycle ${cycle} (${ending})`, { cause });
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  },
);

it.skipIf(process.platform !== 'linux')(
  'processes of a killed host run until the restart, and are gone after it',
  async () => {
    // Alone, so that no other host cleans up: this shows that the cycles above can fail.
    for (let cycle = 0; cycle < 5; cycle += 1) await runCycle({ ending: 'SIGKILL', alone: true });
  },
);
