import { redirecting } from '@turnbuckle/testing/authorization-server';
import { expect, it } from 'vitest';
import { echo, setStage, startAuthorization, startProtected } from './stage.js';

it('S24: when a server goes to another authorization server, neither sees credentials of the other', async () => {
  const { authorization: old, server, open, prompts, pages } = await setStage();
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  await echo(runtime);
  const next = await startAuthorization();
  server.wall.authorizationServer = next;
  const asked = old.tally.requests.length;
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(next.tally.count('token')).toBe(0);
  await runtime.signIn('web', { prompts });
  expect(await echo(runtime)).toBe('hi');
  expect(pages.length).toBe(2);
  expect(old.tally.requests.length).toBe(asked);
  const known = old.tally.requests.map(({ clientId }) => clientId).filter((id) => id !== undefined);
  expect(next.tally.requests.filter(({ clientId }) => known.includes(clientId ?? ''))).toEqual([]);
  expect(next.tally.count('register')).toBe(1);
});

it('signs in at the next authorization server when the server goes there during a sign-in', async () => {
  const { authorization: old, server, open, prompts, pages } = await setStage();
  const next = await startAuthorization();
  const runtime = await open();
  const moving = {
    ...prompts,
    open: async (page: { url: string }) => {
      await prompts.open(page);
      server.wall.authorizationServer = next;
    },
  };
  expect(await runtime.signIn('web', { prompts: moving })).toBe(true);
  expect(await echo(runtime)).toBe('hi');
  expect(pages.length).toBe(2);
  expect([old.tally.count('register'), next.tally.count('register')]).toEqual([1, 1]);
});

it('S24: a secret of the configuration does not go to an authorization server that the server names later', async () => {
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
  server.wall.authorizationServer = next;
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({
    code: 'AUTH_REQUIRED',
    hint: expect.stringContaining('auth.issuer'),
  });
  expect(pages.length).toBe(1);
  expect([next.tally.count('authorize'), next.tally.count('token')]).toEqual([0, 0]);
  const named = await open({ ...auth, issuer: next.issuer });
  expect(await named.signIn('web', { prompts })).toBe(true);
  expect(await echo(named)).toBe('hi');
});

it('S24: a token endpoint that sends us on to another gets nothing sent there', async () => {
  const { authorization, open, prompts } = await setStage();
  const other = await startAuthorization();
  authorization.faults.set('token', redirecting(`${other.issuer}/token`));
  const runtime = await open();
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  expect(other.tally.requests).toEqual([]);
});

it('S23: the token of one server never goes to another, nor a header of ours to an authorization server', async () => {
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
  expect(other.wall.knocks.filter(({ authorization: sent }) => sent !== undefined)).toEqual([]);
  await runtime.signIn('other', { prompts });
  expect([await echo(runtime), await echo(runtime, 'hi', 'other')]).toEqual(['hi', 'hi']);
  const [first] = server.wall.admitted;
  const [second] = other.wall.admitted;
  expect(first).not.toBe(second);
  const resources = authorization.tally.requests.flatMap(({ parameters }) => parameters.resource ?? []);
  expect(new Set(resources)).toEqual(new Set([server.url, other.url]));
  const sent = authorization.tally.requests.map(({ authorization: header }) => header);
  expect(sent.filter((header) => header !== undefined)).toEqual([]);
});
