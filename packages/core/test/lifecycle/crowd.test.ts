import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { crowd } from './crowd.js';
import { ONCE, openRuntime, textOf } from './open-runtime.js';

// requirement C3
it('ten good servers work while ten bad ones are still connecting, and each status is correct', async () => {
  const { servers, good, expected } = crowd({ connectTimeoutMs: 8_000 });
  const runtime = await openRuntime({ servers });
  let allSettled = false;
  const connecting = runtime.connectAll().then(() => {
    allSettled = true;
  });
  const ready = new Set<string>();
  await new Promise<void>((resolve) => {
    runtime.on('server.state', ({ server, to }) => {
      if (to === 'ready' && ready.add(server).size === good.length) resolve();
    });
  });
  expect([...ready].sort()).toEqual([...good].sort());
  const answers = await Promise.all(good.map((name) => runtime.callTool(name, 'echo', { text: name })));
  expect(answers.map(textOf)).toEqual(good);
  expect(new Set(runtime.tools().map(({ server }) => server))).toEqual(new Set(good));
  // The point of this test: nothing above waited for the hanging servers.
  expect(allSettled).toBe(false);
  expect(runtime.serverStatus('hang-0')).toMatchObject({ status: 'pending', state: 'connecting' });

  await connecting;
  const told = Object.fromEntries(
    runtime
      .status()
      .map(({ name, status, error }) => [name, error === undefined ? status : `${status} ${error.code}`]),
  );
  expect(told).toEqual(expected);
});

it('a server that does not list its tools fails after the list timeout', async () => {
  const server = { ...fixture('slow', '--hang-at', 'list'), listTimeoutMs: 300, reconnect: ONCE };
  const runtime = await openRuntime({ servers: { server } });
  await runtime.connectAll();
  expect(runtime.serverStatus('server')).toMatchObject({
    status: 'failed',
    error: { code: 'CONNECT_TIMEOUT' },
  });
});
