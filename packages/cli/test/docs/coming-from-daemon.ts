/** What docs/coming-from.md says about errors, the bridge and configuration, each row tried. */
import { fixture, freePort, startFixture } from '@turnbuckle/testing';
import { TurnbuckleError } from 'turnbuckle';
import { expect, onTestFinished } from 'vitest';
import { createHome, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { daemonForTest, post, type RunningDaemon, startBridge } from '../daemon/running-daemon.js';
import { type Attempt, openRuntime } from './coming-from-library.js';

const DEMO = fixture('echo', '--era', 'legacy');
const COMMAND = 'command' in DEMO ? { command: DEMO.command, args: [...(DEMO.args ?? [])] } : undefined;

async function openDaemon(more: object = {}): Promise<RunningDaemon & { readonly home: Home }> {
  const home = await createHome();
  await home.write('.config/turnbuckle/mcp.json', { servers: { demo: fixture('echo') }, ...more });
  return { ...(await daemonForTest([], { home })), home };
}

const withDaemon =
  (check: (daemon: RunningDaemon & { readonly home: Home }) => unknown, more?: object): Attempt =>
  async () => {
    await check(await openDaemon(more));
  };

const ECHO = { tool_name: 'echo', arguments: { text: 'hi' } };
const call = (daemon: RunningDaemon, body: object) => post(daemon, '/mcp/call', body);
const fails = (code: string, body: object, more?: object): Attempt =>
  withDaemon(async (daemon) => {
    expect((await call(daemon, body)).body).toMatchObject({
      success: false,
      code,
      error: expect.any(String),
    });
  }, more);

async function openWall(): Promise<string> {
  const wall = await startFixture('auth-wall', { transport: 'http', flags: ['--status', '401'] });
  onTestFinished(() => wall.stop());
  return wall.url;
}

export const ERROR_ROWS: Readonly<Record<string, Attempt>> = {
  '`EndpointNotFound`': withDaemon(async (daemon) => {
    const nowhere = { endpoint: { url: 'http://127.0.0.1:1/' }, ...ECHO };
    expect((await call(daemon, { server: 'nowhere', ...ECHO })).body).toMatchObject({
      code: 'SERVER_UNKNOWN',
    });
    expect((await call(daemon, nowhere)).body).toMatchObject({ code: 'CONNECT_FAILED' });
  }),
  '`ToolNotFound`': fails('TOOL_UNKNOWN', { server: 'demo', tool_name: 'nothing' }),
  '`Timeout`': fails('CALL_TIMEOUT', {
    ...{ server: 'demo', tool_name: 'sleep', arguments: { ms: 60_000 } },
    timeout_ms: 300,
  }),
  '`AuthenticationFailed`': withDaemon(async (daemon) => {
    const { body } = await call(daemon, { endpoint: { url: await openWall() }, ...ECHO });
    expect(body).toMatchObject({ success: false, code: 'AUTH_REQUIRED' });
  }),
  '`BridgeUnavailable`': async () => {
    const home = await createHome();
    const env = { MCP_BRIDGE_URL: `http://127.0.0.1:${await freePort()}`, TURNBUCKLE_TOKEN: 'x' };
    const { stderr } = await turnbuckle(['call', 'demo', 'echo', 'text=hi'], { home, env });
    expect(stderr).toContain('CONNECT_FAILED');
  },
  '`CONNECTION_FAILED`': async () => {
    const exit = { command: process.execPath, args: ['-e', 'process.exit(3)'] };
    const none = { command: 'no-such-command-anywhere' };
    const away = { url: 'http://127.0.0.1:1/' };
    const runtime = await openRuntime({ servers: { exit, none, away } });
    const codes = runtime.status().map(({ error }) => error?.code);
    expect(codes).toEqual(['CONNECT_FAILED', 'SERVER_EXITED', 'COMMAND_NOT_FOUND']);
  },
  '`Code`, `Message`, `ServerName`, `ToolName`, `Cause`, `Timestamp`': async () => {
    const runtime = await openRuntime();
    const error = await runtime.callTool('demo', 'add', { a: 1 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TurnbuckleError);
    expect(error).toMatchObject({
      code: 'ARGUMENTS_INVALID',
      message: expect.any(String),
      server: 'demo',
      tool: 'add',
      time: expect.any(Date),
    });
    const away = await openRuntime({ servers: { away: { url: 'http://127.0.0.1:1/' } } });
    expect(away.serverStatus('away').error?.cause).toBeInstanceOf(Error);
  },
  'a configuration error': async () => {
    const home = await createHome({ bad: { comand: 'x' }, demo: fixture('echo') });
    const { stdout } = await turnbuckle(['list', '--json'], { home });
    expect(stdout).toMatch(/CONFIG_INVALID.*mcp\.json:\d+:\d+/s);
    expect(await turnbuckle(['call', 'demo', 'echo', 'text=hi'], { home })).toMatchObject({ code: 0 });
  },
  'invalid parameters': fails('ARGUMENTS_INVALID', { server: 'demo', tool_name: 'add', arguments: { a: 1 } }),
  '`Success: false` for a tool that failed': async () => {
    const runtime = await openRuntime();
    expect(await runtime.execute('mcp__demo__fail')).toMatchObject({ success: false, failure: undefined });
    expect(await runtime.callTool('demo', 'fail')).toMatchObject({ isError: true });
  },
};

export const BRIDGE_ROWS: Readonly<Record<string, Attempt>> = {
  '`POST /mcp/call`': withDaemon(async (daemon) => {
    expect(await call(daemon, { server: 'demo', ...ECHO })).toMatchObject({ status: 200 });
  }),
  '`endpoint.url`, `endpoint.transport`, `endpoint.headers`': withDaemon(async (daemon) => {
    const web = await startFixture('echo', { transport: 'http' });
    onTestFinished(() => web.stop());
    const endpoint = { url: web.url, transport: 'http', headers: { 'X-Agent-Token': 'one' } };
    expect((await call(daemon, { endpoint, ...ECHO })).body).toMatchObject({ success: true });
    const token = (await turnbuckle(['token', 'create', 'program'], daemon)).stdout.trim();
    const refused = await call({ ...daemon, token }, { endpoint, ...ECHO });
    expect(refused.body).toMatchObject({
      code: 'ACCESS_DENIED',
      hint: expect.stringContaining('bridge.urls'),
    });
  }),
  '`endpoint.command`, `endpoint.args`': async () => {
    const body = { endpoint: { transport: 'stdio', ...COMMAND }, ...ECHO };
    await fails('ACCESS_DENIED', body)();
    const commands = [[COMMAND?.command, ...(COMMAND?.args ?? [])]];
    const daemon = await openDaemon({ daemon: { bridge: { commands } } });
    expect((await call(daemon, body)).body).toMatchObject({ success: true });
  },
  '`tool_name`, `arguments`': withDaemon(async (daemon) => {
    const body = { server: 'demo', tool_name: 'add', arguments: { a: 2, b: 3 } };
    expect((await call(daemon, body)).body).toMatchObject({ result: { structuredContent: { sum: 5 } } });
  }),
  '`timeout_ms`': fails('CALL_TIMEOUT', {
    ...{ server: 'demo', tool_name: 'sleep', arguments: { ms: 60_000, everyMs: 50 } },
    timeout_ms: 500,
  }),
  '`{ success, result }`, `{ success, error }`': withDaemon(async (daemon) => {
    expect((await call(daemon, { server: 'demo', ...ECHO })).body).toMatchObject({
      success: true,
      result: { content: [{ text: 'hi' }] },
    });
    expect((await call(daemon, { server: 'nowhere', ...ECHO })).body).toMatchObject({
      success: false,
      error: expect.any(String),
      code: 'SERVER_UNKNOWN',
      hint: expect.any(String),
    });
  }),
  'status 500 for every failure': withDaemon(async (daemon) => {
    const sleep = { server: 'demo', tool_name: 'sleep', arguments: { ms: 60_000 }, timeout_ms: 300 };
    const invalid = { server: 'demo', tool_name: 'add', arguments: {} };
    const statuses = [{ server: 'nowhere', ...ECHO }, invalid, sleep].map((body) => call(daemon, body));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([404, 422, 504]);
  }),
  'a caller without a token': withDaemon(
    async (daemon) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ server: 'demo', ...ECHO });
      const without = await fetch(`${daemon.url}/mcp/call`, { method: 'POST', headers, body });
      expect([without.status, await without.json()]).toMatchObject([401, { code: 'TOKEN_REQUIRED' }]);
      const token = (await turnbuckle(['token', 'create', 'program'], daemon)).stdout.trim();
      const withToken = await call({ ...daemon, token }, { server: 'demo', ...ECHO });
      expect(withToken.body).toMatchObject({ success: true });
    },
    { toolApprovalRequired: false },
  ),
  '`PORT`, 3001': async () => {
    const home = await createHome();
    const port = String(await freePort());
    const bridge = await startBridge([], { home, env: { PORT: port } });
    onTestFinished(async () => void (await bridge.stop('SIGKILL')));
    expect(bridge.url).toBe(`http://127.0.0.1:${port}`);
    const { stdout } = await turnbuckle(['bridge', '--help'], { home });
    expect(stdout).toContain('3001');
  },
  '`MCP_BRIDGE_URL`': withDaemon(async (daemon) => {
    const env = { MCP_BRIDGE_URL: daemon.url, TURNBUCKLE_TOKEN: daemon.token };
    const home = await createHome();
    const called = await turnbuckle(['call', 'demo', 'echo', 'text=hi'], { home, env });
    expect(called).toMatchObject({ code: 0, stdout: 'hi\n' });
    const place = `http://127.0.0.1:${await freePort()}`;
    const bridge = await startBridge([], { home, env: { MCP_BRIDGE_URL: place } });
    onTestFinished(async () => void (await bridge.stop('SIGKILL')));
    expect(bridge.url).toBe(place);
  }),
  '`mcp_calls_total`, `mcp_call_duration_seconds`': withDaemon(async (daemon) => {
    await call(daemon, { server: 'demo', ...ECHO });
    const headers = { authorization: `Bearer ${daemon.token}` };
    const text = await (await fetch(`${daemon.url}/metrics`, { headers })).text();
    expect(text).toContain('mcp_calls_total{tool_name="demo_echo",status="success"} 1');
    expect(text).toMatch(/mcp_call_duration_seconds_bucket\{tool_name="demo_echo",le="0\.1"\}/);
  }),
};

