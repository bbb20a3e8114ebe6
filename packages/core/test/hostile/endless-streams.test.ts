import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnServer } from './own-server.js';
import { expectCalm, strainOf } from './strain.js';
import { withRuntime } from './with-runtime.js';

const MB = 1024 * 1024;

describe.each([true, false])('streams without an end (express lane: %s)', (expressLane) => {
  let server: Awaited<ReturnType<typeof startOwnServer>> | undefined;
  beforeAll(async () => {
    server = await startOwnServer('endless-stream');
  });
  afterAll(() => server?.stop());

  it.each([
    // The limit is reached when so much has been read: on a busy machine, that takes its time.
    ['json', 'RESPONSE_TOO_LARGE', 45_000],
    ['event', 'RESPONSE_TOO_LARGE', 45_000],
    ['events', 'CALL_TIMEOUT', 1_500],
    ['comments', 'CALL_TIMEOUT', 1_500],
  ])('of the kind "%s" end with %s and bounded memory', async (kind, code, timeoutMs) => {
    const servers = { far: { type: 'http', url: server?.url ?? '', era: 'legacy' as const } };
    await withRuntime({ servers, expressLane }, async (runtime) => {
      const strain = await strainOf(async () => {
        const endless = runtime.callTool('far', 'endless', { kind }, { timeoutMs });
        await expect(endless).rejects.toMatchObject({ code, server: 'far', tool: 'endless' });
      });
      expect(strain.peakBytes).toBeLessThan(200 * MB);
      expectCalm(strain.stallMs);
      expect((await runtime.callTool('far', 'good')).content).toEqual([{ type: 'text', text: 'good' }]);
    });
  });
});
