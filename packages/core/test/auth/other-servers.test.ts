import { redirecting } from '@turnbuckle/testing/authorization-server';
import type { SignInPage } from 'turnbuckle/host';
import { expect, it } from 'vitest';
import { echo, setStage, startAuthorization, startProtected } from './stage.js';

it('S24: when a server switches to another authorization server, neither sees credentials of the other', async () => {
  const { authorization: old, server, open, prompts, pages } = await setStage();
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  await echo(runtime);
  const next = await startAuthorization();
  server.guard.authorizationServer = next;
  const asked = old.requestLog.requests.length;
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(next.requestLog.count('token')).toBe(0);
  await runtime.signIn('web', { prompts });
  expect(await echo(runtime)).toBe('hi');
  expect(pages.length).toBe(2);
  expect(old.requestLog.requests.length).toBe(asked);
  const known = old.requestLog.requests.map(({ clientId }) => clientId).filter((id) => id !== undefined);
  expect(next.requestLog.requests.filter(({ clientId }) => known.includes(clientId ?? ''))).toEqual([]);
  expect(next.requestLog.count('register')).toBe(1);
});

it('signs in to the next authorization server when the server switches to it during a sign-in', async () => {
  const { authorization: old, server, open, prompts, pages } = await setStage();
  const next = await startAuthorization();
  const runtime = await open();
  const moving = {
    ...prompts,
    open: async (page: SignInPage) => {
      await prompts.open(page);
      server.guard.authorizationServer = next;
    },
  };
  expect(await runtime.signIn('web', { prompts: moving })).toBe(true);
  expect(await echo(runtime)).toBe('hi');
  expect(pages.length).toBe(2);
  expect([old.requestLog.count('register'), next.requestLog.count('register')]).toEqual([1, 1]);
});

it('S24: a configured secret is not sent to an authorization server that the server names later', async () => {
  const client = {
    client_id: 'known',
    client_secret: 'secret',
    application_type: 'native' as const,
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
  };
  const { server, open, prompts, pages } = await setStage({ clients: [client] });
  const auth = { type: 'oauth', clientId: 'known', clientSecret: 'secret' };
  const runtime = await open(auth);
  await runtime.signIn('web', { prompts });
  const next = await startAuthorization({ clients: [client] });
  server.guard.authorizationServer = next;
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({
    code: 'AUTH_REQUIRED',
    hint: expect.stringContaining('auth.issuer'),
  });
  expect(pages.length).toBe(1);
  expect([next.requestLog.count('authorize'), next.requestLog.count('token')]).toEqual([0, 0]);
  const named = await open({ ...auth, issuer: next.issuer });
  expect(await named.signIn('web', { prompts })).toBe(true);
  expect(await echo(named)).toBe('hi');
});

it('S24: nothing is sent to the redirect target of a token endpoint', async () => {
  const { authorization, open, prompts } = await setStage();
  const other = await startAuthorization();
  authorization.faults.set('token', redirecting(`${other.issuer}/token`));
  const runtime = await open();
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  expect(other.requestLog.requests).toEqual([]);
});

it('S23: the token of one server is never sent to another, nor our headers to an authorization server', async () => {
  const { authorization, server, open, prompts } = await setStage();
  const other = await startProtected({ authorizationServer: authorization, scope: 'tools:read' });
  const runtime = await open(undefined, {
    servers: {
      web: { type: 'http', url: server.url, headers: { 'x-own': 'mine' } },
      other: { type: 'http', url: other.url },
    },
  });
  await runtime.signIn('web', { prompts });
  await expect(echo(runtime, 'hi', 'other')).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(other.guard.requests.filter(({ authorization: sent }) => sent !== undefined)).toEqual([]);
  await runtime.signIn('other', { prompts });
  expect([await echo(runtime), await echo(runtime, 'hi', 'other')]).toEqual(['hi', 'hi']);
  const [first] = server.guard.admitted;
  const [second] = other.guard.admitted;
  expect(first).not.toBe(second);
  const resources = authorization.requestLog.requests.flatMap(({ parameters }) => parameters.resource ?? []);
  expect(new Set(resources)).toEqual(new Set([server.url, other.url]));
  const sent = authorization.requestLog.requests.map(({ authorization: header }) => header);
  expect(sent.filter((header) => header !== undefined)).toEqual([]);
});
