/** The total time limit of a call covers everything from its start to its result. */
import { getEventListeners } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { createRuntime, type RuntimeOptions, type ServerInput } from 'turnbuckle';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CallClock } from '../../src/resilience/call-clock.js';
import { TinyServer, toolNamed } from '../policy/tiny-server.js';

const home = await temporaryDirectory();
afterAll(() => home.remove());

async function open(servers: Record<string, ServerInput>, options: RuntimeOptions = {}) {
  const runtime = await createRuntime({ stateDir: home.path, pins: 'off', servers, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

/** The outcome of the call, and its duration. */
async function timed(call: Promise<unknown>): Promise<{ code: string; message: string; tookMs: number }> {
  const started = performance.now();
  const error = await call.then(
    () => ({ code: 'ok', message: '' }),
    (thrown: { code: string; message: string }) => thrown,
  );
  return { code: error.code, message: error.message, tookMs: performance.now() - started };
}

/** Accepts connections and never responds. */
async function silentPort(): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`;
}

const LIMITS = [{ timeoutMs: 300 }, { maxTotalMs: 300 }];
/** Far below the server's own limits, far above what a busy machine needs. */
const AT_MOST = 4_000;

// requirement T6
describe.each(LIMITS)('a call with %j', (limits) => {
  it.each(['tool', 'resource', 'prompt'] as const)('times out while connecting: %s', async (kind) => {
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
    expect(message).toMatch(/300 ms.*waiting for the connection to server "far"\. Nothing was sent/);
    expect(tookMs).toBeLessThan(AT_MOST);
  });

  it('times out while the tools are listed', async () => {
    const server = new TinyServer([toolNamed('x')]);
    server.silentAbout = 'tools/list';
    const runtime = await open({ slow: server.config({ start: 'lazy', listTimeoutMs: 20_000 }) });
    const { code, tookMs } = await timed(runtime.callTool('slow', 'x', {}, limits));
    expect([code, tookMs < AT_MOST]).toEqual(['CALL_TIMEOUT', true]);
  });

  it('times out in the queue, and leaves it', async () => {
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
    expect(message).toContain('waiting for its turn');
    expect(runtime.serverStatus('busy').queued).toBe(0);
    free();
    server.held = undefined;
    await first;
    await runtime.callTool('busy', 'x');
    expect(server.calls).toHaveLength(2);
    expect(runtime.serverStatus('busy').breaker).toBe('closed');
  });

  it('times out when the server is silent', async () => {
    const server = new TinyServer([toolNamed('x')]);
    const runtime = await open({ mute: server.config({ pingMs: 0 }) });
    await runtime.connectAll();
    server.held = new Promise(() => {});
    const { code, tookMs } = await timed(runtime.callTool('mute', 'x', {}, limits));
    expect([code, tookMs < AT_MOST]).toEqual(['CALL_TIMEOUT', true]);
  });

  it('does not count the time spent waiting for approval', async () => {
    const server = new TinyServer([toolNamed('x')]);
    const runtime = await open(
      { s: server.config() },
      {
        approve: async () => {
          await delay(700);
          return 'once' as const;
        },
      },
    );
    await runtime.connectAll();
    const caller = { id: 'a', capabilities: ['mcp_integration'] };
    expect((await timed(runtime.callTool('s', 'x', {}, { ...limits, caller }))).code).toBe('ok');
  });
});

it('the parts of a call share one time limit', async () => {
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

it('the server’s own total limit applies if the caller sets none', async () => {
  const runtime = await open({
    far: { type: 'http', url: await silentPort(), start: 'lazy', connectTimeoutMs: 20_000, maxCallMs: 300 },
  });
  const { code, tookMs } = await timed(runtime.callTool('far', 'x'));
  expect([code, tookMs < AT_MOST]).toEqual(['CALL_TIMEOUT', true]);
});

it('a native tool has the same time limit', async () => {
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
  expect(message).toContain('The call may have been executed');
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
  ])('%j are rejected before anything is sent', async (options) => {
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
  ])('%j means a long time, not zero', async (options) => {
    const server = new TinyServer([toolNamed('x')]);
    const runtime = await open({ s: server.config({ start: 'lazy' }) });
    expect((await timed(runtime.callTool('s', 'x', {}, options))).code).toBe('ok');
  });
});

describe('the clock', () => {
  it('counts everything except excluded time', () => {
    let now = 0;
    const clock = new CallClock({ timeoutMs: 50, maxTotalMs: 100 }, () => now);
    now = 30;
    expect([clock.leftMs, clock.nextTimeoutMs]).toEqual([70, 50]);
    clock.exclude(20);
    now = 90;
    expect([clock.leftMs, clock.nextTimeoutMs]).toEqual([30, 30]);
    clock.setDefaultTotal(1_000);
    expect(clock.leftMs).toBe(30);
  });

  it('leaves no timer behind, and no listener', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const abort = new AbortController();
    const { signal } = abort;
    /** Timers and listeners. */
    const left = (): number[] => [vi.getTimerCount(), getEventListeners(signal, 'abort').length];
    const clock = new CallClock({ maxTotalMs: 60_000 });
    const never = new Promise<never>(() => {});

    const succeeding = clock.until(Promise.resolve(1), { what: 'x', signal });
    expect(left()).toEqual([1, 1]);
    expect(await succeeding).toBe(1);
    await nextTurn();
    expect(left()).toEqual([0, 0]);

    const failing = clock.until(Promise.reject(new Error('no')), { what: 'x', signal });
    await expect(failing).rejects.toThrow('no');
    await nextTurn();
    expect(left()).toEqual([0, 0]);

    let now = 0;
    const short = new CallClock({ maxTotalMs: 100 }, () => now);
    const late = short.until(never, { what: 'x', signal });
    vi.advanceTimersByTime(100);
    await expect(late).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    expect(left()).toEqual([0, 0]);

    now = 100;
    const over = short.until(never, { what: 'x', signal });
    await expect(over).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    expect(left()).toEqual([0, 0]);

    const waiting = clock.until(never, { what: 'x', signal });
    expect(left()).toEqual([1, 1]);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    expect(left()).toEqual([0, 0]);

    const tooLate = clock.until(never, { what: 'x', signal });
    await expect(tooLate).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    expect(left()).toEqual([0, 0]);
  });
});
