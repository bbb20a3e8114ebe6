import { describe, expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

describe.each(['sse', 'websocket'] as const)('over %s', (transport) => {
  it.each([true, false])('calls work after a sign-in, express lane %s', async (expressLane) => {
    const { server, open, prompts, pages } = await setStage({}, { transport });
    const runtime = await open(undefined, { expressLane });
    await runtime.connectAll();
    expect(runtime.serverStatus('web')).toMatchObject({ status: 'needs-auth' });
    const requestsBefore = server.guard.requests.length;
    await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(server.guard.requests.length).toBe(requestsBefore);
    await runtime.signIn('web', { prompts });
    expect(await echo(runtime)).toBe('hi');
    expect(pages.length).toBe(1);
    expect(await echo(await open(undefined, { expressLane }))).toBe('hi');
  });

  it('an expired token is renewed before the connection opens', async () => {
    let ahead = 0;
    const { authorization, open, prompts } = await setStage({}, { transport });
    await (await open()).signIn('web', { prompts });
    ahead = 3_601_000;
    const runtime = await open(undefined, { now: () => Date.now() + ahead });
    expect(await echo(runtime)).toBe('hi');
    expect(authorization.requestLog.granted('refresh_token')).toBe(1);
  });

  it('a rejected token is replaced', async () => {
    const { authorization, server, open, prompts } = await setStage({}, { transport });
    await (await open()).signIn('web', { prompts });
    const [token = ''] = server.guard.admitted;
    await (await authorization.provider.AccessToken.find(token))?.destroy();
    expect(await echo(await open())).toBe('hi');
    expect(authorization.requestLog.granted('refresh_token')).toBe(1);
  });
});

it('over SSE a call that needs more scopes prompts for them', async () => {
  const { open, prompts, pages } = await setStage(
    {},
    { transport: 'sse', toolScopes: { add: 'tools:write' } },
  );
  const runtime = await open(undefined, { signIn: prompts });
  await runtime.signIn('web');
  expect((await runtime.callTool('web', 'add', { a: 2, b: 3 })).structuredContent).toEqual({ sum: 5 });
  expect(pages.length).toBe(2);
});
