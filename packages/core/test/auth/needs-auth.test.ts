import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

// requirement K4
it('a server that requires a sign-in reports the next step, and gets no more requests until something changes', async () => {
  const { server, authorization, open } = await setStage();
  const runtime = await open();
  await runtime.connectAll();
  expect(runtime.serverStatus('web')).toMatchObject({
    status: 'needs-auth',
    error: { code: 'AUTH_REQUIRED', hint: 'Sign in: turnbuckle login web' },
  });
  const requestsBefore = server.guard.requests.length;
  await delay(300);
  for (let call = 0; call < 10; call += 1) {
    const { failure } = await runtime.execute('mcp__web__echo', { text: 'x' });
    expect(failure).toMatchObject({ code: 'AUTH_REQUIRED', hint: 'Sign in: turnbuckle login web' });
  }
  expect(server.guard.requests.length).toBe(requestsBefore);
  expect(authorization.requestLog.requests).toEqual([]);
});

it('a waiting runtime uses the sign-in of another program', async () => {
  const { open, prompts } = await setStage();
  const waiting = await open();
  await waiting.connectAll();
  await expect(echo(waiting)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  const other = await open();
  await other.signIn('web', { prompts });
  const answers = await Promise.all(Array.from({ length: 10 }, () => echo(waiting)));
  expect(new Set(answers)).toEqual(new Set(['hi']));
  expect(waiting.serverStatus('web')).toMatchObject({ status: 'connected' });
});

it('reading the sign-in status does not prevent that', async () => {
  const { open, prompts } = await setStage();
  const waiting = await open();
  await waiting.connectAll();
  const other = await open();
  await other.signIn('web', { prompts });
  expect(await waiting.signInStatus('web')).toMatchObject({ signedIn: true });
  expect(await echo(waiting)).toBe('hi');
});

it('a server that never accepts the token gets no more requests after a few attempts', async () => {
  const { server, authorization, open, prompts } = await setStage();
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  server.guard.closed = true;
  const before = server.guard.requests.length;
  const settled = await Promise.allSettled(Array.from({ length: 40 }, () => echo(runtime)));
  expect(settled.every(({ status }) => status === 'rejected')).toBe(true);
  // Each call sends the old token and at most twice a renewed one.
  expect(server.guard.requests.length - before).toBeLessThanOrEqual(40 * 3 + 5);
  const storm = authorization.requestLog.count('token', 'refresh_token');
  expect(storm).toBeLessThanOrEqual(3);
  const after = server.guard.requests.length;
  await delay(200);
  for (let call = 0; call < 10; call += 1)
    await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(server.guard.requests.length).toBe(after);
  expect(authorization.requestLog.count('token', 'refresh_token')).toBe(storm);
});

it('403 insufficient_scope without a sign-in requires a sign-in', async () => {
  const { server, open } = await setStage();
  const runtime = await open();
  server.guard.check = async () => ({
    status: 403,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="tools:read"' },
  });
  await runtime.connectAll();
  expect(runtime.serverStatus('web')).toMatchObject({ status: 'needs-auth' });
});

it('a sign-in survives a restart and a new name of the server, and is not shared between accounts', async () => {
  const { authorization, server, open, prompts, pages } = await setStage();
  await (await open()).signIn('web', { prompts });
  expect(await echo(await open())).toBe('hi');
  const renamed = await open(undefined, { servers: { renamed: { type: 'http', url: server.url } } });
  expect(await echo(renamed, 'hi', 'renamed')).toBe('hi');
  authorization.person.name = 'grace';
  const work = await open({ type: 'oauth', account: 'work' });
  await expect(echo(work)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  await work.signIn('web', { prompts });
  await echo(work);
  expect(pages.length).toBe(2);
  const people = [...server.guard.admitted].map(
    async (token) => (await authorization.inspect(token))?.subject,
  );
  expect(await Promise.all(people)).toEqual(['ada', 'grace']);
  await work.signOut('web');
  expect(await echo(await open())).toBe('hi');
});