interface Listed {
  readonly name: string;
  readonly status: string;
  readonly transport?: string;
  readonly error?: unknown;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** The servers of a user's file, as `list` shows them. */
async function listOf(file: object, env: Record<string, string> = {}): Promise<Listed[]> {
  const home = await createHome();
  await home.write('.config/turnbuckle/mcp.json', file);
  return json<Listed[]>(['list'], { home, env });
}

const connects =
  (file: object, env?: Record<string, string>): Attempt =>
  async () => {
    expect(await listOf(file, env)).toMatchObject([{ name: 'demo', status: 'connected' }]);
  };

/** The file has no problem; nothing is connected. */
const loads =
  (servers: object, more: object = {}): Attempt =>
  async () => {
    const home = await createHome();
    await home.write('.config/turnbuckle/mcp.json', { servers, ...more });
    const { code, stdout, stderr } = await turnbuckle(['config', '--json'], { home });
    expect([code, `${stdout}${stderr}`]).toEqual([0, expect.not.stringMatching(/CONFIG_INVALID|warning/)]);
  };

const AWAY = { url: 'http://127.0.0.1:1/mcp', start: 'lazy' };
const auth = (block: object): object => ({ demo: { ...AWAY, auth: block } });
const stdio = (more: object): object => ({ servers: { demo: { ...DEMO, ...more } } });

export const CONFIG_ROWS: Readonly<Record<string, Attempt>> = {
  '`servers` as an object, `mcpServers`': async () => {
    await connects({ servers: { demo: DEMO } })();
    await connects({ mcpServers: { demo: DEMO } })();
  },
  '`servers` as a list': async () => {
    await connects({ servers: [{ name: 'demo', ...DEMO }] })();
    await connects({ servers: [{ id: 'demo', ...DEMO }] })();
  },
  '`mcp-servers.json` in the working directory': async () => {
    const home = await createHome();
    await home.write('project/mcp-servers.json', { servers: { demo: DEMO } });
    expect((await turnbuckle(['list', '--json'], { home })).stdout).toContain('TRUST_REQUIRED');
    const trusted = await json<Listed[]>(['list', '--trust-project'], { home });
    expect(trusted).toMatchObject([{ name: 'demo', status: 'connected' }]);
  },
  '`type: "stdio"`, `"sse"`, `"http"`': async () => {
    await loads({ a: DEMO, b: { ...AWAY, type: 'sse' }, c: { ...AWAY, type: 'http' } })();
  },
  '`type: "sdk"`, `type: "claudeai-proxy"`': async () => {
    await loads({
      proxy: { type: 'claudeai-proxy', id: 'one', baseUrl: 'http://127.0.0.1:1/', start: 'lazy' },
    })();
    const { McpServer } = await import('@modelcontextprotocol/server');
    const server = new McpServer({ name: 'own', version: '1' }, { capabilities: { tools: {} } });
    const runtime = await openRuntime({ servers: { own: { type: 'sdk', server } } });
    expect(runtime.serverStatus('own')).toMatchObject({ status: 'connected', transport: 'in-process' });
  },
  '`command`, `args`, `env`, `url`, `headers`': async () => {
    await connects(stdio({ env: { A: 'b' } }))();
    await loads({ demo: { ...AWAY, headers: { A: 'b' } } })();
  },
  '`enabled`': async () => {
    expect(await listOf(stdio({ enabled: false }))).toMatchObject([{ name: 'demo', status: 'disabled' }]);
  },
  '`WorkingDir`': connects(stdio({ cwd: '/' })),
  '`ConnectTimeout`, `RequestTimeout`, `DefaultTimeout`': connects(
    stdio({ connectTimeoutMs: 20_000, callTimeoutMs: 5_000 }),
  ),
  '`MaxServers`': async () => {
    const servers = { a: fixture('echo'), b: fixture('echo') };
    const runtime = await openRuntime({ servers, limits: { maxServers: 1 } });
    expect(runtime.serverStatus('b').error?.code).toBe('SERVER_LIMIT');
  },
  '`MaxReconnectRetries`, `ReconnectBackoff`': connects(stdio({ reconnect: { tries: 5, initialMs: 500 } })),
  '`EnableAutoReconnect: false`': async () => {
    const demo = { ...fixture('echo'), reconnect: { tries: 0, probeMs: 0 } };
    const runtime = await openRuntime({ servers: { demo } });
    const { pid } = runtime.serverStatus('demo');
    process.kill(Number(pid), 'SIGKILL');
    await expect.poll(() => runtime.serverStatus('demo').state, { timeout: 10_000 }).toBe('error');
    await runtime.callTool('demo', 'add', { a: 1, b: 2 });
    expect(runtime.serverStatus('demo').status).toBe('connected');
  },
  '`auth.type: "none"`, `"bearer"`, `"oauth"`': async () => {
    await loads({ ...auth({ type: 'none' }) })();
    await loads({ ...auth({ type: 'bearer', token: '${TOKEN}' }) })();
    await loads({ ...auth({ type: 'oauth' }) })();
  },
  '`headerName`, `apiKey`, `tokenPath`': async () => {
    await loads(auth({ type: 'api-key', headerName: 'X-Key', apiKey: '${KEY}' }))();
    await loads(auth({ type: 'token-file', tokenPath: '/tmp/token' }))();
  },
  '`authUrl`, `tokenUrl`, `clientId`': loads(
    auth({ type: 'oauth', authUrl: 'https://a.example/a', tokenUrl: 'https://a.example/t', clientId: 'me' }),
  ),
  '`${VAR}`': async () => {
    await connects(stdio({ env: { A: '${NAMED}' } }), { NAMED: 'x' })();
    await connects(stdio({ env: { A: '${UNNAMED:-default}' } }))();
  },
  '`toolApprovalRequired`, `MCP_TOOL_APPROVAL`': async () => {
    const callAsAgent = async (file: object, env: Record<string, string>): Promise<string> => {
      const home = await createHome();
      await home.write('.config/turnbuckle/mcp.json', { servers: { demo: fixture('echo') }, ...file });
      const words = ['call', 'demo', 'echo', 'text=hi', '--as', 'agent'];
      const { code, stderr } = await turnbuckle(words, { home, env });
      return code === 0 ? 'OK' : stderr;
    };
    expect(await callAsAgent({ toolApprovalRequired: true }, {})).toContain('APPROVAL_NEEDED');
    expect(await callAsAgent({ toolApprovalRequired: false }, {})).toBe('OK');
    expect(await callAsAgent({}, { MCP_TOOL_APPROVAL: 'false' })).toBe('OK');
  },
  '`subAgentEnabled`, `autoDiscoveryEnabled`, `MCP_AUTO_DISCOVERY`': async () => {
    await loads({ demo: DEMO }, { subAgentEnabled: true, autoDiscoveryEnabled: false })();
    await connects({ servers: { demo: DEMO } }, { MCP_AUTO_DISCOVERY: 'true' })();
  },
  '`MCP_CONFIG_PATH`': async () => {
    const home = await createHome();
    const file = await home.write('elsewhere.json', { servers: { demo: DEMO } });
    const listed = await json<Listed[]>(['list'], { home, env: { MCP_CONFIG_PATH: file } });
    expect(listed).toMatchObject([{ name: 'demo', status: 'connected' }]);
  },
  '`--mcp-server`': async () => {
    const home = await createHome();
    const server = `demo=${[COMMAND?.command, ...(COMMAND?.args ?? [])].join(' ')}`;
    const words = ['call', 'demo', 'echo', 'text=hi', '--mcp-server', server];
    expect(await turnbuckle(words, { home })).toMatchObject({ code: 0, stdout: 'hi\n' });
  },
};
