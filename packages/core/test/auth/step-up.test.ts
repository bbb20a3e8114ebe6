import type { TurnbuckleError } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

const WALL = { toolScopes: { add: 'tools:write', count: 'tools:admin' } };

describe.each([
  { era: 'legacy', expressLane: true },
  { era: 'legacy', expressLane: false },
  { era: 'modern', expressLane: true },
  { era: 'modern', expressLane: false },
] as const)('$era era, express lane $expressLane', ({ era, expressLane }) => {
  it('a call that needs more scopes prompts for them and continues', async () => {
    const { authorization, server, open, prompts, pages } = await setStage(
      {},
      { ...WALL, flags: ['--era', era] },
    );
    const runtime = await open(undefined, { signIn: prompts, expressLane });
    await runtime.signIn('web');
    expect(await echo(runtime)).toBe('hi');
    const result = await runtime.callTool('web', 'add', { a: 2, b: 3 });
    expect(result.structuredContent).toEqual({ sum: 5 });
    expect(pages.length).toBe(2);
    // Scopes that were granted before are requested again, so that they are not lost.
    expect(await echo(runtime)).toBe('hi');
    const asked = authorization.requestLog.requests.filter(({ route }) => route === 'authorize');
    expect(asked.map(({ parameters }) => parameters.scope)).toEqual([
      'tools:read offline_access',
      'tools:read tools:write offline_access',
    ]);
    expect(server.guard.requests.filter(({ tool }) => tool === 'add').map(({ status }) => status)).toEqual([
      403, 200,
    ]);
  });

  it('without a prompt the call reports what is missing, and nothing else is affected', async () => {
    const { server, open, prompts } = await setStage({}, { ...WALL, flags: ['--era', era] });
    const runtime = await open(undefined, { expressLane });
    await runtime.signIn('web', { prompts });
    const [refused, fine] = await Promise.allSettled([
      runtime.callTool('web', 'add', { a: 2, b: 3 }),
      echo(runtime),
    ]);
    expect(refused).toMatchObject({
      reason: { code: 'SCOPE_MISSING', hint: expect.stringContaining('turnbuckle login web --scope') },
    });
    expect(fine).toEqual({ status: 'fulfilled', value: 'hi' });
    expect(runtime.serverStatus('web')).toMatchObject({ status: 'connected' });
    expect(server.guard.requests.filter(({ tool }) => tool === 'add').length).toBe(1);
  });
});

it('many calls that need more scopes prompt once', async () => {
  const { open, prompts, pages } = await setStage({}, WALL);
  const runtime = await open(undefined, { signIn: prompts });
  await runtime.signIn('web');
  const sums = await Promise.all(
    Array.from({ length: 10 }, (_, a) => runtime.callTool('web', 'add', { a, b: 1 })),
  );
  expect(sums.map(({ structuredContent }) => structuredContent)).toEqual(
    Array.from({ length: 10 }, (_, a) => ({ sum: a + 1 })),
  );
  expect(pages.length).toBe(2);
});

it('configured scopes do not prevent the server from requiring more', async () => {
  const { open, prompts } = await setStage({}, WALL);
  const runtime = await open({ type: 'oauth', scopes: ['tools:read'] }, { signIn: prompts });
  await runtime.signIn('web');
  const result = await runtime.callTool('web', 'add', { a: 2, b: 3 });
  expect(result.structuredContent).toEqual({ sum: 5 });
});

it('an authorization server that grants less than requested does not cause endless prompts', async () => {
  const { authorization, server, open, prompts, pages } = await setStage({ scopes: ['tools:read'] }, WALL);
  const runtime = await open(undefined, { signIn: prompts });
  await runtime.signIn('web');
  await expect(runtime.callTool('web', 'add', { a: 2, b: 3 })).rejects.toMatchObject({ server: 'web' });
  expect(pages.length).toBeLessThanOrEqual(3);
  expect(server.guard.requests.filter(({ tool }) => tool === 'add').length).toBeLessThanOrEqual(3);
  expect(authorization.requestLog.count('token')).toBeLessThanOrEqual(3);
  expect(await echo(runtime)).toBe('hi');
});

it('a server that always requires more scopes does not cause endless prompts', async () => {
  const { server, open, prompts, pages } = await setStage({}, { toolScopes: { add: 'never:granted' } });
  const runtime = await open(undefined, { signIn: prompts });
  await runtime.signIn('web');
  await expect(runtime.callTool('web', 'add', { a: 2, b: 3 })).rejects.toMatchObject({ server: 'web' });
  expect(pages.length).toBeLessThanOrEqual(3);
  expect(server.guard.requests.filter(({ tool }) => tool === 'add').length).toBeLessThanOrEqual(3);
});

it('a cancelled caller does not end the sign-in that others wait for', async () => {
  const { open, prompts } = await setStage({}, WALL);
  let letIn = (): void => {};
  const ready = new Promise<void>((resolve) => {
    letIn = resolve;
  });
  const patient = {
    open: async (page: { server: string; url: string }) => {
      await ready;
      await prompts.open(page);
    },
  };
  const runtime = await open(undefined, { signIn: patient });
  await runtime.signIn('web', { prompts });
  const abort = new AbortController();
  const impatient = runtime.callTool('web', 'add', { a: 1, b: 1 }, { signal: abort.signal });
  const other = runtime.callTool('web', 'add', { a: 2, b: 3 });
  setTimeout(() => {
    abort.abort();
    setTimeout(letIn, 50);
  }, 200);
  await expect(impatient).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  expect((await other).structuredContent).toEqual({ sum: 5 });
});

it('the hint can be pasted into a shell, whatever the server asks for', async () => {
  const { server, open, prompts } = await setStage({}, WALL);
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  for (const scope of ['x$(touch /tmp/owned)', 'a`id`', "a'; id #", 'x" ; id ; "', 'a\\']) {
    server.guard.challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
    const error = await runtime
      .callTool('web', 'add', { a: 1, b: 1 })
      .catch((thrown: TurnbuckleError) => thrown);
    expect(error).toMatchObject({ code: 'SCOPE_MISSING' });
    expect('hint' in error && error.hint).not.toMatch(/[$`'\\;]|" /);
  }
});
