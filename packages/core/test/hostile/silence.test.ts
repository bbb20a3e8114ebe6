import { fixture } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { say, withRuntime } from './with-runtime.js';

const QUICK = { connectTimeoutMs: 1_500, listTimeoutMs: 500, reconnect: { tries: 0, probeMs: 0 } };

describe.each([true, false])('servers that fall silent (express lane: %s)', (expressLane) => {
  it('fail with the name of the step they stopped at, and do not affect the others', async () => {
    const servers = {
      good: fixture('echo'),
      initialize: { ...fixture('slow', '--era', 'legacy', '--hang-at', 'initialize'), ...QUICK },
      discover: {
        ...fixture('slow', '--era', 'modern', '--hang-at', 'discover'),
        ...QUICK,
        era: 'modern' as const,
      },
      list: { ...fixture('slow', '--hang-at', 'list'), ...QUICK, connectTimeoutMs: 10_000 },
      call: { ...fixture('slow', '--hang-at', 'call'), callTimeoutMs: 300 },
    };
    await withRuntime({ servers, expressLane }, async (runtime) => {
      const failures = runtime.status().map(({ name, status, error }) => [name, status, error?.code]);
      expect(failures).toEqual([
        ['call', 'connected', undefined],
        ['discover', 'failed', 'CONNECT_TIMEOUT'],
        ['good', 'connected', undefined],
        ['initialize', 'failed', 'CONNECT_TIMEOUT'],
        ['list', 'failed', 'CONNECT_TIMEOUT'],
      ]);
      expect(runtime.serverStatus('initialize').error?.message).toContain('handshake');
      expect(runtime.serverStatus('list').error?.message).toContain('list');
      const silent = runtime.callTool('call', 'echo', { text: 'hello?' });
      expect(await say(runtime, 'good', 'meanwhile')).toBe('meanwhile');
      await expect(silent).rejects.toMatchObject({ code: 'CALL_TIMEOUT', server: 'call', tool: 'echo' });
    });
  });

  it('are used with the older revision if only the probe for the newer one gets no response', async () => {
    const quiet = { ...fixture('slow', '--era', 'both', '--hang-at', 'discover'), connectTimeoutMs: 2_500 };
    await withRuntime({ servers: { quiet }, expressLane }, async (runtime) => {
      expect(runtime.serverStatus('quiet')).toMatchObject({ status: 'connected', era: 'legacy' });
    });
  });

  it('cannot prolong a call forever by reporting progress', async () => {
    const busy = { ...fixture('echo'), callTimeoutMs: 5_000, maxCallMs: 500 };
    await withRuntime({ servers: { busy }, expressLane }, async (runtime) => {
      const started = performance.now();
      const call = runtime.callTool('busy', 'sleep', { ms: 60_000, everyMs: 20 }, { onProgress: () => {} });
      await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
      expect(performance.now() - started).toBeLessThan(5_000);
      expect(await say(runtime, 'busy', 'still here')).toBe('still here');
    });
  });
});
