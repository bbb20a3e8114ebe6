import { callbackIssuer, visit } from '@turnbuckle/testing/authorization-server';
import type { SignInPrompts } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

const REDIRECT = 'http://127.0.0.1/callback';
const KNOWN = {
  client_id: 'known',
  token_endpoint_auth_method: 'none',
  application_type: 'native',
  redirect_uris: [REDIRECT],
  grant_types: ['authorization_code', 'refresh_token'],
} as const;

// requirement K1
describe.each([
  { era: 'legacy', expressLane: true },
  { era: 'legacy', expressLane: false },
  { era: 'modern', expressLane: true },
  { era: 'modern', expressLane: false },
] as const)('$era era, express lane $expressLane', ({ era, expressLane }) => {
  it('the client registers itself, the user signs in once, and calls work', async () => {
    const { authorization, server, open, prompts, pages } = await setStage({}, { flags: ['--era', era] });
    const runtime = await open(undefined, { expressLane });
    expect(await runtime.signIn('web', { prompts })).toBe(true);
    expect(await echo(runtime)).toBe('hi');
    expect(runtime.serverStatus('web')).toMatchObject({ status: 'connected', era });
    expect(pages.length).toBe(1);
    expect(authorization.requestLog.count('register')).toBe(1);
    expect(authorization.requestLog.granted('authorization_code')).toBe(1);
    expect(server.guard.admitted.size).toBe(1);
  });
});

it('the request has PKCE with S256, a state, the resource, and the scopes that the server requires', async () => {
  const { authorization, server, open, prompts } = await setStage();
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  const [asked] = authorization.requestLog.requests.filter(({ route }) => route === 'authorize');
  expect(asked?.parameters).toMatchObject({
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    resource: server.url,
    scope: 'tools:read offline_access',
    response_type: 'code',
  });
  const [traded] = authorization.requestLog.requests.filter(({ route }) => route === 'token');
  expect(traded?.parameters).toMatchObject({ resource: server.url, code_verifier: expect.any(String) });
});

it('a call opens the sign-in page, once for many calls', async () => {
  const { open, prompts, pages } = await setStage();
  const runtime = await open(undefined, { signIn: prompts });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => echo(runtime, `call ${index}`)));
  expect(answers).toEqual(Array.from({ length: 20 }, (_, index) => `call ${index}`));
  expect(pages.length).toBe(1);
});

it('a configured client ID needs no registration', async () => {
  const { authorization, open, prompts } = await setStage({ clients: [KNOWN], registration: false });
  const runtime = await open({ type: 'oauth', clientId: 'known' });
  await runtime.signIn('web', { prompts });
  expect(await echo(runtime)).toBe('hi');
  expect(authorization.requestLog.requests.find(({ route }) => route === 'token')?.clientId).toBe('known');
});

it.each(['client_secret_basic', 'client_secret_post'] as const)(
  'a client with a secret: %s',
  async (method) => {
    const client = { ...KNOWN, token_endpoint_auth_method: method, client_secret: 'its secret + more' };
    const { authorization, open, prompts } = await setStage({ clients: [client], registration: false });
    const runtime = await open({ type: 'oauth', clientId: 'known', clientSecret: 'its secret + more' });
    authorization.faults.set('metadata', {
      after(context) {
        Object.assign(context.body as object, { token_endpoint_auth_methods_supported: [method] });
      },
    });
    await runtime.signIn('web', { prompts });
    expect(await echo(runtime)).toBe('hi');
  },
);

it('the URL of a client metadata document is the client ID', async () => {
  const id = 'https://client.example/metadata.json';
  const document = { ...KNOWN, client_id: id, client_name: 'Turnbuckle' };
  const { authorization, open, prompts } = await setStage({ documents: { [id]: document } });
  const runtime = await open({ type: 'oauth', clientMetadataUrl: id });
  await runtime.signIn('web', { prompts });
  expect(await echo(runtime)).toBe('hi');
  expect(authorization.requestLog.count('register')).toBe(0);
  expect(authorization.requestLog.requests.find(({ route }) => route === 'token')?.clientId).toBe(id);
});

