import { failing } from '@turnbuckle/testing/authorization-server';
import type { RuntimeOptions } from 'turnbuckle';
import { expect, it } from 'vitest';
import { echo, type Stage, setStage } from './stage.js';

/** A server that answers 401 whoever asks, and a person who signs in whenever asked. */
async function refusedAlways(options: Partial<RuntimeOptions> = {}) {
  const stage: Stage = await setStage();
  stage.server.wall.closed = true;
  const runtime = await stage.open(undefined, { signIn: stage.prompts, breaker: { openMs: 50 }, ...options });
  return { ...stage, runtime };
}

it('opens one page for a call, and none for the calls that follow', async () => {
  const { runtime, pages, server } = await refusedAlways();
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED', server: 'web' });
  expect(pages.length).toBe(1);
  const knocks = server.wall.knocks.length;
  for (let call = 0; call < 10; call += 1)
    await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(pages.length).toBe(1);
  expect(server.wall.knocks.length).toBe(knocks);
});

it('opens one page for many calls at once', async () => {
  const { runtime, pages } = await refusedAlways();
  const settled = await Promise.allSettled(Array.from({ length: 20 }, () => echo(runtime)));
  for (const one of settled) expect(one).toMatchObject({ reason: { code: 'AUTH_REQUIRED' } });
  expect(pages.length).toBe(1);
});

it('is asked again after a while, or when somebody signs in on purpose', async () => {
  let ahead = 0;
  const { runtime, pages, server, prompts } = await refusedAlways({ now: () => Date.now() + ahead });
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  ahead += 5 * 60_000 + 1;
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(pages.length).toBe(2);
  server.wall.closed = false;
  expect(await runtime.signIn('web', { prompts, force: true })).toBe(true);
  expect(await echo(runtime)).toBe('hi');
  expect(pages.length).toBe(3);
});

it('opens one page for a sign-in on purpose', async () => {
  const { runtime, pages, prompts } = await refusedAlways();
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(pages.length).toBe(1);
});

it('tells that the sign-in is refused, also where the authorization server cannot be looked up any more', async () => {
  // Without a refresh token there is nothing to renew.
  const client = {
    client_id: 'known',
    client_secret: 'secret',
    application_type: 'native' as const,
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code'],
  };
  const { authorization, server, open, prompts, pages } = await setStage({ clients: [client] });
  server.wall.closed = true;
  const runtime = await open({ type: 'oauth', clientId: 'known', clientSecret: 'secret' });
  // From the moment on when there is a token.
  authorization.faults.set('token', {
    after: () => void authorization.faults.set('metadata', failing(500)),
  });
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(pages.length).toBe(1);
});

it('a sign-in elsewhere is picked up meanwhile', async () => {
  const { runtime, pages, server, open, prompts } = await refusedAlways();
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  server.wall.closed = false;
  const other = await open();
  await other.signIn('web', { prompts, force: true });
  expect(await echo(runtime)).toBe('hi');
  expect(pages.length).toBe(2);
});

it('a sign-in that fails on its way is tried again by the next call', async () => {
  const { runtime, authorization, server, pages } = await refusedAlways();
  server.wall.closed = false;
  authorization.faults.set('token', failing(500));
  await expect(echo(runtime)).rejects.toMatchObject({ server: 'web' });
  authorization.faults.delete('token');
  expect(await echo(runtime)).toBe('hi');
  expect(pages.length).toBe(2);
});
