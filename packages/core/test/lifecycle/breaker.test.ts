import { readFileSync } from 'node:fs';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import type { Runtime } from 'turnbuckle';
import { expect, it, onTestFinished } from 'vitest';
import { ONCE, openRuntime } from './open-runtime.js';

async function outcome(
  runtime: Runtime,
  tool = 'echo',
  args: Record<string, unknown> = { text: 'x' },
): Promise<string> {
  return runtime.callTool('server', tool, args, { timeoutMs: 150 }).then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );
}

it('opens after five failures in a row, refuses at once, lets one probe through, and closes', async () => {
  let now = 1_000_000;
  const server = { ...fixture('echo'), pingMs: 0 };
  const runtime = await openRuntime({ servers: { server }, now: () => now, breaker: { openMs: 30_000 } });
  await runtime.connectAll();
  const sleep = (): Promise<string> => outcome(runtime, 'sleep', { ms: 5_000, everyMs: 5_000 });

  for (let failure = 1; failure <= 4; failure += 1) expect(await sleep()).toBe('CALL_TIMEOUT');
  // A success in between starts the count anew.
  expect(await outcome(runtime)).toBe('ok');
  for (let failure = 1; failure <= 5; failure += 1) expect(await sleep()).toBe('CALL_TIMEOUT');
  expect(runtime.serverStatus('server').breaker).toBe('open');
  for (let refused = 0; refused < 3; refused += 1) expect(await outcome(runtime)).toBe('BREAKER_OPEN');

  now += 29_999;
  expect(await outcome(runtime)).toBe('BREAKER_OPEN');
  now += 1;
  const together = await Promise.all([outcome(runtime), outcome(runtime), outcome(runtime)]);
  expect(together).toEqual(['ok', 'BREAKER_OPEN', 'BREAKER_OPEN']);
  expect(runtime.serverStatus('server').breaker).toBe('closed');
  expect(await outcome(runtime)).toBe('ok');
});

it('a failed probe opens it again, for longer', async () => {
  let now = 1_000_000;
  const server = { ...fixture('echo'), pingMs: 0 };
  const runtime = await openRuntime({
    servers: { server },
    now: () => now,
    breaker: { failures: 2, openMs: 1_000, maxOpenMs: 60_000 },
  });
  await runtime.connectAll();
  const sleep = (): Promise<string> => outcome(runtime, 'sleep', { ms: 5_000, everyMs: 5_000 });
  await sleep();
  await sleep();
  now += 1_000;
  expect(await sleep()).toBe('CALL_TIMEOUT');
  now += 1_999;
  expect(await outcome(runtime)).toBe('BREAKER_OPEN');
  now += 1;
  expect(await outcome(runtime)).toBe('ok');
});

it('a server that never came up is left alone as well: calls do not start it over and over', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  let now = 1_000_000;
  const flags = ['--at', 'start', '--times', '1000', '--state-file', directory.file('starts')];
  const server = {
    ...fixture('flaky', ...flags),
    era: 'legacy' as const,
    start: 'lazy' as const,
    reconnect: ONCE,
  };
  const runtime = await openRuntime({ servers: { server }, now: () => now, breaker: { failures: 3 } });
  const starts = (): number => readFileSync(directory.file('starts'), 'utf8').length;
  const codes: string[] = [];
  for (let call = 0; call < 6; call += 1) codes.push(await outcome(runtime));
  expect(codes.slice(-3)).toEqual(['BREAKER_OPEN', 'BREAKER_OPEN', 'BREAKER_OPEN']);
  const before = starts();
  expect(before).toBe(3);
  expect(await outcome(runtime)).toBe('BREAKER_OPEN');
  expect(starts()).toBe(before);
  now += 30_000;
  expect(await outcome(runtime)).not.toBe('BREAKER_OPEN');
  expect(starts()).toBe(before + 1);
});

it('a refusal costs no time: a thousand are answered at once', async () => {
  const server = { ...fixture('echo'), pingMs: 0 };
  const runtime = await openRuntime({ servers: { server }, breaker: { failures: 1 } });
  await runtime.connectAll();
  await outcome(runtime, 'sleep', { ms: 5_000, everyMs: 5_000 });
  const started = performance.now();
  const codes = await Promise.all(Array.from({ length: 1_000 }, () => outcome(runtime)));
  expect(new Set(codes)).toEqual(new Set(['BREAKER_OPEN']));
  expect(performance.now() - started).toBeLessThan(5_000);
});

it('a death is one failure, however many calls were on their way: the next call brings the server back', async () => {
  const server = { ...fixture('echo'), start: 'lazy' as const };
  const runtime = await openRuntime({ servers: { server } });
  expect(await outcome(runtime)).toBe('ok');
  const { pid = 0 } = runtime.serverStatus('server');
  let begun = 0;
  runtime.on('call.progress', () => {
    begun += 1;
  });
  const lost = Array.from({ length: 16 }, () =>
    runtime.callTool('server', 'sleep', { ms: 60_000, everyMs: 20 }, { timeoutMs: 60_000 }).then(
      () => 'ok',
      (error: { code: string }) => error.code,
    ),
  );
  await waitUntil(() => begun >= 16);
  process.kill(pid, 'SIGKILL');
  expect(new Set(await Promise.all(lost))).toEqual(new Set(['CALL_OUTCOME_UNKNOWN']));
  expect(runtime.serverStatus('server').breaker).toBe('closed');
  expect(await outcome(runtime)).toBe('ok');
});

it('a failed attempt to connect is one failure, however many callers shared it', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const flags = ['--at', 'start', '--times', '1', '--state-file', directory.file('starts')];
  const server = {
    ...fixture('flaky', ...flags),
    era: 'legacy' as const,
    start: 'lazy' as const,
    reconnect: ONCE,
  };
  const runtime = await openRuntime({ servers: { server } });
  const first = await Promise.all(Array.from({ length: 16 }, () => outcome(runtime)));
  expect(new Set(first)).toEqual(new Set(['SERVER_EXITED']));
  expect(await outcome(runtime)).toBe('ok');
});
