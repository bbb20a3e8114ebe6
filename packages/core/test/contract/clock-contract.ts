import { waitUntil } from '@turnbuckle/testing';
import type { Runtime } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import type { Cell } from './call-contract.js';
import { textOf } from './text-of.js';

const cancellations = async (runtime: Runtime): Promise<number> =>
  Number(textOf(await runtime.callTool('main', 'cancelled')));

/** Progress, time limits, cancellation and broken connections. */
export function clockContract(cell: () => Cell): void {
  describe.concurrent('the clock', () => {
    it('reports progress', async ({ skip }) => {
      const { runtime, setting } = cell();
      if (!setting.carriesProgress) skip();
      const seen: unknown[] = [];
      // Long enough before the result if nothing else guarantees their order.
      const total = setting.progressApart ? 1_000 : 100;
      const [first, second] = [total * 0.4, total * 0.8];
      const result = await runtime.callTool(
        'main',
        'sleep',
        { ms: total, everyMs: first },
        { onProgress: (progress) => seen.push(progress) },
      );
      expect(textOf(result)).toBe(`slept ${total} ms`);
      expect(seen).toEqual([
        { progress: first, total, message: `${first} of ${total}` },
        { progress: second, total, message: `${second} of ${total}` },
      ]);
    });

    it('loses no progress that arrives together with the result', async ({ skip }) => {
      const { runtime, setting } = cell();
      if (!setting.carriesProgress || setting.progressApart) skip();
      const seen: unknown[] = [];
      const options = { onProgress: (progress: unknown) => seen.push(progress), meta: { toTheEnd: true } };
      await runtime.callTool('main', 'sleep', { ms: 1, everyMs: 1 }, options);
      expect(seen).toEqual([{ progress: 1, total: 1, message: '1 of 1' }]);
    });

    it('restarts the timeout at each progress notification', async ({ skip }) => {
      const { runtime, setting } = cell();
      if (!setting.carriesProgress) skip();
      const options = { timeoutMs: 700, onProgress: () => {} };
      const result = await runtime.callTool('main', 'sleep', { ms: 1_000, everyMs: 50 }, options);
      expect(textOf(result)).toBe('slept 1000 ms');
    });

    it('ends a silent call with an error code', async () => {
      const options = { timeoutMs: 150 };
      const call = cell().runtime.callTool('main', 'sleep', { ms: 20_000, everyMs: 20_000 }, options);
      await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT', server: 'main', tool: 'sleep' });
    });

    it('ends a call at its absolute maximum despite progress', async () => {
      const options = { timeoutMs: 10_000, maxTotalMs: 300, onProgress: () => {} };
      const started = performance.now();
      const call = cell().runtime.callTool('main', 'sleep', { ms: 20_000, everyMs: 30 }, options);
      await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
      expect(performance.now() - started).toBeLessThan(5_000);
    });
  });

  it('sends a cancellation to the server', async () => {
    const { runtime } = cell();
    // Calls that timed out above are cancelled at the server too: let those arrive first.
    let before = await cancellations(runtime);
    await waitUntil(async () => {
      const last = before;
      await new Promise((resolve) => setTimeout(resolve, 50));
      before = await cancellations(runtime);
      return before === last;
    });
    const abort = new AbortController();
    const call = runtime.callTool('main', 'sleep', { ms: 20_000 }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 100);
    await expect(call).rejects.toMatchObject({ code: 'CALL_CANCELLED', server: 'main', tool: 'sleep' });
    await waitUntil(async () => (await cancellations(runtime)) === before + 1);
  });

  it('resumes a broken stream, or reports that the outcome is unknown and reconnects', async () => {
    const { bare, setting } = cell();
    const call = bare.callTool('main', 'drop', {}, { timeoutMs: 6_000 });
    if (setting.outlivesDrop) expect(textOf(await call)).toBe('answered after the break');
    else
      await expect(call).rejects.toMatchObject({
        code: 'CALL_OUTCOME_UNKNOWN',
        server: 'main',
        tool: 'drop',
      });
    expect(textOf(await bare.callTool('main', 'echo', { text: 'healed' }))).toBe('healed');
  });
}
