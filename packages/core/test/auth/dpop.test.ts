import { altered } from '@turnbuckle/testing/authorization-server';
import { describe, expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

describe.each([
  { era: 'legacy', expressLane: true },
  { era: 'legacy', expressLane: false },
  { era: 'modern', expressLane: true },
  { era: 'modern', expressLane: false },
] as const)('$era era, express lane $expressLane', ({ era, expressLane }) => {
  it.each(['required', 'nonce'] as const)(
    'tokens are bound to a key if the server requires it: %s',
    async (dpop) => {
      const { authorization, server, open, prompts } = await setStage(
        { nonces: dpop === 'nonce' },
        { dpop, flags: ['--era', era] },
      );
      const runtime = await open(undefined, { expressLane });
      await runtime.signIn('web', { prompts });
      const answers = await Promise.all(Array.from({ length: 10 }, () => echo(runtime)));
      expect(new Set(answers)).toEqual(new Set(['hi']));
      const [token = ''] = server.guard.admitted;
      expect((await authorization.inspect(token))?.boundTo).toMatch(/^[\w-]{43}$/);
    },
  );
});

it('the key survives the process: a new process renews with it', async () => {
  let ahead = 0;
  const { authorization, server, open, prompts } = await setStage({ nonces: true }, { dpop: 'nonce' });
  await (await open()).signIn('web', { prompts });
  const later = await open(undefined, { now: () => Date.now() + ahead });
  expect(await echo(later)).toBe('hi');
  ahead = 3_601_000;
  expect(await echo(later)).toBe('hi');
  expect(authorization.requestLog.granted('refresh_token')).toBe(1);
  const keys = [...server.guard.admitted].map(async (token) => (await authorization.inspect(token))?.boundTo);
  expect(new Set(await Promise.all(keys)).size).toBe(1);
});

it('a server that does not require proofs gets them if configured', async () => {
  const { authorization, server, open, prompts } = await setStage({}, { dpop: 'required' });
  const runtime = await open({ type: 'oauth', dpop: true });
  server.guard.challenge = 'Bearer scope="tools:read"';
  await runtime.signIn('web', { prompts });
  server.guard.challenge = undefined;
  expect(await echo(runtime)).toBe('hi');
  expect(authorization.requestLog.granted('authorization_code')).toBe(1);
});

it('the client credentials grant sends proofs too', async () => {
  const client = {
    client_id: 'robot',
    client_secret: 'secret',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  } as const;
  const { open } = await setStage({ clients: [client] }, { dpop: 'nonce' });
  const runtime = await open({ type: 'client-credentials', clientId: 'robot', clientSecret: 'secret' });
  expect(await echo(runtime)).toBe('hi');
});

it('rejects unbound tokens if bound ones are required', async () => {
  const { authorization, server, open, prompts } = await setStage({}, { dpop: 'required' });
  authorization.faults.set(
    'token',
    altered((answer) => ({ ...answer, token_type: 'Bearer' })),
  );
  const runtime = await open({ type: 'oauth', dpop: true });
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  expect(server.guard.requests.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
});
