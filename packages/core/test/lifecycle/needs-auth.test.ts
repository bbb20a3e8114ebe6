import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { startFixture, temporaryDirectory } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openRuntime, QUICK, record, textOf } from './open-runtime.js';

async function startWall(...flags: string[]) {
  const directory = await temporaryDirectory();
  const log = directory.file('requests');
  const wall = await startFixture('auth-wall', { transport: 'http', flags: [...flags, '--log-file', log] });
  onTestFinished(async () => {
    await wall.stop();
    await directory.remove();
  });
  return { url: wall.url, requests: (): number => readFileSync(log, 'utf8').trim().split('\n').length };
}

it.each(['401', '403'])(
  'a server that responds %s needs a sign-in: it is not retried, calls fail immediately',
  async (status) => {
    const { url, requests } = await startWall('--status', status);
    const runtime = await openRuntime({ servers: { wall: { type: 'http', url, reconnect: QUICK } } });
    const failed = record(runtime, 'server.failed');
    await runtime.connectAll();
    expect(runtime.serverStatus('wall')).toMatchObject({
      status: 'needs-auth',
      state: 'error',
      error: { code: 'AUTH_REQUIRED' },
    });
    const asked = requests();
    await delay(300);
    for (let call = 0; call < 5; call += 1) {
      await expect(runtime.callTool('wall', 'echo', { text: 'x' })).rejects.toMatchObject({
        code: 'AUTH_REQUIRED',
      });
      const { failure } = await runtime.execute('mcp__wall__echo', { text: 'x' });
      expect(failure?.code).toBe('AUTH_REQUIRED');
    }
    expect(requests()).toBe(asked);
    expect(failed.length).toBe(1);
  },
);

it('a manual reconnect retries it, and works with a token', async () => {
  const { url, requests } = await startWall('--status', '401', '--token', 'secret');
  const runtime = await openRuntime({ servers: { wall: { type: 'http', url } } });
  await runtime.connectAll();
  const asked = requests();
  await expect(runtime.reconnect('wall')).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(requests()).toBeGreaterThan(asked);
  const result = await runtime.setServers({
    wall: { type: 'http', url, headers: { authorization: 'Bearer secret' } },
  });
  expect(result).toEqual({ added: [], removed: [], changed: ['wall'], errors: {} });
  expect(textOf(await runtime.callTool('wall', 'echo', { text: 'x' }))).toBe('x');
});
