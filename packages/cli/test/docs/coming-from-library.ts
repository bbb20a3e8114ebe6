/** What docs/coming-from.md says about the library, each row tried. */
import { fixture, startFixture, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';
import { expect, onTestFinished } from 'vitest';

export type Attempt = () => Promise<void>;

/** A runtime with the server `demo`, connected. */
export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const home = await temporaryDirectory();
  const servers = { demo: fixture('echo') };
  const runtime = await createRuntime({ stateDir: home.path, servers, ...options });
  onTestFinished(async () => {
    await runtime.close();
    await home.remove();
  });
  await runtime.connectAll();
  return runtime;
}

const withRuntime =
  (check: (runtime: Runtime) => unknown, options?: RuntimeOptions): Attempt =>
  async () => {
    await check(await openRuntime(options));
  };

const AGENT = { id: 'agent', capabilities: ['mcp_demo'] };
const ADD = { a: 2, b: 3 };
const statusOf = (runtime: Runtime): string => runtime.serverStatus('demo').status;

export const RUNTIME_ROWS: Readonly<Record<string, Attempt>> = {
  '`initialize(serverConfigs)`': async () => {
    const runtime = await createRuntime({ servers: { demo: fixture('echo') } });
    onTestFinished(() => runtime.close());
    expect(statusOf(runtime)).toBe('pending');
    await runtime.connectAll();
    expect(statusOf(runtime)).toBe('connected');
  },
  '`connectAll()`': withRuntime(
    (runtime) => expect(runtime.status().map(({ status }) => status)).toEqual(['failed', 'connected']),
    { servers: { broken: { command: 'no-such-command-anywhere' }, demo: fixture('echo') } },
  ),
  '`disconnect(serverName)`': withRuntime(async (runtime) => {
    const before = runtime.tools().length;
    await runtime.disconnect('demo');
    expect([statusOf(runtime), runtime.tools().length]).toEqual(['pending', before]);
    await runtime.callTool('demo', 'add', ADD);
    expect(statusOf(runtime)).toBe('connected');
  }),
  '`DisconnectMCPServer(serverName)`': withRuntime(async (runtime) => {
    await runtime.disconnect('demo');
    expect(statusOf(runtime)).toBe('pending');
  }),
  '`reconnect(name)`': withRuntime(async (runtime) => {
    const { pid } = runtime.serverStatus('demo');
    await runtime.reconnect('demo');
    expect(runtime.serverStatus('demo').pid).not.toBe(pid);
  }),
  '`toggle(name, enabled)`': withRuntime(async (runtime) => {
    const { pid } = runtime.serverStatus('demo');
    await runtime.toggle('demo', false);
    expect([runtime.tools(), runtime.serverStatus('demo').pid]).toEqual([[], pid]);
  }),
  '`setServers(servers)`': withRuntime(async (runtime) =>
    expect(await runtime.setServers({ other: fixture('echo') })).toEqual({
      added: ['other'],
      removed: ['demo'],
      changed: [],
      errors: {},
    }),
  ),
  '`refresh(serverName)`': withRuntime((runtime) => runtime.refresh('demo').then(() => runtime.refresh())),
  '`RefreshMCPTools(serverName)`': withRuntime((runtime) => runtime.refresh('demo')),
  '`getClient(serverName)`': withRuntime(async (runtime) => {
    expect(runtime).not.toHaveProperty('getClient');
    expect(await runtime.callTool('demo', 'add', ADD)).toMatchObject({ structuredContent: { sum: 5 } });
  }),
  '`isConnected()`': withRuntime((runtime) => expect(statusOf(runtime)).toBe('connected')),
  '`getServerInfo()`': withRuntime((runtime) =>
    expect(runtime.serverStatus('demo').serverInfo).toMatchObject({ name: 'fixture-echo' }),
  ),
  '`ListMCPServers()`': withRuntime((runtime) => expect(runtime.serverNames()).toEqual(['demo', 'later']), {
    servers: { demo: fixture('echo'), later: { ...fixture('echo'), start: 'lazy' } },
  }),
  '`getServerStatus()`, `GetMCPClientStatus()`': withRuntime((runtime) =>
    expect(runtime.status()).toMatchObject([{ name: 'demo', status: 'connected' }]),
  ),
  '`status()`, `serverStatus(name)`': withRuntime((runtime) =>
    expect(runtime.status().map(({ name }) => name)).toEqual([runtime.serverStatus('demo').name]),
  ),
  '`listTools()`': withRuntime((runtime) =>
    expect(runtime.catalog.listByServer('demo')).toEqual(runtime.tools()),
  ),
  '`discoverTools()`': withRuntime((runtime) =>
    expect(runtime.tools().map(({ tool }) => tool)).toContain('add'),
  ),
  '`callTool(name, args)`': withRuntime(async (runtime) =>
    expect(await runtime.callTool('demo', 'add', ADD)).toMatchObject({ structuredContent: { sum: 5 } }),
  ),
  '`invokeTool(toolName, params)`': withRuntime(async (runtime) => {
    expect(await runtime.execute('mcp__demo__nothing')).toMatchObject({ success: false });
    await expect(runtime.call({ tool: 'mcp__demo__nothing' })).rejects.toMatchObject({
      code: 'TOOL_UNKNOWN',
    });
  }),
  '`ExecuteTool(toolName, input)`': withRuntime(async (runtime) =>
    expect(await runtime.execute('mcp__demo__add', ADD)).toMatchObject({
      success: true,
      result: { sum: 5 },
      error: undefined,
      mcp: { server: 'demo', tool: 'add' },
    }),
  ),
  '`listResources(server)`, `readResource(server, uri)`': withRuntime(async (runtime) => {
    const [first] = await runtime.listResources('demo');
    expect((await runtime.readResource('demo', String(first?.uri))).contents).toHaveLength(1);
  }),
};

