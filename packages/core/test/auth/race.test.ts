import { once } from 'node:events';
import { rounds, waitUntil } from '@turnbuckle/testing';
import { held } from '@turnbuckle/testing/authorization-server';
import { expect, it } from 'vitest';
import { race, renewals, startCalling } from './race.js';
import { echo, type Stage, setStage } from './stage.js';

/** Ten in the soak run. */
const EXPIRIES = rounds(10, 4);

it('S25: 60 callers in 11 processes over several expiries: one renewal each, no failed call, no new sign-in', async () => {
  const stage = await setStage();
  const { calls, failures } = await race(stage, {
    processes: 11,
    callers: 60,
    pauseMs: 500,
    expiries: EXPIRIES,
    seconds: 2,
  });
  const seen = renewals(stage);
  expect(failures).toEqual([]);
  expect(calls).toBeGreaterThan(60);
  expect(seen.granted).toBeGreaterThanOrEqual(EXPIRIES);
  expect(seen).toMatchObject({ asked: seen.granted, distinct: seen.granted, reused: 0, signIns: 1 });
  // No renewal before the token is close to its expiry; authorization servers count in whole seconds.
  expect(seen.soonestMs).toBeGreaterThan(2_000 * 0.8 - 1_000);
  // The first token and each renewed one; the last may be unused.
  expect(seen.tokensUsed).toBeGreaterThanOrEqual(seen.granted);
  expect(seen.tokensUsed).toBeLessThanOrEqual(seen.granted + 1);
}, 120_000);

/** Kills one process while the authorization server handles its request; the others continue. */
async function killDuringRenewal(stage: Stage, when: 'before' | 'after') {
  await (await stage.open()).signIn('web', { prompts: stage.prompts });
  const stopped = held(when);
  stage.authorization.faults.set('token', stopped);
  const victim = startCalling(stage, { callers: 3, pauseMs: 50 });
  await waitUntil(() => stopped.count === 1, 30_000);
  const others = [1, 2].map(() => startCalling(stage, { callers: 3, pauseMs: 50 }));
  victim.process.kill('SIGKILL');
  await once(victim.process, 'exit');
  await waitUntil(() => stopped.abandoned === 1);
  stopped.release();
  stage.authorization.faults.delete('token');
  return { others, stop: () => Promise.all(others.map((other) => other.stop())) };
}

it('S25: a process that is killed before its renewal is stored does not affect the others', async () => {
  const stage = await setStage({ accessTokenSeconds: 2 });
  const { others, stop } = await killDuringRenewal(stage, 'before');
  await Promise.all(others.map(({ ready }) => ready));
  await waitUntil(() => stage.authorization.requestLog.granted('refresh_token') >= 2, 30_000);
  expect((await stop()).flatMap(({ failures }) => failures)).toEqual([]);
  expect(renewals(stage)).toMatchObject({ reused: 0, signIns: 1 });
}, 60_000);

it('S25: a process that is killed after the rotation loses nothing if the authorization server accepts the old token once more', async () => {
  const stage = await setStage({ accessTokenSeconds: 2, graceMs: 20_000 });
  const { others, stop } = await killDuringRenewal(stage, 'after');
  await Promise.all(others.map(({ ready }) => ready));
  await waitUntil(() => stage.authorization.requestLog.granted('refresh_token') >= 3, 30_000);
  expect((await stop()).flatMap(({ failures }) => failures)).toEqual([]);
  expect(renewals(stage)).toMatchObject({ reused: 0, signIns: 1 });
}, 60_000);

it('S25: a process that is killed after the rotation needs a new sign-in if the authorization server is strict, without a loop', async () => {
  const stage = await setStage({ accessTokenSeconds: 2 });
  const { stop } = await killDuringRenewal(stage, 'after');
  const done = await stop();
  for (const failure of done.flatMap(({ failures }) => failures)) expect(failure).toMatch(/^AUTH_REQUIRED /);
  const probe = await stage.open();
  await expect(echo(probe)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(renewals(stage).reused).toBe(1);
  await probe.signIn('web', { prompts: stage.prompts });
  expect(await echo(probe)).toBe('hi');
}, 60_000);
