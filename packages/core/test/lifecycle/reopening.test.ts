import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReopenPace } from '../../src/connection/reopen-pace.js';
import { MAX_TIMER_MS, timerDelay } from '../../src/resilience/timer-delay.js';
import { openRuntime, textOf } from './open-runtime.js';
import { type Answer, answerAsOlder, ownHttpServer } from './own-http-server.js';

const older: Answer = (asked, response) => answerAsOlder(asked, response, []);
const WATCH_MS = 3_500;
const UNLISTENED = fileURLToPath(new URL('unlistened-server.mjs', import.meta.url));

describe('a stream that the server ends at once', () => {
  it.each([
    ['0', 1, 3],
    ['1', 1, 3],
    ['3000000000', 1, 1],
    ['99999999999999999999999999', 1, 1],
    ['100', 1, 3],
  ])(
    'is opened again after a second at the least, and ever later (retry: %s)',
    async (retry, least, most) => {
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
      expect(gets).toBeGreaterThanOrEqual(least);
      expect(gets).toBeLessThanOrEqual(most);
    },
  );

  it('is opened again each second where it brought something', async () => {
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

describe('a server that does not tell of changes', () => {
  it.each([
    ['-32601', 1, 1],
    ['-32603', 2, 3],
  ])('is asked for it once, or ever later (stdio, %s)', async (code, least, most) => {
    const server = { command: process.execPath, args: [UNLISTENED, code], era: 'modern' as const, pingMs: 0 };
    const runtime = await openRuntime({ servers: { near: server }, random: () => 0.5 });
    await runtime.connectAll();
    await delay(WATCH_MS);
    const listens = Number(textOf(await runtime.callTool('near', 'listens')));
    expect(listens).toBeGreaterThanOrEqual(least);
    expect(listens).toBeLessThanOrEqual(most);
  });

  it.each([
    ['as JSON-RPC', { error: { code: -32601, message: 'no' } }, 200, 1],
    ['as HTTP 404', undefined, 404, 1],
    ['as another error', { error: { code: -32603, message: 'no' } }, 200, 3],
  ])('is asked for it once, or ever later (http, %s)', async (_how, outcome, status, most) => {
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
        if (method !== 'subscriptions/listen') return send({ result: { resultType: 'complete', tools: [] } });
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
    expect(listens).toBeGreaterThanOrEqual(1);
    expect(listens).toBeLessThanOrEqual(most);
  });
});

describe('a delay from outside', () => {
  it('fits a timer, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.integer(), fc.constant(3e9)), (ms) => {
        const fitted = timerDelay(ms);
        expect(fitted >= 0 && fitted <= MAX_TIMER_MS).toBe(true);
        if (ms >= 0 && ms <= MAX_TIMER_MS) expect(fitted === ms).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps its pace between a second and five minutes, and grows while nothing comes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0 })),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (asked, random) => {
          const pace = new ReopenPace(() => random);
          for (const ms of asked) {
            const next = pace.next(ms);
            expect(next >= 1_000 && next <= 300_000).toBe(true);
          }
          const first = pace.next();
          pace.worked();
          expect(pace.next()).toBeLessThanOrEqual(Math.max(first, 1_200));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('does not end a call that may take for ever', async () => {
    const runtime = await openRuntime({
      servers: { near: { command: process.execPath, args: [UNLISTENED], era: 'modern' as const } },
    });
    const { content } = await runtime.callTool('near', 'listens', {}, { timeoutMs: 3e9, maxTotalMs: 3e9 });
    expect(content).toHaveLength(1);
  });
});
