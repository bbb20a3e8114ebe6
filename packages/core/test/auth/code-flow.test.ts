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

describe.each([
  { era: 'legacy', expressLane: true },
  { era: 'legacy', expressLane: false },
  { era: 'modern', expressLane: true },
  { era: 'modern', expressLane: false },
] as const)('$era era, express lane $expressLane', ({ era, expressLane }) => {
  it('a program registers itself, a person signs in once, and calls work', async () => {
    const { authorization, server, open, prompts, pages } = await setStage({}, { flags: ['--era', era] });
    const runtime = await open(undefined, { expressLane });
    expect(await runtime.signIn('web', { prompts })).toBe(true);
    expect(await echo(runtime)).toBe('hi');
    expect(runtime.serverStatus('web')).toMatchObject({ status: 'connected', era });
    expect(pages.length).toBe(1);
    expect(authorization.tally.count('register')).toBe(1);
    expect(authorization.tally.granted('authorization_code')).toBe(1);
    expect(server.wall.admitted.size).toBe(1);
  });
});

it('the request carries PKCE with S256, a state, the resource, and what the server asked for', async () => {
  const { authorization, server, open, prompts } = await setStage();
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  const [asked] = authorization.tally.requests.filter(({ route }) => route === 'authorize');
  expect(asked?.parameters).toMatchObject({
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    resource: server.url,
    scope: 'tools:read offline_access',
    response_type: 'code',
  });
  const [traded] = authorization.tally.requests.filter(({ route }) => route === 'token');
  expect(traded?.parameters).toMatchObject({ resource: server.url, code_verifier: expect.any(String) });
});

it('a call asks the person of the host by itself, once for many calls', async () => {
  const { open, prompts, pages } = await setStage();
  const runtime = await open(undefined, { signIn: prompts });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => echo(runtime, `call ${index}`)));
  expect(answers).toEqual(Array.from({ length: 20 }, (_, index) => `call ${index}`));
  expect(pages.length).toBe(1);
});

it('a program that is known needs no registration', async () => {
  const { authorization, open, prompts } = await setStage({ clients: [KNOWN], registration: false });
  const runtime = await open({ type: 'oauth', clientId: 'known' });
  await runtime.signIn('web', { prompts });
  expect(await echo(runtime)).toBe('hi');
  expect(authorization.tally.requests.find(({ route }) => route === 'token')?.clientId).toBe('known');
});

it.each(['client_secret_basic', 'client_secret_post'] as const)(
  'a program with a secret: %s',
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

it('a program is known by the address of its document', async () => {
  const id = 'https://client.example/metadata.json';
  const document = { ...KNOWN, client_id: id, client_name: 'Turnbuckle' };
  const { authorization, open, prompts } = await setStage({ documents: { [id]: document } });
  const runtime = await open({ type: 'oauth', clientMetadataUrl: id });
  await runtime.signIn('web', { prompts });
  expect(await echo(runtime)).toBe('hi');
  expect(authorization.tally.count('register')).toBe(0);
  expect(authorization.tally.requests.find(({ route }) => route === 'token')?.clientId).toBe(id);
});

it('where nothing can be discovered, the addresses of the configuration are used', async () => {
  const { authorization, server, open, prompts } = await setStage({ clients: [KNOWN] });
  server.metadata = null;
  server.wall.challenge = 'Bearer';
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
  expect(authorization.tally.count('metadata')).toBe(0);
});

it.each(['https://login.example/tenant', undefined])(
  'with addresses and no issuer in the configuration, whatever the issuer calls itself: %s',
  async (named) => {
    const { authorization, server, open, prompts, pages } = await setStage({ clients: [KNOWN] });
    server.metadata = null;
    server.wall.challenge = 'Bearer';
    authorization.faults.set('authorize', callbackIssuer(named));
    const { issuer } = authorization;
    const places = { authUrl: `${issuer}/authorize`, tokenUrl: `${issuer}/token` };
    const runtime = await open({ type: 'oauth', clientId: 'known', ...places, scopes: ['tools:read'] });
    expect(await runtime.signIn('web', { prompts })).toBe(true);
    expect(await echo(runtime)).toBe('hi');
    // A refused token is renewed: nothing has to be looked up for that either.
    const [token = ''] = server.wall.admitted;
    await (await authorization.provider.AccessToken.find(token))?.destroy();
    expect(await echo(runtime)).toBe('hi');
    expect(authorization.tally.count('metadata')).toBe(0);
    expect([authorization.tally.granted('refresh_token'), pages.length]).toEqual([1, 1]);
  },
);

it.each(['authUrl', 'deviceUrl', 'registrationUrl', 'revocationUrl'])(
  '%s without tokenUrl is told, not passed over',
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

it('tokens that are JWTs work the same', async () => {
  const { open, prompts } = await setStage({ format: 'jwt' });
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  expect(await echo(runtime)).toBe('hi');
});

it('the address that a browser elsewhere ended at is pasted', async () => {
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
  ['an address of another sign-in', 'http://127.0.0.1:33418/callback?code=x&state=other'],
  ['no address', 'what?'],
  ['nothing', ''],
])('%s is not taken', async (_, pasted) => {
  const { authorization, open } = await setStage();
  const runtime = await open();
  const prompts: SignInPrompts = { open: () => {}, paste: async () => pasted };
  await expect(runtime.signIn('web', { method: 'paste', prompts })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
  });
  expect(authorization.tally.count('token')).toBe(0);
});

it('a person who says no is told so, and no token was asked for', async () => {
  const { authorization, open, prompts } = await setStage();
  authorization.person.consents = false;
  const runtime = await open();
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
    data: { error: 'access_denied' },
  });
  expect(authorization.tally.count('token')).toBe(0);
});

it('a server that asks for nothing needs no sign-in, and who is signed in is not asked again', async () => {
  const { open, prompts, pages } = await setStage();
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  expect(await runtime.signIn('web', { prompts })).toBe(false);
  expect(await runtime.signIn('web', { prompts, force: true })).toBe(true);
  expect(pages.length).toBe(2);
});

it('a server that takes no unknown programs is told apart', async () => {
  const { open, prompts } = await setStage({ registration: false });
  const runtime = await open();
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
    hint: expect.stringContaining('auth.clientId'),
  });
});
