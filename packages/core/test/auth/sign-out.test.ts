import { failing } from '@turnbuckle/testing/authorization-server';
import { expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

it('signing out revokes the tokens at the authorization server and removes them here', async () => {
  const { authorization, server, open, prompts } = await setStage();
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  await echo(runtime);
  const [token = ''] = server.guard.admitted;
  expect(await authorization.inspect(token)).toBeDefined();
  expect(await runtime.signOut('web')).toEqual({ found: true, revoked: true });
  expect(await authorization.inspect(token)).toBeUndefined();
  expect(await runtime.signInStatus('web')).toMatchObject({ signedIn: false });
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  await expect(echo(await open())).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(await runtime.signOut('web')).toEqual({ found: false, revoked: false });
});

it.each(['client_secret_basic', 'client_secret_post'] as const)(
  'a client with a secret revokes them too: %s',
  async (method) => {
    const client = {
      client_id: 'known',
      client_secret: 's e/c+r',
      token_endpoint_auth_method: method,
      application_type: 'native' as const,
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
    };
    const { authorization, open, prompts } = await setStage({ clients: [client] });
    authorization.faults.set('metadata', {
      after: (context) =>
        void Object.assign(context.body as object, { token_endpoint_auth_methods_supported: [method] }),
    });
    const runtime = await open({ type: 'oauth', clientId: 'known', clientSecret: 's e/c+r' });
    await runtime.signIn('web', { prompts });
    expect(await runtime.signOut('web')).toEqual({ found: true, revoked: true });
  },
);

it('an unavailable authorization server does not prevent the sign-out', async () => {
  const { authorization, open, prompts } = await setStage();
  authorization.faults.set('revoke', failing(500));
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  expect(await runtime.signOut('web')).toEqual({ found: true, revoked: false });
  await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
});

it('there is no sign-out if the credential is in the configuration', async () => {
  const { open } = await setStage();
  const runtime = await open({ type: 'bearer', token: 'x' });
  await expect(runtime.signOut('web')).rejects.toMatchObject({ code: 'AUTH_FAILED' });
});
