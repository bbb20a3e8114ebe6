/** Callers with credentials of their own at one server: each acts as itself, and nobody else does. */
import { fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import { type Caller, createRuntime, type Runtime, type RuntimeOptions, type ServerInput } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startHeaderServer } from './header-server.js';
import { setStage } from './stage.js';

const agent = (id: string, identity?: string, run?: string): Caller => ({
  id,
  capabilities: ['mcp_integration'],
  ...(identity !== undefined && { identity }),
  ...(run !== undefined && { run }),
});

async function open(server: object, options: Partial<RuntimeOptions> = {}): Promise<Runtime> {
  const runtime = await createRuntime({
    servers: { up: server as ServerInput },
    defaultDecision: 'allow',
    environment: process.env,
    ...options,
  });
  onTestFinished(() => runtime.close());
  return runtime;
}

async function text(runtime: Runtime, tool: string, caller?: Caller, server = 'up'): Promise<string> {
  const { content } = await runtime.callTool(server, tool, {}, { caller });
  const [part] = content;
  return part?.type === 'text' ? part.text : '';
}

/** The API key of the process that answers this caller. */
const keyOf = async (runtime: Runtime, caller?: Caller): Promise<unknown> =>
  JSON.parse(await text(runtime, 'env', caller)).API_KEY;

const WITH_KEYS = {
  ...fixture('echo'),
  env: { API_KEY: 'key-of-host', REGION: 'eu' },
  credentials: { ada: { env: { API_KEY: 'key-of-ada' } }, bob: { env: { API_KEY: 'key-of-bob' } } },
};

