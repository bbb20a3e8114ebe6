import { setTimeout as delay } from 'node:timers/promises';
import { fixture } from '@turnbuckle/testing';
import type { Runtime } from 'turnbuckle';
import { expect, it } from 'vitest';
import { openRuntime, textOf } from './open-runtime.js';

const sleepAt = (runtime: Runtime, server: string, signal?: AbortSignal): Promise<string> =>
  runtime.callTool(server, 'sleep', { ms: 300, everyMs: 300 }, { signal }).then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );
const count = (codes: readonly string[], code: string): number => codes.filter((one) => one === code).length;

// requirement C10
it('a server above the limit is a failed one; the others work', async () => {
  const servers = { a: fixture('echo'), b: fixture('echo'), c: fixture('echo') };
  const runtime = await openRuntime({ servers, limits: { maxServers: 2 } });
  await runtime.connectAll();
  expect(runtime.status().map(({ name, status, error }) => [name, status, error?.code])).toEqual([
    ['a', 'connected', undefined],
    ['b', 'connected', undefined],
    ['c', 'failed', 'SERVER_LIMIT'],
  ]);
  await expect(runtime.callTool('c', 'pid')).rejects.toMatchObject({ code: 'SERVER_LIMIT' });
  const result = await runtime.setServers({ b: servers.b, c: servers.c });
  expect(result).toEqual({ added: ['c'], removed: ['a'], changed: [], errors: {} });
});

it('calls above the limit of a server wait in a queue; calls above the queue limit are rejected', async () => {
  const runtime = await openRuntime({
    servers: { echo: { ...fixture('echo'), maxInFlight: 2 } },
    limits: { maxQueued: 3 },
  });
  await runtime.connectAll();
  const codes = await Promise.all(Array.from({ length: 8 }, () => sleepAt(runtime, 'echo')));
  expect([count(codes, 'ok'), count(codes, 'OVERLOADED')]).toEqual([5, 3]);
  // First come, first served: the last calls are rejected.
  expect(codes.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'ok'));
  expect(textOf(await runtime.callTool('echo', 'echo', { text: 'free again' }))).toBe('free again');
});

it('the limit for all servers together holds as well', async () => {
  const runtime = await openRuntime({
    servers: { a: fixture('echo'), b: fixture('echo') },
    limits: { maxInFlight: 2, maxQueued: 1 },
  });
  await runtime.connectAll();
  const codes = await Promise.all(['a', 'b', 'a', 'b'].map((server) => sleepAt(runtime, server)));
  expect(codes).toEqual(['ok', 'ok', 'ok', 'OVERLOADED']);
});

it('a cancelled call frees its own place in the queue', async () => {
  const runtime = await openRuntime({
    servers: { echo: { ...fixture('echo'), maxInFlight: 1 } },
    limits: { maxQueued: 1 },
  });
  await runtime.connectAll();
  const first = sleepAt(runtime, 'echo');
  const abort = new AbortController();
  const second = sleepAt(runtime, 'echo', abort.signal);
  await delay(50);
  abort.abort();
  expect(await second).toBe('CALL_CANCELLED');
  const third = sleepAt(runtime, 'echo');
  expect(await Promise.all([first, third])).toEqual(['ok', 'ok']);
  for (let round = 0; round < 3; round += 1) expect(await sleepAt(runtime, 'echo')).toBe('ok');
});
