import { fixture, startFixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { record } from '../lifecycle/open-runtime.js';
import { createOwnRuntime } from './own-runtime.js';
import { expectCalm, strainOf } from './strain.js';
import { say, withRuntime } from './with-runtime.js';

const MB = 1024 * 1024;

// requirement C10
describe('messages that are too large', () => {
  it.each(['id_first', 'id_last'])('fail their own call only, over stdio (%s)', async (tool) => {
    await withRuntime({ servers: { big: fixture('oversized') } }, async (runtime) => {
      const { pid } = runtime.serverStatus('big');
      const strain = await strainOf(async () => {
        const beside = say(runtime, 'big', 'beside');
        const large = runtime.callTool('big', tool, { size: 64 * MB });
        await expect(large).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE', server: 'big', tool });
        expect(await beside).toBe('beside');
      });
      expect(await say(runtime, 'big', 'after')).toBe('after');
      expect(runtime.serverStatus('big')).toMatchObject({ status: 'connected', pid });
      // Kept in full it would be in memory three times: as pieces, joined, and as text. The rest is garbage that is not collected yet.
      expect(strain.peakBytes).toBeLessThan(120 * MB);
      expectCalm(strain.stallMs);
    });
  });

  it.each(['http', 'sse', 'websocket'] as const)('fail with the same code over %s', async (transport) => {
    const running = await startFixture('oversized', { transport });
    const servers = { big: { type: transport, url: running.url, reconnect: { initialMs: 50 } } };
    const runtime = await createOwnRuntime({ servers });
    const reads = record(runtime, 'catalog.read');
    try {
      await runtime.connectAll();
      // Listed once more when it can report changes: nothing else waits for a response then.
      await waitUntil(() => reads.length === 2);
      const large = runtime.callTool('big', 'answer', { size: 20 * MB });
      await expect(large).rejects.toMatchObject({
        code: 'RESPONSE_TOO_LARGE',
        server: 'big',
        tool: 'answer',
      });
      expect(await say(runtime, 'big', 'after')).toBe('after');
    } finally {
      await runtime.close();
      await running.stop();
    }
  });

  it('do not affect other calls in the SDK lane either', async () => {
    await withRuntime({ servers: { big: fixture('oversized') }, expressLane: false }, async (runtime) => {
      await expect(runtime.callTool('big', 'answer', { size: 64 * MB })).rejects.toMatchObject({
        code: 'RESPONSE_TOO_LARGE',
      });
      expect(await say(runtime, 'big', 'after')).toBe('after');
    });
  });

  it('are accepted if the limit allows it: 20 MB', async () => {
    const limits = { maxMessageBytes: 32 * MB };
    await withRuntime({ servers: { big: fixture('oversized') }, limits }, async (runtime) => {
      const { content } = await runtime.callTool('big', 'answer', { size: 20 * MB });
      expect(content).toMatchObject([{ type: 'text' }]);
      expect(JSON.stringify(content).length).toBeGreaterThan(20 * MB);
    });
  });

  it.each(['stdio', 'http'])(
    'fail as nested too deeply, not with a stack overflow (%s)',
    async (transport) => {
      const running = transport === 'http' ? await startFixture('oversized', { transport }) : undefined;
      const big = running === undefined ? fixture('oversized') : { type: 'http', url: running.url };
      await withRuntime({ servers: { big } }, async (runtime) => {
        const { stallMs } = await strainOf(async () => {
          const deep = runtime.callTool('big', 'deep', { size: 200_000 });
          await expect(deep).rejects.toMatchObject({
            server: 'big',
            message: expect.stringContaining('nested too deeply'),
          });
        });
        expectCalm(stallMs);
        expect(await say(runtime, 'big', 'after')).toBe('after');
      }).finally(() => running?.stop());
    },
  );
});