it('without discovery, the configured URLs are used', async () => {
  const { authorization, server, open, prompts } = await setStage({ clients: [KNOWN] });
  server.metadata = null;
  server.guard.challenge = 'Bearer';
  const { issuer } = authorization;
  const runtime = await open({
    type: 'oauth',
    clientId: 'known',
    issuer,
    authUrl: `${issuer}/authorize`,
    tokenUrl: `${issuer}/token`,
    scopes: ['tools:read'],
  });
  await runtime.signIn('web', { prompts });
  expect(await echo(runtime)).toBe('hi');
  expect(authorization.requestLog.count('metadata')).toBe(0);
});

it.each(['https://login.example/tenant', undefined])(
  'with URLs but no issuer in the configuration, any issuer is accepted: %s',
  async (named) => {
    const { authorization, server, open, prompts, pages } = await setStage({ clients: [KNOWN] });
    server.metadata = null;
    server.guard.challenge = 'Bearer';
    authorization.faults.set('authorize', callbackIssuer(named));
    const { issuer } = authorization;
    const endpoints = { authUrl: `${issuer}/authorize`, tokenUrl: `${issuer}/token` };
    const runtime = await open({ type: 'oauth', clientId: 'known', ...endpoints, scopes: ['tools:read'] });
    expect(await runtime.signIn('web', { prompts })).toBe(true);
    expect(await echo(runtime)).toBe('hi');
    // Renewing a rejected token needs no discovery either.
    const [token = ''] = server.guard.admitted;
    await (await authorization.provider.AccessToken.find(token))?.destroy();
    expect(await echo(runtime)).toBe('hi');
    expect(authorization.requestLog.count('metadata')).toBe(0);
    expect([authorization.requestLog.granted('refresh_token'), pages.length]).toEqual([1, 1]);
  },
);

it.each(['authUrl', 'deviceUrl', 'registrationUrl', 'revocationUrl'])(
  '%s without tokenUrl is reported, not ignored',
  async (key) => {
    const { authorization, open, prompts, pages } = await setStage();
    const runtime = await open({ type: 'oauth', [key]: `${authorization.issuer}/x` });
    await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      hint: expect.stringContaining('auth.tokenUrl'),
    });
    expect(pages).toEqual([]);
  },
);

it('JWT access tokens work the same way', async () => {
  const { open, prompts } = await setStage({ format: 'jwt' });
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  expect(await echo(runtime)).toBe('hi');
});

it('accepts the pasted URL from a browser on another machine', async () => {
  const { open } = await setStage();
  const runtime = await open();
  const shown: string[] = [];
  const prompts: SignInPrompts = {
    open: ({ url }) => void shown.push(url),
    paste: async ({ url }) => {
      const back = new URL(url).searchParams.get('redirect_uri') ?? '';
      return `  ${(await visit(url, { until: back })).url}\n`;
    },
  };
  expect(await runtime.signIn('web', { method: 'paste', prompts })).toBe(true);
  expect(await echo(runtime)).toBe('hi');
  expect(shown.length).toBe(1);
});

it.each([
  ['a URL of another sign-in', 'http://127.0.0.1:33418/callback?code=x&state=other'],
  ['not a URL', 'what?'],
  ['nothing', ''],
])('%s is rejected', async (_, pasted) => {
  const { authorization, open } = await setStage();
  const runtime = await open();
  const prompts: SignInPrompts = { open: () => {}, paste: async () => pasted };
  await expect(runtime.signIn('web', { method: 'paste', prompts })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
  });
  expect(authorization.requestLog.count('token')).toBe(0);
});

it('a denied sign-in is reported, and no token was requested', async () => {
  const { authorization, open, prompts } = await setStage();
  authorization.person.consents = false;
  const runtime = await open();
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
    data: { error: 'access_denied' },
  });
  expect(authorization.requestLog.count('token')).toBe(0);
});

it('a server without authentication needs no sign-in, and a signed-in user is not asked again', async () => {
  const { open, prompts, pages } = await setStage();
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  expect(await runtime.signIn('web', { prompts })).toBe(false);
  expect(await runtime.signIn('web', { prompts, force: true })).toBe(true);
  expect(pages.length).toBe(2);
});

it('a server without dynamic client registration has its own error', async () => {
  const { open, prompts } = await setStage({ registration: false });
  const runtime = await open();
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
    hint: expect.stringContaining('auth.clientId'),
  });
});
