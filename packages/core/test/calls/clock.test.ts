/** The total of a call holds from the first word to the answer, whatever happens in between. */
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { createRuntime, type RuntimeOptions, type ServerInput } from 'turnbuckle';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { CallClock } from '../../src/resilience/call-clock.js';
import { TinyServer, toolNamed } from '../policy/tiny-server.js';

const home = await temporaryDirectory();
afterAll(() => home.remove());

async function open(servers: Record<string, ServerInput>, options: RuntimeOptions = {}) {
  const runtime = await createRuntime({ stateDir: home.path, pins: 'off', servers, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

/** How it ended, and after how long. */
async function timed(call: Promise<unknown>): Promise<{ code: string; message: string; tookMs: number }> {
  const started = performance.now();
  const error = await call.then(
    () => ({ code: 'ok', message: '' }),
    (thrown: { code: string; message: string }) => thrown,
  );
  return { code: error.code, message: error.message, tookMs: performance.now() - started };
}

/** Takes connections and never says anything. */
async function silentPort(): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`;
}

const LIMITS = [{ timeoutMs: 300 }, { maxTotalMs: 300 }];
/** Far below what each of these waits takes by itself, far above what a busy machine needs. */
const AT_MOST = 4_000;

describe.each(LIMITS)('a call with %j', (limits) => {
  it.each(['tool', 'resource', 'prompt'] as const)('ends in time while connecting: %s', async (kind) => {
    const runtime = await open({
      far: { type: 'http', url: await silentPort(), start: 'lazy', connectTimeoutMs: 20_000 },
    });
    const call =
      kind === 'tool'
        ? runtime.callTool('far', 'x', {}, limits)
        : kind === 'resource'
          ? runtime.readResource('far', 'x:y', limits)
          : runtime.getPrompt('far', 'x', {}, limits);
    const { code, message, tookMs } = await timed(call);
    expect(code).toBe('CALL_TIMEOUT');
    expect(message).toMatch(/300 ms.*waited for the connection to server "far"\. Nothing was sent/);
    expect(tookMs).toBeLessThan(AT_MOST);
  });

  it('ends in time while the tools are listed', async () => {
    const server = new TinyServer([toolNamed('x')]);
    server.silentAbout = 'tools/list';
    const runtime = await open({ slow: server.config({ start: 'lazy', listTimeoutMs: 20_000 }) });
    const { code, tookMs } = await timed(runtime.callTool('slow', 'x', {}, limits));
    expect([code, tookMs < AT_MOST]).toEqual(['CALL_TIMEOUT', true]);
  });

  it('ends in time in the queue, and leaves it', async () => {
    const server = new TinyServer([toolNamed('x')]);
    const runtime = await open({ busy: server.config({ maxInFlight: 1 }) });
    await runtime.connectAll();
    let free = (): void => {};
    server.held = new Promise((resolve) => {
      free = resolve;
    });
    const first = runtime.callTool('busy', 'x');
    await waitUntil(() => server.calls.length === 1);
    const { code, message, tookMs } = await timed(runtime.callTool('busy', 'x', {}, limits));
    expect([code, tookMs < AT_MOST]).toEqual(['CALL_TIMEOUT', true]);
    expect(message).toContain('waited for its turn');
    expect(runtime.serverStatus('busy').queued).toBe(0);
    free();
    server.held = undefined;
    await first;
    await runtime.callTool('busy', 'x');
    expect(server.calls).toHaveLength(2);
    expect(runtime.serverStatus('busy').breaker).toBe('closed');
  });

  it('ends in time when the server is silent', async () => {
    const server = new TinyServer([toolNamed('x')]);
    const runtime = await open({ mute: server.config({ pingMs: 0 }) });
    await runtime.connectAll();
    server.held = new Promise(() => {});
    const { code, tookMs } = await timed(runtime.callTool('mute', 'x', {}, limits));
    expect([code, tookMs < AT_MOST]).toEqual(['CALL_TIMEOUT', true]);
  });

  it('waits for a person on that person’s clock', async () => {
    const server = new TinyServer([toolNamed('x')]);
    const runtime = await open(
      { s: server.config() },
      {
        approve: async () => {
          await delay(700);
          return 'once';
        },
      },
    );
    await runtime.connectAll();
    const caller = { id: 'a', capabilities: ['mcp_integration'] };
    expect((await timed(runtime.callTool('s', 'x', {}, { ...limits, caller }))).code).toBe('ok');
  });
});

it('the parts of a call add up: what one wait took is missing in the next', async () => {
  const server = new TinyServer([toolNamed('x')]);
  const runtime = await open({ s: server.config({ maxInFlight: 1, pingMs: 0 }) });
  await runtime.connectAll();
  let free = (): void => {};
  server.held = new Promise((resolve) => {
    free = resolve;
  });
  const first = runtime.callTool('s', 'x');
  await waitUntil(() => server.calls.length === 1);
  const second = timed(runtime.callTool('s', 'x', {}, { maxTotalMs: 1_500 }));
  await delay(1_000);
  server.held = new Promise(() => {});
  free();
  await first;
  const { code, tookMs } = await second;
  expect(code).toBe('CALL_TIMEOUT');
  // Not 1,000 ms in the queue and 1,500 ms more.
  expect(tookMs).toBeLessThan(2_300);
});

it('the server’s own total holds where the caller says nothing', async () => {
  const runtime = await open({
    far: { type: 'http', url: await silentPort(), start: 'lazy', connectTimeoutMs: 20_000, maxCallMs: 300 },
  });
  const { code, tookMs } = await timed(runtime.callTool('far', 'x'));
  expect([code, tookMs < AT_MOST]).toEqual(['CALL_TIMEOUT', true]);
});

it('a function of the host has to end in time as well', async () => {
  const runtime = await open({});
  let aborted = false;
  runtime.registerTool({
    name: 'endless',
    inputSchema: { type: 'object' },
    run: (_, { signal }) => {
      signal?.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise(() => {});
    },
  });
  const { code, message } = await timed(runtime.call({ tool: 'endless', maxTotalMs: 100 }));
  expect([code, aborted]).toEqual(['CALL_TIMEOUT', true]);
  expect(message).toContain('It may have happened');
});

describe('options of a call', () => {
  it.each([
    { timeoutMs: Number.NaN },
    { timeoutMs: 0 },
    { timeoutMs: -1 },
    { timeoutMs: '5' },
    { timeoutMs: null },
    { maxTotalMs: Number.NaN },
    { maxTotalMs: {} },
    { requestId: 5 },
    { onProgress: 'x' },
    { signal: {} },
    { caller: { id: 'x' } },
    { caller: null },
  ])('%j are refused, before anything is sent', async (options) => {
    const server = new TinyServer([toolNamed('x')]);
    const runtime = await open({ s: server.config() });
    await runtime.connectAll();
    const codes: string[] = [];
    runtime.on('call.settled', ({ error }) => codes.push(error?.code ?? 'ok'));
    for (const call of [
      runtime.callTool('s', 'x', {}, options as never),
      runtime.readResource('s', 'x:y', options as never),
      runtime.getPrompt('s', 'x', {}, options as never),
    ])
      expect((await timed(call)).code).toBe('REQUEST_INVALID');
    expect(codes).toEqual(['REQUEST_INVALID', 'REQUEST_INVALID', 'REQUEST_INVALID']);
    expect(server.requests).toEqual([]);
  });

  it.each([
    { timeoutMs: 1e12 },
    { timeoutMs: Number.POSITIVE_INFINITY },
    { maxTotalMs: Number.POSITIVE_INFINITY },
  ])('%j are long, and not over at once', async (options) => {
    const server = new TinyServer([toolNamed('x')]);
    const runtime = await open({ s: server.config({ start: 'lazy' }) });
    expect((await timed(runtime.callTool('s', 'x', {}, options))).code).toBe('ok');
  });
});

describe('the clock', () => {
  it('counts all but what was left out', () => {
    let now = 0;
    const clock = new CallClock({ timeoutMs: 50, maxTotalMs: 100 }, () => now);
    now = 30;
    expect([clock.leftMs, clock.patienceMs]).toEqual([70, 50]);
    clock.leaveOut(20);
    now = 90;
    expect([clock.leftMs, clock.patienceMs]).toEqual([30, 30]);
    clock.atMost(1_000);
    expect(clock.leftMs).toBe(30);
  });

  it('leaves no timer behind, and no listener', async () => {
    const clock = new CallClock({ maxTotalMs: 60_000 });
    const abort = new AbortController();
    expect(await clock.until(Promise.resolve(1), { what: 'x', signal: abort.signal })).toBe(1);
    const waiting = clock.until(new Promise(() => {}), { what: 'x', signal: abort.signal });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    const over = new CallClock(
      { maxTotalMs: 1 },
      (() => {
        let count = 0;
        return () => (count += 10);
      })(),
    );
    await expect(over.until(new Promise(() => {}), { what: 'x' })).rejects.toMatchObject({
      code: 'CALL_TIMEOUT',
    });
  });
});
