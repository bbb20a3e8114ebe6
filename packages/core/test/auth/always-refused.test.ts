import { failing } from '@turnbuckle/testing/authorization-server';
import type { RuntimeOptions } from 'turnbuckle';
import { expect, it } from 'vitest';
import { echo, type Stage, setStage } from './stage.js';

/** A server that answers every request with 401, and a user who completes every sign-in prompt. */
async function openAlwaysRefused(options: Partial<RuntimeOptions> = {}) {
  const stage: Stage = await setStage();
  stage.server.guard.closed = true;
  const runtime = await stage.open(undefined, { signIn: stage.prompts, breaker: { openMs: 50 }, ...options });
  return { ...stage, runtime };
}

it('opens one page for a call, and none for later calls', async () => {
  const { runtime, pages, server } = await openAlwaysRefused();
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED', server: 'web' });
  expect(pages.length).toBe(1);
  const requestsBefore = server.guard.requests.length;
  for (let call = 0; call < 10; call += 1)
    await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(pages.length).toBe(1);
  expect(server.guard.requests.length).toBe(requestsBefore);
});

it('opens one page for many concurrent calls', async () => {
  const { runtime, pages } = await openAlwaysRefused();
  const settled = await Promise.allSettled(Array.from({ length: 20 }, () => echo(runtime)));
  for (const one of settled) expect(one).toMatchObject({ reason: { code: 'AUTH_REQUIRED' } });
  expect(pages.length).toBe(1);
});

it('prompts again after a while, or when the user signs in deliberately', async () => {
  let ahead = 0;
  const { runtime, pages, server, prompts } = await openAlwaysRefused({ now: () => Date.now() + ahead });
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  ahead += 5 * 60_000 + 1;
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(pages.length).toBe(2);
  server.guard.closed = false;
  expect(await runtime.signIn('web', { prompts, force: true })).toBe(true);
  expect(await echo(runtime)).toBe('hi');
  expect(pages.length).toBe(3);
});

it('opens one page for a deliberate sign-in', async () => {
  const { runtime, pages, prompts } = await openAlwaysRefused();
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(pages.length).toBe(1);
});

it('reports a rejected sign-in even if the authorization server can no longer be discovered', async () => {
  // Without a refresh token there is nothing to renew.
  const client = {
    client_id: 'known',
    client_secret: 'secret',
    application_type: 'native' as const,
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code'],
  };
  const { authorization, server, open, prompts, pages } = await setStage({ clients: [client] });
  server.guard.closed = true;
  const runtime = await open({ type: 'oauth', clientId: 'known', clientSecret: 'secret' });
  // Discovery fails as soon as a token has been issued.
  authorization.faults.set('token', {
    after: () => void authorization.faults.set('metadata', failing(500)),
  });
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(pages.length).toBe(1);
});

it('uses a sign-in that another process completed in the meantime', async () => {
  const { runtime, pages, server, open, prompts } = await openAlwaysRefused();
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  server.guard.closed = false;
  const other = await open();
  await other.signIn('web', { prompts, force: true });
  expect(await echo(runtime)).toBe('hi');
  expect(pages.length).toBe(2);
});

it('the next call retries a failed sign-in', async () => {
  const { runtime, authorization, server, pages } = await openAlwaysRefused();
  server.guard.closed = false;
  authorization.faults.set('token', failing(500));
  await expect(echo(runtime)).rejects.toMatchObject({ server: 'web' });
  authorization.faults.delete('token');
  expect(await echo(runtime)).toBe('hi');
  expect(pages.length).toBe(2);
});
