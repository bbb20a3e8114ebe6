import { setTimeout as delay } from 'node:timers/promises';
import type { FixtureTool } from '../kernel/behaviour.js';
import { ANSWERED } from '../kernel/methods.js';
import { createTool, toText } from './tool.js';

/** `sleep` reports progress and can be cancelled; `cancelled` returns how often it was. */
export function createSleepTools(): FixtureTool[] {
  let cancellations = 0;
  const milliseconds = { type: 'integer', minimum: 0 };
  return [
    createTool(
      {
        name: 'sleep',
        description: 'Answers after ms, with progress every everyMs',
        input: { ms: milliseconds, everyMs: milliseconds },
        required: ['ms'],
        annotations: { readOnlyHint: true },
      },
      async ({ ms, everyMs = 20 }, call) => {
        const total = Number(ms);
        try {
          for (let slept = 0; slept < total; ) {
            const step = Math.min(Number(everyMs), total - slept);
            await delay(step, undefined, { signal: call.signal });
            slept += step;
            // Not at the very end unless `_meta` asks for it: clients may lose progress that arrives together with the response.
            if (slept < total || call.meta.toTheEnd === true) call.progress(slept, total);
          }
        } catch {
          cancellations += 1;
          return ANSWERED;
        }
        return toText(`slept ${total} ms`);
      },
    ),
    createTool({ name: 'cancelled', description: 'How many sleeps were cancelled' }, () =>
      toText(String(cancellations)),
    ),
  ];
}
