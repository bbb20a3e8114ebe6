/** How long a caller waits for lists and connections: at most the limit of the server, and at most its own limit. */

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';
import { expect, it, onTestFinished } from 'vitest';
import { TinyServer, toolNamed } from '../policy/tiny-server.js';

async function open(servers: NonNullable<RuntimeOptions['servers']>, now?: () => number): Promise<Runtime> {
  const runtime = await createRuntime({ servers, ...(now && { now }) });
  onTestFinished(() => runtime.close());
  return runtime;
}

/** A port that accepts connections and never responds. */
async function silentUrl(): Promise<string> {
  const server = createServer((socket) => void socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const KINDS = {
  resources: ['resources/list', 'listResources'],
  templates: ['resources/templates/list', 'listResourceTemplates'],
  prompts: ['prompts/list', 'listPrompts'],
} as const;
const caller = { id: 'agent', capabilities: ['mcp_integration'] };
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'OK',
    (error) => error.code,
  );
/** Server limits that are far longer than the test may take. */
const SLOW = { listTimeoutMs: 600_000, connectTimeoutMs: 600_000 };

it.each(Object.entries(KINDS))(
  'listing %s of a silent server ends at the time limit of the caller',
  async (_, [method, list]) => {
    const [silent, good] = [new TinyServer([toolNamed('x')]), new TinyServer([toolNamed('x')])];
    silent.silentAbout = method;
    const key = method.includes('templates') ? 'resourceTemplates' : method.split('/')[0];
    good.answers[method] = { [String(key)]: [{ name: 'one', uri: 'a:b', uriTemplate: 'a:{b}' }] };
    const runtime = await open({ silent: silent.config(SLOW), good: good.config() });
    await runtime.connectAll();
    const ended = new AbortController();
    const cancelled = codeOf(runtime[list]('silent', undefined, { signal: ended.signal }));
    ended.abort();
    expect(await cancelled).toBe('CALL_CANCELLED');
    for (const limits of [{ timeoutMs: 50 }, { maxTotalMs: 50 }]) {
      expect(await codeOf(runtime[list]('silent', undefined, limits))).toBe('CALL_TIMEOUT');
      // A list of all servers contains the available ones.
      expect(await runtime[list](undefined, undefined, limits)).toMatchObject([{ server: 'good' }]);
      expect(await runtime[list](undefined, caller, limits)).toMatchObject([{ server: 'good' }]);
    }
    expect(await codeOf(runtime[list](undefined, undefined, { timeoutMs: Number.NaN }))).toBe(
      'REQUEST_INVALID',
    );
  },
);

it('a connection is awaited within the limits of the caller', async () => {
  const runtime = await open({ far: { type: 'http', url: await silentUrl(), start: 'lazy', ...SLOW } });
  expect(await codeOf(runtime.connect('far', { timeoutMs: 50 }))).toBe('CALL_TIMEOUT');
  expect(await codeOf(runtime.connect('far', { maxTotalMs: 50 }))).toBe('CALL_TIMEOUT');
  expect(await codeOf(runtime.connect('far', { signal: AbortSignal.abort() }))).toBe('CALL_CANCELLED');
  expect(await codeOf(runtime.connect('far', { timeoutMs: -1 }))).toBe('REQUEST_INVALID');
});

it('a server that does not answer a list delays the others once, not each time', async () => {
  let now = 1_000_000;
  const silent = new TinyServer([toolNamed('x')]);
  silent.silentAbout = 'resources/list';
  const good = new TinyServer([toolNamed('x')]);
  good.answers['resources/list'] = { resources: [{ name: 'one', uri: 'a:b' }] };
  const runtime = await open(
    { silent: silent.config({ listTimeoutMs: 400 }), good: good.config() },
    () => now,
  );
  await runtime.connectAll();
  const timed = async (): Promise<number> => {
    const from = performance.now();
    expect(await runtime.listResources(undefined, caller)).toMatchObject([{ server: 'good' }]);
    return performance.now() - from;
  };
  expect(await timed()).toBeGreaterThan(350);
  // The server is queried again in the background, and nobody waits.
  const reads: number[] = [];
  for (let count = 0; count < 5; count += 1) reads.push(await timed());
  expect(Math.min(...reads)).toBeLessThan(350);
  // Its list appears as soon as it responds.
  silent.silentAbout = undefined;
  silent.answers['resources/list'] = { resources: [{ name: 'two', uri: 'c:d' }] };
  await expect.poll(async () => (await runtime.listResources(undefined, caller)).length).toBe(2);
  now += 60_000;
  expect(await runtime.listResources(undefined, caller)).toHaveLength(2);
});
