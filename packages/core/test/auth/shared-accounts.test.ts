/** Who uses which sign-in of a server, and that a sign-out or another sign-in takes effect for all of them at once. */
import { waitUntil } from '@turnbuckle/testing';
import type { Caller, Runtime, RuntimeOptions, SignInPrompts } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { type Stage, setStage } from './stage.js';

const agent = (id: string): Caller => ({ id, capabilities: ['mcp_integration'] });

/** JWTs cannot be revoked: whoever still has one acts with it. */
const IRREVOCABLE = { format: 'jwt' } as const;

interface Opened extends Stage {
  readonly runtime: Runtime;
  /** The agents that pages were shown for. */
  readonly pageAgents: Array<string | undefined>;
  signIn(person: string, name?: string, server?: string): Promise<boolean>;
  /** Who acts at the server for this caller; its error otherwise. */
  actor(name?: string, server?: string): Promise<unknown>;
}

async function openWeb(
  server: object,
  { hasPrompts = false, transport = 'http' }: { hasPrompts?: boolean; transport?: 'http' | 'websocket' } = {},
): Promise<Opened> {
  const stage = await setStage(IRREVOCABLE, { tellsSubject: true, transport });
  const web = { type: transport, url: stage.server.url, ...server };
  const pageAgents: Array<string | undefined> = [];
  const prompts: SignInPrompts = {
    open: (page) => {
      pageAgents.push(page.agent);
      return stage.prompts.open(page);
    },
  };
  const runtime = await stage.open(undefined, {
    servers: { web, twin: web },
    defaultDecision: 'allow',
    ...(hasPrompts && { signIn: prompts }),
  } as Partial<RuntimeOptions>);
  const signIn = (person: string, name?: string, at = 'web'): Promise<boolean> => {
    stage.authorization.person.name = person;
    return runtime.signIn(at, { agent: name, prompts, force: true });
  };
  const actor = async (name?: string, at = 'web'): Promise<unknown> => {
    try {
      const caller = name === undefined ? undefined : agent(name);
      const { content } = await runtime.callTool(at, 'meta', {}, { caller });
      return JSON.parse(content[0]?.type === 'text' ? content[0].text : '{}').subject;
    } catch (error) {
      return error;
    }
  };
  return { ...stage, runtime, pageAgents, signIn, actor };
}

const NOT_SIGNED_IN = { code: 'AUTH_REQUIRED', hint: 'Sign in: turnbuckle login web' };

/** Entries that say nothing about how the agent authenticates. */
const WITHOUT_SIGN_IN: ReadonlyArray<readonly [string, object]> = [
  ['only a header', { ada: { headers: { 'X-Team': 'a' } } }],
  ['nothing', { ada: {} }],
];

describe.each(WITHOUT_SIGN_IN)('an agent whose credentials are %s', (_, credentials) => {
  it('uses the sign-in of the server, like everyone else', async () => {
    const { actor, signIn, runtime } = await openWeb({ credentials });
    expect(await actor('ada')).toMatchObject(NOT_SIGNED_IN);
    await signIn('Root');
    expect(await Promise.all([actor('ada'), actor('eve'), actor()])).toEqual(['Root', 'Root', 'Root']);
    expect(await runtime.signInStatus('web')).toMatchObject({ signedIn: true, account: 'default' });
  });

  it('has no sign-in of its own that could be started, shown or ended', async () => {
    const { actor, signIn, runtime } = await openWeb({ credentials });
    await signIn('Root');
    const refused = {
      code: 'ARGUMENTS_INVALID',
      message:
        'Agent "ada" has no account of its own on server "web". It uses the account configured for the server.',
      hint: expect.stringContaining('omit the agent'),
    };
    await expect(signIn('Ada', 'ada')).rejects.toMatchObject(refused);
    await expect(runtime.signOut('web', { agent: 'ada' })).rejects.toMatchObject(refused);
    await expect(runtime.signInStatus('web', { agent: 'ada' })).rejects.toMatchObject(refused);
    expect(await Promise.all([actor('ada'), actor()])).toEqual(['Root', 'Root']);
  });

  it('causes a sign-in of the server in the middle of its call', async () => {
    const { actor, pageAgents, authorization } = await openWeb(
      { credentials, start: 'lazy' },
      { hasPrompts: true },
    );
    authorization.person.name = 'Root';
    expect(await actor('ada')).toBe('Root');
    expect(pageAgents).toEqual([undefined]);
    expect(await Promise.all([actor('eve'), actor()])).toEqual(['Root', 'Root']);
    expect(pageAgents).toEqual([undefined]);
  });
});

describe('an agent whose header replaces the login of the server', () => {
  const ofServer = { type: 'api-key', apiKey: 'of-host' };
  const key = (value: string): object => ({ headers: { 'X-API-Key': value } });

  it('never signs in to an account that others use too', async () => {
    const server = { auth: ofServer, start: 'lazy', credentials: { ada: key('of-ada'), bob: key('of-bob') } };
    const { actor, pageAgents, runtime } = await openWeb(server, { hasPrompts: true });
    for (const name of ['ada', 'bob']) expect(await actor(name)).toMatchObject({ code: 'AUTH_FAILED' });
    expect(pageAgents).toEqual([]);
    expect(await runtime.signInStatus('web', { agent: 'ada' })).toMatchObject({ type: 'none' });
  });
});

