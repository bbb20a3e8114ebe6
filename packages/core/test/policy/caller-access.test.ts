/** Following a resource and connecting for a caller need the same permission as reading and calling. */
import { type Caller, createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TinyServer, toolNamed } from './tiny-server.js';

/** It counts its connections, and announces changes. */
class WatchedServer extends TinyServer {
  connections = 0;
  #wire: { send(message: unknown): Promise<void> } | undefined;

  override async connect(wire: never): Promise<void> {
    this.connections += 1;
    this.#wire = wire;
    await super.connect(wire);
  }

  touch(uri: string): Promise<void> | undefined {
    return this.#wire?.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } });
  }
}

const URI = 'x://a';
const caller = (...capabilities: string[]): Caller => ({ id: 'ada', capabilities });
const ALL = caller('mcp_integration');

async function open(
  options: RuntimeOptions = {},
  config: object = {},
): Promise<{ readonly runtime: Runtime; readonly server: WatchedServer }> {
  const server = new WatchedServer([toolNamed('look')]);
  const runtime = await createRuntime({
    defaultDecision: 'allow',
    ...options,
    servers: { s: server.config({ start: 'lazy', ...config }) },
  });
  onTestFinished(() => runtime.close());
  return { runtime, server };
}

const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error) => error.code,
  );

const CASES: readonly { what: string; who: Caller; rules?: RuntimeOptions['rules']; enabled?: boolean }[] = [
  { what: 'everything is allowed', who: ALL },
  { what: 'the server is allowed', who: caller('mcp:s') },
  { what: 'there is no capability for it', who: caller('mcp:other') },
  { what: 'a rule denies the server', who: ALL, rules: [{ action: 'deny', server: 's' }] },
  { what: 'a rule denies the caller', who: ALL, rules: [{ action: 'deny', caller: 'ada' }] },
  {
    what: 'a rule denies the resource',
    who: ALL,
    rules: [{ action: 'deny', server: 's', kind: 'resource', tool: 'x://*' }],
  },
  {
    what: 'a rule denies another resource',
    who: ALL,
    rules: [{ action: 'deny', server: 's', kind: 'resource', tool: 'y://*' }],
  },
  { what: 'a rule asks', who: ALL, rules: [{ action: 'ask', server: 's' }] },
  { what: 'the server is disabled', who: ALL, enabled: false },
  { what: 'the server is disabled and hidden', who: caller('mcp:other'), enabled: false },
];

describe('following a resource for a caller', () => {
  it.each(CASES)('ends like a read if $what', async ({ who, rules = [], enabled = true }) => {
    const { runtime, server } = await open({ rules }, { enabled });
    const read = await outcomeOf(runtime.readResource('s', URI, { caller: who }));
    await runtime.disconnectAll();
    const { connections } = server;
    const followed = await outcomeOf(runtime.subscribeResource('s', URI, () => {}, { caller: who }));
    expect(followed).toBe(read);
    if (followed !== 'done') expect(server.connections).toBe(connections);
  });

  it('is told of no change once the rules deny it', async () => {
    const { runtime, server } = await open();
    const told: string[] = [];
    await runtime.subscribeResource('s', URI, () => told.push('ada'), { caller: ALL });
    const again = (): Promise<unknown> =>
      new Promise<void>((resolve) => {
        void runtime.subscribeResource('s', URI, () => resolve()).then(() => server.touch(URI));
      });
    await again();
    expect(told).toEqual(['ada']);
    runtime.setRules([{ rule: { action: 'deny', caller: 'ada' }, from: 'user', index: 0 } as never]);
    await again();
    expect(told).toEqual(['ada']);
  });
});

describe('connecting for a caller', () => {
  it.each([
    { what: 'may use everything', who: ALL, code: 'done' },
    { what: 'may use the server', who: caller('mcp:s'), code: 'done' },
    { what: 'may use one tool of it', who: caller('mcp:s/look'), code: 'done' },
    { what: 'may use one tool of it, by the older name', who: caller('mcp_s_look'), code: 'done' },
    { what: 'may use another server', who: caller('mcp:other'), code: 'SERVER_UNKNOWN' },
    { what: 'may use nothing', who: caller(), code: 'SERVER_UNKNOWN' },
  ])('that $what ends with $code', async ({ who, code }) => {
    const { runtime, server } = await open({}, { share: 'agent' });
    expect(await outcomeOf(runtime.connect('s', { caller: who }))).toBe(code);
    expect(server.connections).toBe(code === 'done' ? 1 : 0);
  });

  it.each([
    { what: 'one tool', tool: 'look' },
    { what: 'some tools', tool: ['l?o*', 'other'] },
    { what: 'a tool with a star in its name', tool: 'a\\*b' },
    { what: 'a resource', tool: 'x://a', kind: 'resource' as const },
  ])('that the rules allow $what is done', async ({ what: _what, ...named }) => {
    const rules: RuntimeOptions['rules'] = [
      { action: 'allow', server: 's', ...named },
      { action: 'deny', server: 's' },
    ];
    const { runtime } = await open({ rules }, { share: 'agent' });
    expect(await outcomeOf(runtime.connect('s', { caller: ALL }))).toBe('done');
    const denied = await open({ rules: rules.slice(1) }, { share: 'agent' });
    expect(await outcomeOf(denied.runtime.connect('s', { caller: ALL }))).toBe('SERVER_UNKNOWN');
  });

  it('that the rules deny fails like a server that does not exist', async () => {
    const { runtime, server } = await open(
      { rules: [{ action: 'deny', caller: 'ada' }] },
      { share: 'agent' },
    );
    const failure = (name: string): Promise<string> =>
      runtime.connect(name, { caller: ALL }).then(
        () => 'connected',
        ({ code, message, hint }) => JSON.stringify([code, message.replace(`"${name}"`, '…'), hint]),
      );
    expect(await failure('s')).toBe(await failure('none'));
    expect(server.connections).toBe(0);
  });
});

describe('a disabled server', () => {
  const WAYS: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
    listResources: (runtime) => runtime.listResources('s'),
    listResourceTemplates: (runtime) => runtime.listResourceTemplates('s'),
    listPrompts: (runtime) => runtime.listPrompts('s'),
    subscribeResource: (runtime) => runtime.subscribeResource('s', URI, () => {}),
    connect: (runtime) => runtime.connect('s'),
    'connect for a caller': (runtime) => runtime.connect('s', { caller: ALL }),
    readResource: (runtime) => runtime.readResource('s', URI),
    refresh: (runtime) => runtime.refresh('s'),
    ping: (runtime) => runtime.ping('s'),
  };

  it.each(Object.keys(WAYS))('is not connected by %s', async (way) => {
    const { runtime, server } = await open({}, { enabled: false });
    expect(await outcomeOf(WAYS[way]?.(runtime) ?? Promise.resolve())).toBe('SERVER_DISABLED');
    expect(server.connections).toBe(0);
  });
});
