/** A client of the issuer is not the person whose subject is equal to its id: nothing that one may do is the other's. */
import { fixture } from '@turnbuckle/testing';
import fc from 'fast-check';
import { type Caller, createRuntime, type RuntimeOptions } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { JwtVerifier } from '../../src/tokens/jwt-verifier.js';
import { openIssuer } from './issuer.js';

const RESOURCE = 'https://tools.example/mcp';

type CallerOf = (claims: Readonly<Record<string, string>>) => Promise<Caller>;

/** The callers that tokens of one issuer stand for. */
async function openCallers(): Promise<CallerOf> {
  const issuer = await openIssuer();
  const scopes = { call: { access: ['call'] as const, can: ['mcp_integration'] } };
  const verifier = new JwtVerifier({ issuer: issuer.url, resource: RESOURCE, scopes, fetch });
  return async (claims) => {
    const exp = Math.floor(Date.now() / 1_000) + 600;
    const token = await issuer.sign({ iss: issuer.url, aud: RESOURCE, exp, scope: 'call', ...claims });
    const identity = await verifier.verify(token);
    if (identity === undefined) throw new Error('invalid token');
    return identity.caller;
  };
}

describe('the caller of a token', () => {
  it.each([
    [{ sub: 'ada' }, 'jwt:ada'],
    [{ sub: 'ada', client_id: 'cron', azp: 'cron' }, 'jwt:ada'],
    [{ client_id: 'ada' }, 'jwt:client:ada'],
    [{ azp: 'ada' }, 'jwt:client:ada'],
    [{ sub: '', client_id: 'ada' }, 'jwt:client:ada'],
    [{ sub: 'client:ada' }, 'jwt:sub:client:ada'],
    [{ sub: 'sub:client:ada' }, 'jwt:sub:sub:client:ada'],
    [{ client_id: 'client:ada' }, 'jwt:client:client:ada'],
    [{ sub: 'auth0|client:ada' }, 'jwt:auth0|client:ada'],
  ])('with %j is %s', async (claims, id) => {
    const callerOf = await openCallers();
    expect(await callerOf(claims)).toMatchObject({ id });
  });

  it('is never that of another subject or of a client, whatever they are called', async () => {
    const callerOf = await openCallers();
    const name = fc
      .array(fc.constantFrom('client:', 'sub:', 'jwt:', 'ada', ':', 'Client:'), {
        minLength: 1,
        maxLength: 4,
      })
      .map((parts) => parts.join(''));
    const claim = fc.record({ isClient: fc.boolean(), name });
    const claimsOf = ({ isClient, name: who }: { isClient: boolean; name: string }) =>
      isClient ? { client_id: who } : { sub: who };
    await fc.assert(
      fc.asyncProperty(claim, claim, async (one, two) => {
        const [first, second] = await Promise.all([callerOf(claimsOf(one)), callerOf(claimsOf(two))]);
        const isSame = one.isClient === two.isClient && one.name === two.name;
        expect(first.id === second.id).toBe(isSame);
      }),
    );
  });
});

// requirement K2
it('neither the credentials nor the rules of a person apply to the client with that id', async () => {
  const up = {
    ...fixture('echo'),
    credentials: {
      'jwt:ada': { env: { API_KEY: 'key-of-person' } },
      'jwt:client:ada': { env: { API_KEY: 'key-of-client' } },
      '*': false,
    },
  };
  const only = { ...up, credentials: { 'jwt:ada': { env: { API_KEY: 'key-of-person' } }, '*': false } };
  const ruled = fixture('echo');
  const runtime = await createRuntime({
    servers: { up, only, ruled },
    rules: [
      { action: 'allow', server: ['up', 'only'] },
      { action: 'allow', caller: 'jwt:ada' },
      { action: 'deny', caller: '*' },
    ],
    environment: process.env,
  } as RuntimeOptions);
  onTestFinished(() => runtime.close());
  const keyOf = async (server: string, caller: Caller): Promise<unknown> => {
    const { content } = await runtime.callTool(server, 'env', {}, { caller });
    return JSON.parse(content[0]?.type === 'text' ? content[0].text : '{}').API_KEY;
  };
  const callerOf = await openCallers();
  const person = await callerOf({ sub: 'ada' });
  expect(await keyOf('up', person)).toBe('key-of-person');
  await keyOf('ruled', person);
  for (const claim of ['client_id', 'azp']) {
    const client = await callerOf({ [claim]: 'ada' });
    expect(await keyOf('up', client)).toBe('key-of-client');
    await expect(keyOf('only', client)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await expect(keyOf('ruled', client)).rejects.toMatchObject({
      code: expect.stringMatching(/DENIED|UNKNOWN/),
    });
  }
  const imitator = await callerOf({ sub: 'client:ada' });
  await expect(keyOf('up', imitator)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
});