const NATIVE = { name: 'own', inputSchema: { type: 'object' }, run: () => 'native' };

export const REGISTRY_ROWS: Readonly<Record<string, Attempt>> = {
  '`Register(tool)`': withRuntime(async (runtime) => {
    runtime.registerTool(NATIVE);
    expect(await runtime.execute('own')).toMatchObject({ result: 'native' });
  }),
  '`RegisterServerTools`, `UnregisterServerTools`': withRuntime(async (runtime) => {
    expect(runtime.tools()).not.toEqual([]);
    await runtime.setServers({});
    expect(runtime.tools()).toEqual([]);
  }),
  '`Get(name)`': withRuntime((runtime) => {
    expect(runtime.catalog.get('mcp__demo__add')?.tool).toBe('add');
    expect(runtime.catalog.get('nothing')).toBeUndefined();
  }),
  '`List()`': withRuntime((runtime) => expect(runtime.catalog.list()).toEqual(runtime.tools())),
  '`Count()`': withRuntime((runtime) => expect(runtime.catalog.count()).toBe(runtime.tools().length)),
  '`ListByServer(server)`': withRuntime((runtime) => {
    expect(runtime.catalog.listByServer('demo')).not.toEqual([]);
    expect(runtime.catalog.listByServer('other')).toEqual([]);
  }),
  '`IsMCPTool(name)`': withRuntime((runtime) => {
    runtime.registerTool(NATIVE);
    expect(['mcp__demo__add', 'own'].map((name) => runtime.catalog.isMcpTool(name))).toEqual([true, false]);
  }),
  '`GetMCPToolInfo(name)`': withRuntime((runtime) =>
    expect(runtime.catalog.info('mcp__demo__add')).toMatchObject({
      server: 'demo',
      originalName: 'add',
      schema: { type: 'object' },
      fingerprint: expect.any(String),
    }),
  ),
  '`GetToolsForAgent(agent)`': withRuntime((runtime) => {
    expect(runtime.toolsForAgent(AGENT)).toEqual(runtime.tools());
    expect(runtime.toolsForAgent({ id: 'agent', capabilities: [] })).toEqual([]);
  }),
  '`CanExecute(agent)`': withRuntime((runtime) => {
    const decide = (capabilities: string[]) =>
      runtime.decide({ server: 'demo', tool: 'add', caller: { id: 'agent', capabilities } });
    expect(decide(['mcp_demo'])).toMatchObject({ action: 'ask', reason: expect.any(String) });
    expect(decide([]).action).toBe('deny');
  }),
  '`Execute(name, input)`': withRuntime(async (runtime) =>
    expect(await runtime.execute('mcp__demo__add', ADD)).toMatchObject({ result: { sum: 5 } }),
  ),
};

const named = (naming: RuntimeOptions['naming'], name: string): Attempt =>
  withRuntime((runtime) => expect(runtime.catalog.get(name)).toMatchObject({ server: 'demo', tool: 'add' }), {
    naming,
  });
const grants = (capability: string, expected: number | 'all'): Attempt =>
  withRuntime((runtime) => {
    const seen = runtime.toolsForAgent({ id: 'agent', capabilities: [capability] }).length;
    expect(seen).toBe(expected === 'all' ? runtime.tools().length : expected);
  });

