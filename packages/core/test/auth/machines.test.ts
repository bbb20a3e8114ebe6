import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@turnbuckle/testing';
import { failing, JWT_BEARER, startIdentityProvider } from '@turnbuckle/testing/authorization-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { echo, setStage, startAuthorization } from './stage.js';

const MACHINE = {
  client_id: 'robot',
  client_secret: 'its secret',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
} as const;
const BY_SECRET = { type: 'client-credentials', clientId: 'robot', clientSecret: 'its secret' };
const CLIENT_CREDENTIALS = 'client_credentials';

async function files() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return directory;
}

// requirement K1
describe('client credentials', () => {
  it('a secret: one token for many calls, without a prompt', async () => {
    const { authorization, open } = await setStage({ clients: [MACHINE] });
    const runtime = await open(BY_SECRET);
    const answers = await Promise.all(Array.from({ length: 20 }, () => echo(runtime)));
    expect(new Set(answers)).toEqual(new Set(['hi']));
    expect(authorization.requestLog.count('token')).toBe(1);
    expect(await echo(await open(BY_SECRET))).toBe('hi');
    expect(authorization.requestLog.count('token')).toBe(1);
  });

  it.each(['inline', 'in a file'])('a private key, %s', async (where) => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const client = {
      ...MACHINE,
      client_secret: undefined,
      token_endpoint_auth_method: 'private_key_jwt' as const,
      token_endpoint_auth_signing_alg: 'ES256' as const,
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
    };
    const { authorization, open } = await setStage({ clients: [client] });
    const directory = await files();
    await writeFile(directory.file('key.pem'), pem);
    const key = where === 'inline' ? { privateKey: pem } : { privateKeyPath: directory.file('key.pem') };
    const runtime = await open({ type: 'client-credentials', clientId: 'robot', ...key });
    expect(await echo(runtime)).toBe('hi');
    const [asked] = authorization.requestLog.requests.filter(({ route }) => route === 'token');
    expect(asked?.parameters).toMatchObject({ grant_type: CLIENT_CREDENTIALS });
    expect(asked?.authorization).toBeUndefined();
  });

  it('is renewed at expiry, once', async () => {
    let ahead = 0;
    const { authorization, open } = await setStage({ clients: [MACHINE] });
    const runtime = await open(BY_SECRET, { now: () => Date.now() + ahead });
    await echo(runtime);
    ahead = 3_601_000;
    await Promise.all(Array.from({ length: 20 }, () => echo(runtime)));
    expect(authorization.requestLog.count('token', CLIENT_CREDENTIALS)).toBe(2);
  });

  it('requests more scopes by itself when a tool needs them, but not forever', async () => {
    const { authorization, server, open } = await setStage(
      { clients: [MACHINE] },
      { toolScopes: { add: 'tools:write', count: 'never:granted' } },
    );
    const runtime = await open(BY_SECRET);
    await echo(runtime);
    expect((await runtime.callTool('web', 'add', { a: 2, b: 3 })).structuredContent).toEqual({ sum: 5 });
    expect(authorization.requestLog.count('token')).toBe(2);
    await expect(runtime.callTool('web', 'count', {})).rejects.toMatchObject({ server: 'web' });
    expect(authorization.requestLog.count('token')).toBeLessThanOrEqual(5);
    expect(server.guard.requests.filter(({ tool }) => tool === 'count').length).toBeLessThanOrEqual(3);
  });

  it('a wrong secret is reported once, and not retried', async () => {
    const { authorization, open } = await setStage({ clients: [MACHINE] });
    const runtime = await open({ ...BY_SECRET, clientSecret: 'wrong' });
    await runtime.connectAll();
    await expect(echo(runtime)).rejects.toMatchObject({
      code: 'AUTH_FAILED',
      data: { error: 'invalid_client' },
    });
    for (let call = 0; call < 20; call += 1) await runtime.execute('mcp__web__echo', { text: 'x' });
    expect(authorization.requestLog.count('token')).toBeLessThanOrEqual(5);
  });

  it('an unavailable authorization server is not flooded with requests', async () => {
    const { authorization, open } = await setStage({ clients: [MACHINE] });
    authorization.faults.set('token', failing(500));
    const runtime = await open(BY_SECRET);
    await runtime.connectAll();
    for (let call = 0; call < 20; call += 1) await runtime.execute('mcp__web__echo', { text: 'x' });
    expect(authorization.requestLog.count('token')).toBeLessThanOrEqual(5);
  });

  it('the secret does not go to an authorization server that the server names later', async () => {
    const { server, open } = await setStage({ clients: [MACHINE] });
    const runtime = await open(BY_SECRET);
    await echo(runtime);
    const other = await startAuthorization({ clients: [MACHINE] });
    server.guard.authorizationServer = other;
    await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    const fresh = await open(BY_SECRET);
    await expect(echo(fresh)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(other.requestLog.count('token')).toBe(0);
    const named = await open({ ...BY_SECRET, issuer: other.issuer });
    expect(await echo(named)).toBe('hi');
  });
});

describe('workload identity', () => {
  it('the platform token is read from its file each time', async () => {
    const platform = await startIdentityProvider();
    onTestFinished(() => platform.stop());
    const client = {
      client_id: 'workload',
      token_endpoint_auth_method: 'none' as const,
      grant_types: [JWT_BEARER],
      redirect_uris: [],
      response_types: [],
    };
    let ahead = 0;
    const { authorization, open } = await setStage({ clients: [client], assertionIssuers: [platform] });
    const directory = await files();
    const file = directory.file('token');
    await writeFile(file, `${platform.signAssertion(authorization.issuer)}\n`);
    const runtime = await open(
      { type: 'workload-identity', clientId: 'workload', assertionPath: file },
      { now: () => Date.now() + ahead },
    );
    expect(await echo(runtime)).toBe('hi');
    const second = platform.signAssertion(authorization.issuer);
    await writeFile(file, second);
    ahead = 3_601_000;
    expect(await echo(runtime)).toBe('hi');
    const words = authorization.requestLog.requests.flatMap(({ parameters }) => parameters.assertion ?? []);
    expect(words.length).toBe(2);
    expect(words[1]).toBe(second);
  });

  it('a missing file is named', async () => {
    const { open } = await setStage();
    const runtime = await open({
      type: 'workload-identity',
      clientId: 'workload',
      assertionPath: '/nowhere/token',
    });
    await expect(echo(runtime)).rejects.toMatchObject({
      code: 'AUTH_FAILED',
      hint: 'Check /nowhere/token.',
    });
  });
});

it('enterprise: the identity provider grants access, for this authorization server and resource', async () => {
  const company = await startIdentityProvider();
  onTestFinished(() => company.stop());
  const client = {
    client_id: 'app',
    client_secret: 'app secret',
    grant_types: [JWT_BEARER],
    redirect_uris: [],
    response_types: [],
  };
  const { authorization, server, open } = await setStage({ clients: [client], assertionIssuers: [company] });
  const runtime = await open({
    type: 'enterprise',
    clientId: 'app',
    clientSecret: 'app secret',
    idp: { tokenUrl: company.tokenUrl, clientId: 'at-company', idToken: company.signAssertion('at-company') },
  });
  expect(await echo(runtime)).toBe('hi');
  expect(company.requests).toEqual([
    expect.objectContaining({
      audience: authorization.issuer,
      resource: server.url,
      client_id: 'at-company',
      requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
    }),
  ]);
  expect(company.requests[0]).not.toHaveProperty('client_secret');
});
