import { fixture, waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { createHome, turnbuckle } from '../commands/turnbuckle.js';
import { daemonForTest, post } from './running-daemon.js';

it('disable and enable return when the daemon has applied them', async () => {
  const home = await createHome({ echo: fixture('echo') });
  const daemon = await daemonForTest([], { home });
  const call = async (): Promise<unknown> =>
    (await post(daemon, '/mcp/call', { server: 'echo', tool_name: 'pid', arguments: {} })).body;
  const pidOf = (body: unknown): unknown => Object(body).result?.content[0].text;
  const before = await call();
  for (let round = 0; round < 3; round += 1) {
    expect((await turnbuckle(['disable', 'echo'], { home })).code).toBe(0);
    expect(await call()).toMatchObject({ code: 'SERVER_DISABLED', hint: expect.stringMatching(/program/) });
    expect((await turnbuckle(['enable', 'echo'], { home })).code).toBe(0);
    expect(await call()).toMatchObject({ success: true });
  }
  // It was connected again.
  expect(pidOf(await call())).not.toBe(pidOf(before));
  expect((await turnbuckle(['remove', 'echo'], { home })).code).toBe(0);
  expect(await call()).toMatchObject({ code: 'SERVER_UNKNOWN' });
  await waitUntil(async () => {
    const { stdout } = await turnbuckle(['incidents', '--json'], { home });
    return stdout.match(/config-reloaded/g)?.length === 7;
  });
});
