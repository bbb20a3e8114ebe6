import { setImmediate as nextTurn } from 'node:timers/promises';
import { descendants, fixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { acquireSpawnSlot } from '../../src/connection/processes/spawn-slots.js';
import { openRuntime } from './open-runtime.js';
import { answerAsOlder, ownHttpServer } from './own-http-server.js';

describe('starting many processes', () => {
  it('lets other work run between any two', async () => {
    const log: string[] = [];
    const starting = Promise.all(
      Array.from({ length: 85 }, async () => {
        await acquireSpawnSlot();
        log.push('start');
      }),
    );
    while (log.filter((word) => word === 'start').length < 85) {
      log.push('turn');
      await nextTurn();
    }
    await starting;
    expect(log.join(' ')).not.toContain('start start start');
    // Without other starts, there is no wait.
    await waitUntil(() => acquireSpawnSlot() === undefined);
  });

  it('leaves no process of servers that had not started when the runtime closed', async () => {
    const before = descendants(process.pid).length;
    const servers = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`s${index}`, fixture('echo')]),
    );
    const runtime = await openRuntime({ servers });
    const connecting = runtime.connectAll();
    await nextTurn();
    await runtime.close();
    await connecting.catch(() => {});
    await waitUntil(() => descendants(process.pid).length <= before, 10_000);
  }, 60_000);

  it('connects all of them', async () => {
    const servers = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        `s${index}`,
        { ...fixture('echo'), connectTimeoutMs: 60_000 },
      ]),
    );
    const runtime = await openRuntime({ servers });
    await runtime.connectAll();
    expect(runtime.status().map(({ status }) => status)).toEqual(Array(12).fill('connected'));
  }, 90_000);
});

describe('the connect timeout over HTTP', () => {
  it('is fully available to the first request', async () => {
    const url = await ownHttpServer((asked, response) => {
      const lateMs = asked.method === 'server/discover' ? 4_000 : 0;
      setTimeout(() => answerAsOlder(asked, response), lateMs);
    });
    const runtime = await openRuntime({ servers: { late: { type: 'http', url, connectTimeoutMs: 6_000 } } });
    await runtime.connectAll();
    expect(runtime.serverStatus('late')).toMatchObject({ status: 'connected' });
  }, 30_000);

  it.each(['auto', 'modern', 'legacy'] as const)(
    'is what its error says (%s)',
    async (era) => {
      const url = await ownHttpServer(() => {});
      const runtime = await openRuntime({
        servers: { silent: { type: 'http', url, era, connectTimeoutMs: 1_500, start: 'lazy' } },
      });
      const startedAt = performance.now();
      await expect(runtime.connect('silent')).rejects.toMatchObject({
        code: 'CONNECT_TIMEOUT',
        message: expect.stringContaining('within 1500 ms'),
      });
      expect(performance.now() - startedAt).toBeGreaterThan(1_450);
    },
    30_000,
  );
});

describe('the connect timeout over stdio', () => {
  it.each(['auto', 'modern', 'legacy'] as const)(
    'is what its error says (%s)',
    async (era) => {
      const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
      const runtime = await openRuntime({
        servers: { silent: { ...silent, era, connectTimeoutMs: 1_500, start: 'lazy' } },
      });
      await expect(runtime.connect('silent')).rejects.toMatchObject({
        code: 'CONNECT_TIMEOUT',
        message: expect.stringContaining('within 1500 ms'),
      });
    },
    30_000,
  );
});