export const NAME_ROWS: Readonly<Record<string, Attempt>> = {
  '`mcp__server__tool`': named(undefined, 'mcp__demo__add'),
  '`mcp_server_tool`': named('mcp_server_tool', 'mcp_demo_add'),
  '`server_tool`': named('server_tool', 'demo_add'),
  '`server:tool`': withRuntime((runtime) =>
    expect(runtime.catalog.get('mcp__demo__add')?.displayName).toBe('demo:add'),
  ),
  '`[MCP:server]` before the description': withRuntime(
    (runtime) => expect(runtime.catalog.get('mcp__demo__add')?.description).toMatch(/^\[MCP:demo\] /),
    { describePrefix: true },
  ),
  '`ListMcpResources`, `ReadMcpResource`': withRuntime(
    async (runtime) => {
      for (const name of ['ListMcpResources', 'ReadMcpResource'])
        expect((await runtime.execute(name)).failure?.code).toBe('TOOL_UNKNOWN');
      expect((await runtime.execute('list_mcp_resources')).success).toBe(true);
      expect(runtime.catalog.get('read_mcp_resource')).toBeDefined();
    },
    { resourceTools: true },
  ),
  '`mcp_integration`': grants('mcp_integration', 'all'),
  '`mcp_github`': grants('mcp_demo', 'all'),
  '`mcp_github_create_issue`': grants('mcp_demo_add', 1),
};

/** A server that refuses everything, one that cannot start, and others. */
async function openMixedRuntime(): Promise<Runtime> {
  const wall = await startFixture('auth-wall', { transport: 'http', flags: ['--status', '401'] });
  onTestFinished(() => wall.stop());
  return openRuntime({
    servers: {
      demo: fixture('echo'),
      broken: { command: 'no-such-command-anywhere' },
      wall: { type: 'http', url: wall.url },
      later: { ...fixture('echo'), start: 'lazy' },
      off: { ...fixture('echo'), enabled: false },
    },
  });
}

export const STATUS_ROWS: Readonly<Record<string, Attempt>> = {
  '`connected`, `failed`, `needs-auth`, `pending`, `disabled`': async () => {
    const runtime = await openMixedRuntime();
    expect(Object.fromEntries(runtime.status().map(({ name, status }) => [name, status]))).toEqual({
      demo: 'connected',
      broken: 'failed',
      wall: 'needs-auth',
      later: 'pending',
      off: 'disabled',
    });
  },
  '`disconnected`, `connecting`, `connected`, `reconnecting`, `error`': async () => {
    const runtime = await openMixedRuntime();
    const seen = new Set(runtime.status().map(({ state }) => state));
    runtime.on('server.state', ({ server }) => seen.add(runtime.serverStatus(server).state));
    await runtime.connect('later');
    process.kill(Number(runtime.serverStatus('demo').pid), 'SIGKILL');
    await expect
      .poll(() => [...seen].sort(), { timeout: 10_000 })
      .toEqual(['connected', 'connecting', 'disconnected', 'error', 'reconnecting']);
  },
  '`Connected`, `connected: true`': withRuntime((runtime) => expect(statusOf(runtime)).toBe('connected')),
  '`toolCount`, `ToolsDiscovered`': withRuntime((runtime) =>
    expect(runtime.serverStatus('demo').tools).toHaveLength(runtime.tools().length),
  ),
  '`TotalCalls`, `SuccessCalls`, `FailedCalls`, `avgResponseTime`': withRuntime(async (runtime) => {
    await runtime.callTool('demo', 'add', ADD);
    await runtime.callTool('demo', 'fail');
    expect(runtime.serverStatus('demo').calls).toMatchObject({
      total: 2,
      succeeded: 1,
      failed: 1,
      averageMs: expect.any(Number),
    });
  }),
  '`LastError`, `LastErrorTime`': async () => {
    const { error } = (await openMixedRuntime()).serverStatus('broken');
    expect(error).toMatchObject({
      code: 'COMMAND_NOT_FOUND',
      hint: expect.any(String),
      time: expect.any(Date),
    });
  },
  '`errors`': async () => {
    const { recentErrors } = (await openMixedRuntime()).serverStatus('broken');
    expect(recentErrors).toMatchObject([{ code: 'COMMAND_NOT_FOUND' }]);
  },
  '`lastPing`': withRuntime(async (runtime) => {
    await runtime.ping('demo');
    expect(runtime.serverStatus('demo').lastPing).toMatchObject({ ok: true, at: expect.any(Number) });
  }),
  '`scope`': withRuntime((runtime) => expect(runtime.serverStatus('demo')).toHaveProperty('scope')),
  '`annotations.readOnly`, `destructive`, `openWorld`': withRuntime((runtime) =>
    expect(runtime.catalog.get('mcp__demo__read_only')?.annotations).toMatchObject({ readOnlyHint: true }),
  ),
};