describe('a local server with credentials for callers', () => {
  // requirement K2
  it('is started for each caller with its own variables, merged over those of the server', async () => {
    const runtime = await open(WITH_KEYS);
    const [ada, bob] = [agent('ada'), agent('bob')];
    expect(await Promise.all([keyOf(runtime, ada), keyOf(runtime, bob)])).toEqual([
      'key-of-ada',
      'key-of-bob',
    ]);
    expect(await keyOf(runtime)).toBe('key-of-host');
    expect(await keyOf(runtime, { ...agent('ada'), isHost: true })).toBe('key-of-host');
    expect(JSON.parse(await text(runtime, 'env', ada)).REGION).toBe('eu');
    expect(runtime.serverStatus('up').config?.share).toBe('agent');
  });

  it('is used with the credentials of the server by callers without an entry', async () => {
    const runtime = await open(WITH_KEYS);
    expect(await keyOf(runtime, agent('eve'))).toBe('key-of-host');
    for (const odd of ['*', 'constructor', 'toString', '__proto__', 'ADA', 'ada '])
      expect(await keyOf(runtime, agent(odd)), odd).toBe('key-of-host');
  });

  it('refuses callers without an entry if it is configured to', async () => {
    const runtime = await open({ ...WITH_KEYS, credentials: { ...WITH_KEYS.credentials, '*': false } });
    for (const odd of ['eve', '*', 'constructor'])
      await expect(keyOf(runtime, agent(odd)), odd).rejects.toMatchObject({
        code: 'AUTH_REQUIRED',
        server: 'up',
        hint: expect.stringContaining(`"credentials": { ${JSON.stringify(odd)}: `),
      });
    await expect(runtime.readResource('up', 'test://x', { caller: agent('eve') })).rejects.toMatchObject({
      code: 'AUTH_REQUIRED',
    });
    expect(await keyOf(runtime)).toBe('key-of-host');
    expect(await keyOf(runtime, agent('ada'))).toBe('key-of-ada');
    expect(runtime.serverStatus('up').connectionsApart).toBe(1);
  });

  it('never gives the open connection of a caller to another one of the same name', async () => {
    const runtime = await open(WITH_KEYS);
    const first = await text(runtime, 'pid', agent('ada', 'token 1'));
    const second = await text(runtime, 'pid', agent('ada', 'token 2'));
    expect(second).not.toBe(first);
    expect(await text(runtime, 'pid', agent('ada', 'token 1'))).toBe(first);
    await runtime.endRun(agent('ada', 'token 1'));
    await waitUntil(() => !isAlive(Number(first)));
    expect(await text(runtime, 'pid', agent('ada', 'token 2'))).toBe(second);
  });

  it('can have a connection for each session of a caller', async () => {
    const runtime = await open({ ...WITH_KEYS, share: 'session' });
    const [one, two] = [agent('ada', undefined, '1'), agent('ada', undefined, '2')];
    expect(await text(runtime, 'pid', one)).not.toBe(await text(runtime, 'pid', two));
    expect(await keyOf(runtime, one)).toBe('key-of-ada');
    expect(await keyOf(runtime, two)).toBe('key-of-ada');
  });

  it('cannot share one connection', async () => {
    const runtime = await open({ ...WITH_KEYS, share: 'shared' });
    expect(runtime.serverStatus('up').problem).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('servers.up.share: callers with their own "credentials"'),
    });
  });

  it('works for a caller although the server itself cannot be started', async () => {
    const failing = {
      ...WITH_KEYS,
      env: { API_KEY: '${MISSING}' },
    };
    const resolve: RuntimeOptions['resolve'] = async (_name, config) => {
      if (JSON.stringify(config).includes('MISSING')) throw new Error('MISSING is not set');
      return config;
    };
    const runtime = await open(failing, { resolve });
    await expect(keyOf(runtime)).rejects.toThrow('MISSING');
    expect(await keyOf(runtime, agent('ada'))).toBe('key-of-ada');
    await expect(text(runtime, 'nothing', agent('ada'))).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
    await expect(keyOf(runtime, agent('eve'))).rejects.toThrow('MISSING');
  });

  it('keeps the failures of a caller from the others', async () => {
    const script = 'if (process.env.API_KEY === "bad") process.exit(3); await import(process.argv[1]);';
    const { command, args } = fixture('echo');
    const runtime = await open(
      {
        command,
        args: ['--input-type=module', '-e', script, ...args],
        start: 'lazy',
        env: { API_KEY: 'good' },
        credentials: { ada: { env: { API_KEY: 'bad' } }, bob: { env: { API_KEY: 'fine' } } },
      },
      { breaker: { failures: 2 } },
    );
    for (let time = 0; time < 3; time += 1) await expect(keyOf(runtime, agent('ada'))).rejects.toThrow();
    await expect(keyOf(runtime, agent('ada'))).rejects.toMatchObject({ code: 'BREAKER_OPEN' });
    expect(await keyOf(runtime, agent('bob'))).toBe('fine');
    expect(await keyOf(runtime)).toBe('good');
    expect(runtime.serverStatus('up').breaker).toBe('closed');
  });

  it('tells each caller of changes on its own connection only', async () => {
    const runtime = await open({ ...WITH_KEYS, credentials: { ...WITH_KEYS.credentials, '*': false } });
    const told: string[] = [];
    const follow = (name: string | undefined) =>
      runtime.subscribeResource('up', 'fixture://watched', () => told.push(name ?? 'host'), {
        caller: name === undefined ? undefined : agent(name),
      });
    const stopAda = await follow('ada');
    await follow('bob');
    await follow(undefined);
    await expect(follow('eve')).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    for (const name of ['ada', 'bob']) {
      await text(runtime, 'touch', agent(name));
      await waitUntil(() => told.includes(name));
    }
    await text(runtime, 'touch');
    await waitUntil(() => told.includes('host'));
    expect(told).toEqual(['ada', 'bob', 'host']);
    await stopAda();
    await text(runtime, 'touch', agent('ada'));
    await text(runtime, 'touch', agent('bob'));
    await waitUntil(() => told.length > 3);
    expect(told).toEqual(['ada', 'bob', 'host', 'bob']);
  });

  it('shows none of the values', async () => {
    const runtime = await open(WITH_KEYS);
    await keyOf(runtime, agent('ada'));
    const shown = JSON.stringify(runtime.status());
    expect(shown).toContain('"ada"');
    expect(shown).not.toMatch(/key-of-/);
    expect(runtime.redact('it is key-of-ada')).not.toContain('key-of-ada');
  });
});

/** The subject of the token with which a call of this caller arrived. */
const subjectOf = async (runtime: Runtime, caller?: Caller): Promise<unknown> =>
  JSON.parse(await text(runtime, 'meta', caller, 'web')).subject;

