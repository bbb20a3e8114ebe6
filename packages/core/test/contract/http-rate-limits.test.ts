import { startFixture, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { Forwarder, type Refused } from './forwarder.js';
import { textOf } from './text-of.js';

/** An HTTP server whose first `times` tool calls are refused; everything else is forwarded. */
async function withRefusals(
  { refused, times, expressLane }: { refused: Refused; times: number; expressLane: boolean },
  check: (runtime: Runtime, refusals: () => number) => Promise<void>,
): Promise<void> {
  const home = await temporaryDirectory();
  const web = await startFixture('echo', { transport: 'http' });
  let refusals = 0;
  const proxy = await Forwarder.start(web.url, ({ body }) => {
    if (!body.includes('tools/call') || refusals >= times) return undefined;
    refusals += 1;
    return refused;
  });
  const servers = { web: { type: 'http', url: `${proxy.origin}/mcp` } };
  const runtime = await createRuntime({ servers, expressLane, stateDir: home.path });
  try {
    await runtime.connectAll();
    await check(runtime, () => refusals);
  } finally {
    await runtime.close();
    proxy.close();
    await web.stop();
    await home.remove();
  }
}

describe.each([true, false])('rate-limited calls (express lane: %s)', (expressLane) => {
  it.each([
    [429, '1', 900],
    [503, '1', 900],
    [429, 'soon, maybe', 0],
  ])(
    'waits as long as HTTP %s with Retry-After "%s" asks, then succeeds',
    async (status, retryAfter, leastMs) => {
      const refused = { status, headers: { 'retry-after': retryAfter } };
      await withRefusals({ refused, times: 1, expressLane }, async (runtime, refusals) => {
        const started = performance.now();
        expect(textOf(await runtime.callTool('web', 'echo', { text: 'patient' }))).toBe('patient');
        expect(performance.now() - started).toBeGreaterThanOrEqual(leastMs);
        expect(refusals()).toBe(1);
      });
    },
  );

  it('fails immediately if the wait would be too long', async () => {
    const refused = { status: 429, headers: { 'retry-after': '3600' } };
    await withRefusals({ refused, times: 99, expressLane }, async (runtime, refusals) => {
      await expect(runtime.callTool('web', 'echo', { text: 'x' })).rejects.toMatchObject({
        code: 'RATE_LIMITED',
        data: { status: 429, retryAfterMs: 3_600_000 },
      });
      expect(refusals()).toBe(1);
      expect(runtime.serverStatus('web').status).toBe('connected');
    });
  });

  it('needs a sign-in when a call is refused with 401, and drops the link', async () => {
    await withRefusals({ refused: { status: 401 }, times: 99, expressLane }, async (runtime, refusals) => {
      await expect(runtime.callTool('web', 'echo', { text: 'x' })).rejects.toMatchObject({
        code: 'AUTH_REQUIRED',
      });
      expect(runtime.serverStatus('web').status).toBe('needs-auth');
      await expect(runtime.callTool('web', 'echo', { text: 'x' })).rejects.toMatchObject({
        code: 'AUTH_REQUIRED',
      });
      expect(refusals()).toBe(1);
    });
  });
});
