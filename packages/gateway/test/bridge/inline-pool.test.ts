import { type RunningFixture, startFixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

let own: OwnDaemon;
let web: RunningFixture;
let file: (maxEndpoints: number) => object;
beforeAll(async () => {
  web = await startFixture('echo', { transport: 'http' });
  file = (maxEndpoints) => ({
    servers: {},
    rules: [{ action: 'allow' }],
    daemon: { bridge: { urls: [web.url], maxEndpoints } },
  });
  own = await ownDaemon(file(4));
});
afterAll(async () => {
  await own.close();
  await web.stop();
});

async function makeToken(name: string): Promise<string> {
  const made = await own.post('/api/tokens', { name, can: ['mcp_integration'], access: ['call'] });
  return String(made.body.token);
}

/** Another header makes it another endpoint. */
const call = (number: number, ms: number, token?: string) =>
  own.post(
    '/mcp/call',
    {
      endpoint: { url: web.url, headers: { 'x-number': String(number) } },
      ...{ tool_name: 'sleep', arguments: { ms }, timeout_ms: 60_000 },
    },
    token,
  );

const inFlight = async (): Promise<number> =>
  Number(/turnbuckle_calls_in_flight (\d+)/.exec(await (await own.fetch('/metrics')).text())?.[1]);

describe('endpoints that requests name', () => {
  it('are never ended while they are in use; idle ones make room', async () => {
    const agent = await makeToken('agent');
    for (let number = 0; number < 4; number += 1)
      expect((await call(number, 1, agent)).body).toMatchObject({ success: true });
    // Those are idle: they make room for others, up to the limit.
    const busy = [4, 5, 6, 7].map((number) => call(number, 3_000, agent));
    await waitUntil(async () => (await inFlight()) === 4);
    const refused = await call(8, 1, agent);
    expect(refused).toMatchObject({ status: 503, body: { success: false, code: 'OVERLOADED' } });
    // An endpoint that is already open needs no further slot.
    expect((await call(7, 1, agent)).body).toMatchObject({ success: true });
    for (const answer of await Promise.all(busy)) expect(answer.body).toMatchObject({ success: true });
    expect((await call(8, 1, agent)).body).toMatchObject({ success: true });
  }, 60_000);

  it('are limited by the configuration, and one caller cannot use all of them', async () => {
    own.configure(file(32));
    await own.post('/api/config/reload', {});
    const [greedy, other] = [await makeToken('greedy'), await makeToken('other')];
    const held: Array<ReturnType<typeof call>> = [];
    let next = 100;
    await waitUntil(async () => {
      held.push(call(next, 60_000, greedy));
      next += 1;
      const first = await Promise.race([held.at(-1), new Promise((resolve) => setTimeout(resolve, 200))]);
      return JSON.stringify(first)?.includes('OVERLOADED');
    }, 60_000);
    expect((await call(next + 1, 1, other)).body).toMatchObject({ success: true });
    expect((await call(next + 2, 1)).body).toMatchObject({ success: true });
    await own.fetch('/api/tokens/greedy', { method: 'DELETE' });
    const codes = (await Promise.all(held)).map(({ body }) => body.code);
    const cancelled = codes.filter((code) => code === 'CALL_CANCELLED').length;
    // More than the previous limit of 4, and less than all.
    expect(cancelled).toBeGreaterThan(4);
    expect(cancelled).toBeLessThan(20);
    expect(codes.filter((code) => code === 'OVERLOADED')).toHaveLength(codes.length - cancelled);
  }, 120_000);

  it('that cannot be used do not occupy a slot', async () => {
    const bad = { endpoint: { url: 'no address' }, tool_name: 'echo' };
    expect((await own.post('/mcp/call', bad)).body).toMatchObject({ success: false });
    expect((await call(1, 1)).body).toMatchObject({ success: true });
  });
});