describe('a server with sign-in and accounts for callers', () => {
  const credentials = {
    ada: { auth: { type: 'oauth' } },
    bob: { auth: { type: 'oauth', account: 'of bob' } },
  };

  async function openWeb(options: { server?: object; agents?: object } = {}) {
    const stage = await setStage({}, { tellsSubject: true });
    const servers = { web: { url: stage.server.url, credentials, ...options.server } };
    const openRuntime = (more: Partial<RuntimeOptions> = {}) =>
      stage.open(undefined, { servers, defaultDecision: 'allow', ...more } as Partial<RuntimeOptions>);
    const signIn = async (runtime: Runtime, who: string, name?: string): Promise<boolean> => {
      stage.authorization.person.name = who;
      return runtime.signIn('web', { agent: name, prompts: stage.prompts });
    };
    return { ...stage, openRuntime, signIn };
  }

  // requirement K2
  it('acts for each caller as the account that was signed in for it', async () => {
    const { openRuntime, signIn } = await openWeb();
    const runtime = await openRuntime();
    await expect(subjectOf(runtime, agent('ada'))).rejects.toMatchObject({
      code: 'AUTH_REQUIRED',
      hint: 'Sign in: turnbuckle login web --agent ada',
    });
    expect(await signIn(runtime, 'Ada', 'ada')).toBe(true);
    expect(await signIn(runtime, 'Ada', 'ada')).toBe(false);
    expect(await subjectOf(runtime, agent('ada'))).toBe('Ada');
    await expect(subjectOf(runtime, agent('bob'))).rejects.toMatchObject({
      hint: 'Sign in: turnbuckle login web --agent bob',
    });
    await expect(subjectOf(runtime)).rejects.toMatchObject({ hint: 'Sign in: turnbuckle login web' });
    await signIn(runtime, 'Bob', 'bob');
    await signIn(runtime, 'Root');
    const callers = [agent('ada'), agent('bob'), undefined, agent('eve')];
    const all = (): Promise<unknown[]> => Promise.all(callers.map((one) => subjectOf(runtime, one)));
    expect(await all()).toEqual(['Ada', 'Bob', 'Root', 'Root']);
    // Another process finds the same accounts in the vault.
    const other = await openRuntime();
    expect(await subjectOf(other, agent('bob'))).toBe('Bob');
    expect(await subjectOf(other, agent('ada'))).toBe('Ada');
    expect(await other.signInStatus('web', { agent: 'bob' })).toMatchObject({
      signedIn: true,
      account: 'of bob',
    });
    expect(await other.signInStatus('web', { agent: 'ada' })).toMatchObject({ account: 'agent:ada' });
    expect(await other.signInStatus('web')).toMatchObject({ account: 'default' });
  });

  it('signs out one caller and leaves the others signed in', async () => {
    const { openRuntime, signIn } = await openWeb();
    const runtime = await openRuntime();
    await signIn(runtime, 'Ada', 'ada');
    await signIn(runtime, 'Bob', 'bob');
    expect(await subjectOf(runtime, agent('ada'))).toBe('Ada');
    expect(await subjectOf(runtime, agent('bob'))).toBe('Bob');
    expect(await runtime.signOut('web', { agent: 'ada' })).toEqual({ found: true, revoked: true });
    await expect(subjectOf(runtime, agent('ada'))).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(await subjectOf(runtime, agent('bob'))).toBe('Bob');
    expect(await runtime.signOut('web')).toEqual({ found: false, revoked: false });
  });

  it('asks for the sign-in of the caller in the middle of a call', async () => {
    const { openRuntime, authorization, prompts } = await openWeb();
    const agents: Array<string | undefined> = [];
    const runtime = await openRuntime({
      signIn: {
        open: (page) => {
          agents.push(page.agent);
          return prompts.open(page);
        },
      },
    });
    authorization.person.name = 'Bob';
    expect(await subjectOf(runtime, agent('bob'))).toBe('Bob');
    expect(agents).toEqual(['bob']);
    expect(await runtime.signInStatus('web')).toMatchObject({ signedIn: false });
  });

  it.each([
    ['an Authorization header', { headers: { AUTHORIZATION: 'Bearer of-host' } }],
    ['a token', { auth: { type: 'bearer', token: 'of-host' } }],
  ])('does not act as the server itself before a caller signs in, if that has %s', async (_, server) => {
    const { openRuntime, server: web } = await openWeb({ server });
    const runtime = await openRuntime();
    await expect(subjectOf(runtime, agent('ada'))).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    const sent = web.guard.requests.map(({ authorization }) => authorization);
    expect(sent.length).toBeGreaterThan(0);
    // The shared connection is not opened: the caller has credentials of its own.
    expect(sent.every((one) => one === undefined)).toBe(true);
  });

  it.each(['sse', 'websocket'] as const)('works over %s', async (transport) => {
    const stage = await setStage({}, { transport });
    const runtime = await stage.open(undefined, {
      servers: { web: { type: transport, url: stage.server.url, start: 'lazy', credentials } },
      defaultDecision: 'allow',
    } as Partial<RuntimeOptions>);
    const seen = async (caller: Caller): Promise<unknown> => {
      await runtime.callTool('web', 'echo', { text: 'x' }, { caller });
      return stage.server.guard.subjectOf(stage.server.guard.requests.at(-1)?.authorization);
    };
    for (const name of ['ada', 'bob']) {
      stage.authorization.person.name = `person ${name}`;
      await runtime.signIn('web', { agent: name, prompts: stage.prompts });
      expect(await seen(agent(name))).toBe(`person ${name}`);
    }
  });

  it('has no sign-in for an agent without credentials of its own', async () => {
    const { openRuntime, signIn } = await openWeb();
    const runtime = await openRuntime();
    const error = { code: 'ARGUMENTS_INVALID', message: expect.stringContaining('"eve" has no credentials') };
    await expect(signIn(runtime, 'Eve', 'eve')).rejects.toMatchObject(error);
    await expect(runtime.signInStatus('web', { agent: 'eve' })).rejects.toMatchObject(error);
    await expect(runtime.signOut('web', { agent: '*' })).rejects.toMatchObject({ code: 'ARGUMENTS_INVALID' });
  });
});

