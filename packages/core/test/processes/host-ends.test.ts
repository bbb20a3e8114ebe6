import { describe, it } from 'vitest';
import { type Ending, runCycle } from './host-cycle.js';

const CYCLES: readonly Ending[] = [
  'close',
  'SIGTERM',
  'SIGINT',
  'throw',
  'exit',
  'SIGKILL',
  'SIGTERM',
  'SIGKILL',
];

// requirement C9
describe.skipIf(process.platform !== 'linux')(
  'however the host ends, nothing that it started is left',
  () => {
    it.concurrent.each(CYCLES.map((ending, index) => ({ ending, index })))(
      'cycle $index: $ending',
      async ({ ending }) => runCycle({ ending }),
      60_000,
    );

    it.concurrent.each(['close', 'SIGTERM'] as const)(
      'two runtimes in one host: %s',
      async (ending) => runCycle({ ending, runtimes: 2 }),
      60_000,
    );
  },
);
