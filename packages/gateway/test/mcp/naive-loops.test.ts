/** A loop back to the daemon that cannot be detected: it ends by itself, and other callers do not pay for it. */
import { setTimeout as delay } from 'node:timers/promises';
import { fixture, timeBound, waitUntil } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { type NaiveProxy, openNaiveProxy, type ProxyTarget } from './naive-proxy.js';

const ECHO = { echo: fixture('echo') };
const RULES = [{ action: 'allow' }];
const ADD = { server: 'echo', tool_name: 'add', arguments: { a: 1, b: 2 } };

async function open(servers: object): Promise<OwnDaemon> {
  const own = await ownDaemon({ servers, rules: RULES });
  onTestFinished(() => own.close());
  await own.daemon.configured.runtime.connectAll();
  return own;
}

async function tokenOf(own: OwnDaemon, name: string): Promise<string> {
  const made = await own.post('/api/tokens', { name, can: ['mcp_integration'], access: ['call'] });
  return String(made.body.token);
}

/** A daemon with a server `loop`, which leads back to it, by itself or through a second daemon. */
async function openLoop(way: 'directly' | 'through another'): Promise<OwnDaemon & { proxy: NaiveProxy }> {
  let target: ProxyTarget | undefined;
  const proxy = await openNaiveProxy(() => target ?? { url: '', token: '', again: '' });
  const first = await open(ECHO);
  const second =
    way === 'directly'
      ? undefined
      : await open({
          first: {
            url: `${first.daemon.url}/mcp`,
            headers: { Authorization: `Bearer ${await tokenOf(first, 'second')}` },
          },
        });
  const entrance = second ?? first;
  target = {
    url: `${entrance.daemon.url}/mcp`,
    token: await tokenOf(entrance, 'proxy'),
    again: second === undefined ? 'loop_again' : 'first_loop_again',
  };
  first.configure({ servers: { ...ECHO, loop: { url: proxy.url, callTimeoutMs: 4_000 } }, rules: RULES });
  const { runtime } = first.daemon.configured;
  await expect.poll(() => runtime.serverNames(), { timeout: 20_000 }).toContain('loop');
  await runtime.connect('loop');
  await second?.daemon.configured.runtime.refresh();
  return { ...first, proxy };
}

/** The longest time that a neighbour waits for a response, until it is stopped. */
async function neighbourOf(own: OwnDaemon, isOver: () => boolean): Promise<number> {
  const token = await tokenOf(own, 'neighbour');
  let worst = 0;
  do {
    const began = performance.now();
    expect(await own.post('/mcp/call', ADD, token)).toMatchObject({ status: 200, body: { success: true } });
    worst = Math.max(worst, performance.now() - began);
  } while (!isOver());
  return worst;
}

it.each(['directly', 'through another'] as const)(
  'a call that loops back (%s) ends with an error after a limited number of rounds, and others are served',
  async (way) => {
    const own = await openLoop(way);
    // Open streams for notifications.
    const streams = own.daemon.inFlight;
    let isOver = false;
    const neighbour = neighbourOf(own, () => isOver);
    const { body } = await own.post('/mcp/call', { server: 'loop', tool_name: 'again', arguments: {} });
    isOver = true;
    expect(body).toMatchObject({
      success: false,
      code: expect.stringMatching(/^(CALL_TIMEOUT|TOOL_FAILED|OVERLOADED)$/),
    });
    expect(await neighbour).toBeLessThan(timeBound(1_000));
    // Each round takes a slot of its caller, and all of them end.
    expect(own.proxy.calls()).toBeGreaterThan(1);
    expect(own.proxy.calls()).toBeLessThan(100);
    await waitUntil(() => own.daemon.inFlight <= streams, 20_000);
    const rounds = own.proxy.calls();
    await delay(500);
    expect(own.proxy.calls()).toBe(rounds);
    expect(await own.post('/mcp/call', ADD)).toMatchObject({ body: { success: true } });
  },
  60_000,
);

it('a list that comes back is read ever more slowly, and holds no more than a server may', async () => {
  const own = await openLoop('directly');
  const { runtime } = own.daemon.configured;
  await waitUntil(() => own.proxy.lists() >= 20, 30_000);
  let isOver = false;
  const neighbour = neighbourOf(own, () => isOver);
  await waitUntil(async () => {
    const before = own.proxy.lists();
    await delay(2_000);
    return own.proxy.lists() - before <= 1;
  }, 40_000);
  isOver = true;
  expect(await neighbour).toBeLessThan(timeBound(1_000));
  expect(own.proxy.lists()).toBeLessThan(60);
  expect(runtime.serverStatus('loop').tools.length).toBeLessThanOrEqual(1_000);
}, 90_000);
