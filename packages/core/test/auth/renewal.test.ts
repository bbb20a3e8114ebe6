import { setTimeout as delay } from 'node:timers/promises';
import { waitUntil } from '@turnbuckle/testing';
import { failing, held, slow } from '@turnbuckle/testing/authorization-server';
import type { Runtime } from 'turnbuckle';
import { expect, it } from 'vitest';
import { echo, type Stage, setStage } from './stage.js';

/** A clock that can be set forward. By it tokens last an hour; the authorization server, on the real clock, still accepts them. */
function createClock() {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    forward: (seconds: number) => {
      ahead += seconds * 1_000;
    },
  };
}

async function signedIn(stage: Stage, now: () => number = Date.now): Promise<Runtime> {
  const runtime = await stage.open(undefined, { now, breaker: { openMs: 100 } });
  await runtime.signIn('web', { prompts: stage.prompts });
  return runtime;
}

const many = (runtime: Runtime, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => echo(runtime)));

it('60 calls after expiry share one renewal', async () => {
  const stage = await setStage();
  const { requestLog } = stage.authorization;
  const clock = createClock();
  const runtime = await signedIn(stage, clock.now);
  // Long enough that all callers arrive while the renewal is in progress.
  stage.authorization.faults.set('token', slow(200));
  for (let round = 1; round <= 3; round += 1) {
    clock.forward(3_601);
    expect(new Set(await many(runtime, 60))).toEqual(new Set(['hi']));
    expect(requestLog.count('token', 'refresh_token')).toBe(round);
  }
  expect(stage.server.guard.requests.filter(({ status }) => status === 401).length).toBe(1);
});

it('shortly before expiry the token is renewed while calls still use it', async () => {
  const stage = await setStage();
  const clock = createClock();
  const runtime = await signedIn(stage, clock.now);
  const stopped = held('before');
  stage.authorization.faults.set('token', stopped);
  clock.forward(3_600 - 30);
  expect(await echo(runtime)).toBe('hi');
  await waitUntil(() => stopped.count === 1);
  expect(await many(runtime, 10)).toEqual(Array.from({ length: 10 }, () => 'hi'));
  expect(stopped.count).toBe(1);
  expect(stage.server.guard.admitted.size).toBe(1);
  stopped.release();
  await waitUntil(async () => {
    await echo(runtime);
    return stage.server.guard.admitted.size === 2;
  });
  expect(stage.authorization.requestLog.count('token', 'refresh_token')).toBe(1);
});

it('a token that is rejected before its expiry is replaced, once for all rejected calls', async () => {
  const stage = await setStage();
  const runtime = await signedIn(stage);
  await echo(runtime);
  const [token = ''] = stage.server.guard.admitted;
  await (await stage.authorization.provider.AccessToken.find(token))?.destroy();
  expect(new Set(await many(runtime, 30))).toEqual(new Set(['hi']));
  expect(stage.authorization.requestLog.count('token', 'refresh_token')).toBe(1);
});

it('another runtime of the same user finds the renewed token', async () => {
  const stage = await setStage();
  const clock = createClock();
  const first = await signedIn(stage, clock.now);
  const second = await stage.open(undefined, { now: clock.now });
  expect(await echo(second)).toBe('hi');
  clock.forward(3_601);
  await Promise.all([many(first, 10), many(second, 10)]);
  expect(stage.authorization.requestLog.count('token', 'refresh_token')).toBe(1);
});

it('two entries for one server share a sign-in and its renewal', async () => {
  const stage = await setStage();
  const clock = createClock();
  const entry = { type: 'http', url: stage.server.url } as const;
  const runtime = await stage.open(undefined, { now: clock.now, servers: { web: entry, other: entry } });
  await runtime.signIn('web', { prompts: stage.prompts });
  clock.forward(3_601);
  await Promise.all([many(runtime, 5), echo(runtime, 'hi', 'other')]);
  expect(stage.authorization.requestLog.count('token', 'refresh_token')).toBe(1);
});