/** Who uses an account: the agent, and the server. */
const ADA = ['ada', 'web'] as const;
const BOB = ['bob', 'web'] as const;
const HOST = [undefined, 'web'] as const;
const TWIN = [undefined, 'twin'] as const;
const team = { auth: { type: 'oauth', account: 'team' } };
const SHARED = [
  [
    'an agent without a sign-in of its own',
    { credentials: { ada: { headers: { 'X-Team': 'a' } } } },
    HOST,
    ADA,
  ],
  ['two agents with one account', { credentials: { ada: team, bob: team } }, ADA, BOB],
  ['an agent with the account of the server', { ...team, credentials: { ada: team } }, ADA, HOST],
  ['the server with the account of an agent', { ...team, credentials: { ada: team } }, HOST, ADA],
  ['two servers with one URL', {}, HOST, TWIN],
] as const;

describe.each(SHARED)('an account that is shared: %s', (_, server, [first, at], [second, there]) => {
  it.each(['http', 'websocket'] as const)('has one sign-out for all, over %s', async (transport) => {
    const { actor, signIn, runtime } = await openWeb(server, { transport });
    await signIn('Root', first);
    const actors = (): Promise<unknown[]> => Promise.all([actor(first, at), actor(second, there)]);
    const used = transport === 'http' ? ['Root', 'Root'] : [undefined, undefined];
    expect(await actors()).toEqual(used);
    expect(await runtime.signOut(at, { agent: first })).toEqual({ found: true, revoked: false });
    expect(await actors()).toMatchObject([{ code: 'AUTH_REQUIRED' }, { code: 'AUTH_REQUIRED' }]);
  });

  it('is somebody else for all after another sign-in', async () => {
    const { actor, signIn } = await openWeb(server);
    await signIn('Root', first);
    const actors = (): Promise<unknown[]> => Promise.all([actor(first, at), actor(second, there)]);
    expect(await actors()).toEqual(['Root', 'Root']);
    await signIn('Second', first);
    expect(await actors()).toEqual(['Second', 'Second']);
  });

  it('is not used on links that were opened before another sign-in', async () => {
    const { signIn, actor, server: web } = await openWeb(server, { transport: 'websocket' });
    await signIn('Root', first);
    const callBoth = (): Promise<unknown> => Promise.all([actor(first, at), actor(second, there)]);
    await callBoth();
    await signIn('Second', first);
    await callBoth();
    const opened = web.guard.requests.map(({ authorization }) => web.guard.subjectOf(authorization));
    const asSecond = (await Promise.all(opened)).filter((subject) => subject === 'Second');
    // The sign-in of an agent is tried on a link of its own.
    expect(asSecond.length).toBe(first === undefined ? 2 : 3);
  });
});

describe('a sign-out', () => {
  it('leaves the connections of other accounts open', async () => {
    const credentials = { ada: { auth: { type: 'oauth' } }, bob: { headers: { 'X-Team': 'b' } } };
    const { actor, signIn, runtime, server } = await openWeb({ credentials });
    await signIn('Root');
    await signIn('Ada', 'ada');
    expect(await Promise.all([actor('ada'), actor('bob'), actor()])).toEqual(['Ada', 'Root', 'Root']);
    await runtime.signOut('web');
    const before = server.guard.requests.length;
    expect(await actor('ada')).toBe('Ada');
    // The call alone, without a handshake.
    expect(server.guard.requests.length).toBe(before + 1);
    expect(await actor('bob')).toMatchObject(NOT_SIGNED_IN);
  });

  it('takes effect although the tokens were being read at that moment', async () => {
    const { open, prompts } = await setStage(IRREVOCABLE, { tellsSubject: true });
    const entries = new Map<string, string>();
    let release = (): void => {};
    let pausedReads = 0;
    let nextRead = Promise.resolve();
    const vault = {
      get: async (name: string) => {
        const found = entries.get(name);
        const read = nextRead;
        nextRead = Promise.resolve();
        pausedReads += 1;
        await read;
        return found;
      },
      set: async (name: string, value: string) => void entries.set(name, value),
      delete: async (name: string) => entries.delete(name),
      list: async () => [...entries.keys()].map((name) => ({ name })),
    };
    const first = await open(undefined, { vault });
    await first.signIn('web', { prompts });
    const second = await open({ type: 'oauth' }, { vault });
    pausedReads = 0;
    nextRead = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reading = second.callTool('web', 'meta', {}).catch((error: unknown) => error);
    await waitUntil(() => pausedReads === 1);
    expect(await second.signOut('web')).toEqual({ found: true, revoked: false });
    release();
    await reading;
    await expect(second.callTool('web', 'meta', {})).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  });
});
