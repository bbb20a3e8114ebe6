import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_TIMER_MS, timerDelay } from '../../src/async/timer-delay.js';
import { ReconnectDelay } from '../../src/connection/transports/http/reconnect-delay.js';
import { openRuntime, textOf } from './open-runtime.js';
import { type Answer, answerAsOlder, ownHttpServer } from './own-http-server.js';

const older: Answer = (asked, response) => answerAsOlder(asked, response, []);
const WATCH_MS = 3_500;
const UNLISTENED = fileURLToPath(new URL('unlistened-server.mjs', import.meta.url));

/** Runs all cases concurrently: each of them only waits. */
async function countAll<Case extends string>(
  count: (which: Case) => Promise<number>,
  cases: ReadonlyArray<readonly [which: Case, least: number, most: number]>,
): Promise<void> {
  const counts = await Promise.all(cases.map(([which]) => count(which)));
  cases.forEach(([which, least, most], index) => {
    expect(counts[index], which).toBeGreaterThanOrEqual(least);
    expect(counts[index], which).toBeLessThanOrEqual(most);
  });
}

describe('a stream that the server ends immediately', () => {
  it('is reopened after at least a second, at growing intervals, whatever delay it requests', async () => {
    const count = async (retry: string): Promise<number> => {
      let gets = 0;
      const url = await ownHttpServer(older, (response) => {
        gets += 1;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`retry: ${retry}\nid: ${gets}\ndata:\n\n`);
      });
      const runtime = await openRuntime({
        servers: { far: { type: 'http', url, era: 'legacy', pingMs: 0 } },
        random: () => 0.5,
      });
      await runtime.connectAll();
      expect(runtime.serverStatus('far').status).toBe('connected');
      await delay(WATCH_MS);
      return gets;
    };
    await countAll(count, [
      ['0', 1, 3],
      ['1', 1, 3],
      ['3000000000', 1, 1],
      ['99999999999999999999999999', 1, 1],
      ['100', 1, 3],
    ]);
  });

  it('is reopened every second if it delivered something', async () => {
    let gets = 0;
    const notice = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } };
    const url = await ownHttpServer(older, (response) => {
      gets += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`retry: 10\nid: ${gets}\ndata: ${JSON.stringify(notice)}\n\n`);
    });
    const runtime = await openRuntime({
      servers: { far: { type: 'http', url, era: 'legacy', pingMs: 0 } },
      random: () => 0.5,
    });
    await runtime.connectAll();
    await expect.poll(() => gets, { timeout: 20_000 }).toBeGreaterThanOrEqual(4);
  }, 30_000);
});

describe('a server that does not report changes', () => {
  it('gets one subscription request, or fewer and fewer (stdio)', async () => {
    const count = async (code: string): Promise<number> => {
      const server = {
        command: process.execPath,
        args: [UNLISTENED, code],
        era: 'modern' as const,
        pingMs: 0,
      };
      const runtime = await openRuntime({ servers: { near: server }, random: () => 0.5 });
      await runtime.connectAll();
      await delay(WATCH_MS);
      return Number(textOf(await runtime.callTool('near', 'listens')));
    };
    await countAll(count, [
      ['-32601', 1, 1],
      ['-32603', 2, 3],
    ]);
  });

  it('gets one subscription request, or fewer and fewer (http)', async () => {
    const OUTCOMES = {
      'as JSON-RPC': { outcome: { error: { code: -32601, message: 'no' } }, status: 200 },
      'as HTTP 404': { outcome: undefined, status: 404 },
      'as another error': { outcome: { error: { code: -32603, message: 'no' } }, status: 200 },
    } as const;
    const count = async (how: keyof typeof OUTCOMES): Promise<number> => {
      const { outcome, status } = OUTCOMES[how];
      let listens = 0;
      const url = await ownHttpServer(
        ({ id, method }, response) => {
          if (id === undefined) return void response.writeHead(202).end();
          const send = (body: object, code = 200): void =>
            void response
              .writeHead(code, { 'content-type': 'application/json' })
              .end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
          if (method === 'server/discover')
            return send({
              result: {
                resultType: 'complete',
                supportedVersions: ['2026-07-28'],
                capabilities: { tools: { listChanged: true } },
              },
            });
          if (method !== 'subscriptions/listen')
            return send({ result: { resultType: 'complete', tools: [] } });
          listens += 1;
          if (outcome === undefined) return void response.writeHead(status).end();
          return send(outcome, status);
        },
        (response) => void response.writeHead(405).end(),
      );
      const runtime = await openRuntime({
        servers: { far: { type: 'http', url, era: 'modern', pingMs: 0 } },
        random: () => 0.5,
      });
      await runtime.connectAll();
      expect(runtime.serverStatus('far').status).toBe('connected');
      await delay(WATCH_MS);
      return listens;
    };
    await countAll(count, [
      ['as JSON-RPC', 1, 1],
      ['as HTTP 404', 1, 1],
      ['as another error', 1, 3],
    ]);
  });
});

describe('an untrusted delay', () => {
  it('fits into a timer, whatever its value', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.integer(), fc.constant(3e9)), (ms) => {
        const fitted = timerDelay(ms);
        expect(fitted >= 0 && fitted <= MAX_TIMER_MS).toBe(true);
        if (ms >= 0 && ms <= MAX_TIMER_MS) expect(fitted === ms).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('stays between a second and five minutes, and grows while nothing arrives', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0 })),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (asked, random) => {
          const pace = new ReconnectDelay(() => random);
          for (const ms of asked) {
            const next = pace.next(ms);
            expect(next >= 1_000 && next <= 300_000).toBe(true);
          }
          const first = pace.next();
          pace.reset();
          expect(pace.next()).toBeLessThanOrEqual(Math.max(first, 1_200));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('does not end a call without a time limit', async () => {
    const runtime = await openRuntime({
      servers: { near: { command: process.execPath, args: [UNLISTENED], era: 'modern' as const } },
    });
    const { content } = await runtime.callTool('near', 'listens', {}, { timeoutMs: 3e9, maxTotalMs: 3e9 });
    expect(content).toHaveLength(1);
  });
});
