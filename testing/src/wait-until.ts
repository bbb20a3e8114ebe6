import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;

/** Resolves once the condition holds; rejects after `timeoutMs`, naming the condition. */
export async function waitUntil(condition: () => unknown, timeoutMs = 20_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`condition not met within ${timeoutMs} ms: ${condition}`);
    await delay(POLL_MS);
  }
}