describe('a remote server with headers for callers', () => {
  const sentFor = async (runtime: Runtime, caller?: Caller): Promise<Record<string, string>> =>
    JSON.parse(await text(runtime, 'headers', caller));

  // requirement K2
  it.each([
    ['a header', { headers: { Authorization: 'Bearer of-host', 'X-Team': 'eu' } }],
    ['a token', { auth: { type: 'bearer', token: 'of-host' }, headers: { 'X-Team': 'eu' } }],
  ])('sends those of the caller instead of %s of the server', async (_, own) => {
    const url = await startHeaderServer();
    const runtime = await open({
      url,
      ...own,
      credentials: {
        ada: { headers: { authorization: 'Bearer of-ada' } },
        bob: { auth: { type: 'bearer', token: 'of-bob' }, headers: { 'x-team': 'us' } },
        cyd: { auth: { type: 'api-key', apiKey: 'key-of-cyd' } },
      },
    });
    const sent = (name?: string) => sentFor(runtime, name === undefined ? undefined : agent(name));
    expect(await sent()).toMatchObject({ authorization: 'Bearer of-host', 'x-team': 'eu' });
    expect(await sent('ada')).toMatchObject({ authorization: 'Bearer of-ada', 'x-team': 'eu' });
    expect(await sent('bob')).toMatchObject({ authorization: 'Bearer of-bob', 'x-team': 'us' });
    const cyd = await sent('cyd');
    expect(cyd).toMatchObject({ 'x-api-key': 'key-of-cyd', 'x-team': 'eu' });
    expect(cyd).not.toHaveProperty('authorization');
  });

  it.each([
    { auth: { type: 'api-key', apiKey: 'key-of-host' }, header: 'x-api-key' },
    { auth: { type: 'api-key', apiKey: 'key-of-host', headerName: 'X-Key' }, header: 'x-key' },
    { auth: { type: 'bearer', token: 'key-of-host' }, header: 'authorization' },
  ])('sends no $header of the server beside the login of a caller', async ({ auth, header }) => {
    const runtime = await open({
      url: await startHeaderServer(),
      auth,
      credentials: {
        ada: { headers: { Authorization: 'Bearer of-ada' } },
        bob: { auth: { type: 'bearer', token: 'of-bob' } },
        cyd: { headers: { [header]: 'of-cyd' } },
        dan: { headers: { 'x-team': 'us' } },
      },
    });
    for (const name of ['ada', 'bob', 'cyd']) {
      const sent = JSON.stringify(await sentFor(runtime, agent(name)));
      expect(sent).toContain(`of-${name}`);
      expect(sent).not.toContain('key-of-host');
    }
    // Only a login replaces a login.
    for (const caller of [undefined, agent('dan')])
      expect((await sentFor(runtime, caller))[header]).toContain('key-of-host');
  });

  it('sends no user name and password of the URL for a caller with a login of its own', async () => {
    const url = (await startHeaderServer()).replace('//', '//host:password@');
    const runtime = await open({
      url,
      credentials: { ada: { headers: { Authorization: 'Bearer of-ada' } }, bob: { headers: { 'x-b': '1' } } },
    });
    expect((await sentFor(runtime)).authorization).toMatch(/^Basic /);
    expect((await sentFor(runtime, agent('ada'))).authorization).toBe('Bearer of-ada');
    expect((await sentFor(runtime, agent('bob'))).authorization).toMatch(/^Basic /);
  });

  it('sends the token of the caller to a hosted proxy', async () => {
    const runtime = await open({
      type: 'proxy',
      baseUrl: await startHeaderServer(),
      id: 'one',
      token: 'of-host',
      credentials: { ada: { token: 'of-ada' }, bob: { headers: { Authorization: 'Bearer of-bob' } } },
    });
    expect((await sentFor(runtime)).authorization).toBe('Bearer of-host');
    expect((await sentFor(runtime, agent('ada'))).authorization).toBe('Bearer of-ada');
    expect((await sentFor(runtime, agent('bob'))).authorization).toBe('Bearer of-bob');
  });
});