it('an unavailable authorization server ends no sign-in, and is not flooded with requests', async () => {
  const stage = await setStage();
  const { requestLog, faults } = stage.authorization;
  const clock = createClock();
  const runtime = await signedIn(stage, clock.now);
  clock.forward(3_601);
  faults.set('token', failing(500));
  const codes = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const { failure } = await runtime.execute('mcp__web__echo', { text: 'x' });
      return failure?.code;
    }),
  );
  expect(new Set(codes)).toEqual(new Set(['CONNECT_FAILED']));
  for (let call = 0; call < 20; call += 1) await runtime.execute('mcp__web__echo', { text: 'x' });
  expect(requestLog.count('token')).toBeLessThanOrEqual(1 + 3);
  faults.delete('token');
  clock.forward(60);
  await waitUntil(async () => (await runtime.execute('mcp__web__echo', { text: 'x' })).success, 15_000);
  expect(runtime.serverStatus('web')).toMatchObject({ status: 'connected' });
});

it('a failed early renewal affects no call and is not repeated with each of them', async () => {
  const stage = await setStage();
  const { requestLog, faults } = stage.authorization;
  const clock = createClock();
  const runtime = await signedIn(stage, clock.now);
  clock.forward(3_600 - 30);
  faults.set('token', failing(503));
  for (let call = 0; call < 30; call += 1) expect(await echo(runtime)).toBe('hi');
  expect(requestLog.count('token')).toBeLessThanOrEqual(1 + 3);
});

it('a rejected refresh token ends the sign-in: nothing is retried', async () => {
  const stage = await setStage();
  const { requestLog, provider } = stage.authorization;
  const clock = createClock();
  const runtime = await signedIn(stage, clock.now);
  await echo(runtime);
  const [token = ''] = stage.server.guard.admitted;
  const { grantId = '' } = (await provider.AccessToken.find(token)) ?? {};
  await provider.RefreshToken.revokeByGrantId(grantId);
  clock.forward(3_601);
  const requestsBefore = stage.server.guard.requests.length;
  for (let call = 0; call < 10; call += 1)
    await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(requestLog.count('token', 'refresh_token')).toBe(1);
  expect(stage.server.guard.requests.length).toBe(requestsBefore);
  expect(runtime.serverStatus('web')).toMatchObject({ status: 'needs-auth' });
  expect(await runtime.signInStatus('web')).toMatchObject({ signedIn: false });
});

it('a sign-out in another process takes effect here: nothing is renewed', async () => {
  const stage = await setStage();
  const { requestLog, faults } = stage.authorization;
  const clock = createClock();
  const here = await signedIn(stage, clock.now);
  await echo(here);
  const elsewhere = await stage.open();
  // Not revoked, so the tokens would still work.
  faults.set('revoke', failing(503));
  expect(await elsewhere.signOut('web')).toEqual({ found: true, revoked: false });
  clock.forward(3_601);
  await expect(echo(here)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(requestLog.count('token', 'refresh_token')).toBe(0);
  expect(await (await stage.open()).signInStatus('web')).toMatchObject({ signedIn: false });
});

it('a renewal in progress when the runtime closes is stored', async () => {
  const stage = await setStage();
  const clock = createClock();
  const runtime = await signedIn(stage, clock.now);
  const stopped = held('after');
  stage.authorization.faults.set('token', stopped);
  clock.forward(3_600 - 30);
  await echo(runtime);
  await waitUntil(() => stopped.count === 1);
  let closed = false;
  const closing = runtime.close().then(() => {
    closed = true;
  });
  await delay(100);
  expect(closed).toBe(false);
  stopped.release();
  await closing;
  const next = await stage.open(undefined, { now: clock.now });
  expect(await echo(next)).toBe('hi');
  clock.forward(3_601);
  expect(await echo(next)).toBe('hi');
  expect(stage.authorization.requestLog.granted('refresh_token')).toBe(2);
  expect(stage.authorization.requestLog.refusals('invalid_grant')).toBe(0);
});
