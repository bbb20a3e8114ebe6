import { existsSync } from 'node:fs';
import { fixture, freePort, isAlive } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createHome, type Home, json, type RunOptions, turnbuckle } from '../commands/turnbuckle.js';
import { daemonForTest, post, type RunningDaemon, startBridge } from './running-daemon.js';

let home: Home;
beforeEach(async () => {
  home = await createHome({ echo: fixture('echo'), later: { ...fixture('echo'), start: 'lazy' } });
});

async function bridgeForTest(
  words: readonly string[] = ['--port', '0'],
  options: Partial<RunOptions> = {},
): Promise<RunningDaemon> {
  const bridge = await startBridge(words, { home, ...options });
  onTestFinished(async () => {
    await bridge.stop('SIGKILL');
  });
  return bridge;
}

const ECHO = { server: 'echo', tool_name: 'echo', arguments: { text: 'hi' } };
const SECRET = { server: 'echo', tool_name: 'env', arguments: { name: 'KEY' }, approval_wait_ms: 50 };

// requirement D1
describe('turnbuckle bridge', () => {
  it('serves the bridge, and nothing else of the daemon', async () => {
    const bridge = await bridgeForTest();
    expect(await post(bridge, '/mcp/call', ECHO)).toMatchObject({ status: 200, body: { success: true } });
    expect((await post(bridge, '/mcp/calls', { calls: [ECHO, ECHO] })).body).toMatchObject({
      results: [{ success: true }, { success: true }],
    });
    const status = async (path: string, init: RequestInit = {}): Promise<number> => {
      const headers = { authorization: `Bearer ${bridge.token}` };
      return (await fetch(bridge.url + path, { headers, ...init })).status;
    };
    expect(await status('/health', { headers: {} })).toBe(200);
    expect(await status('/ready', { headers: {} })).toBe(200);
    expect(await status('/tools')).toBe(200);
    expect(await status('/tools', { headers: {} })).toBe(401);
    for (const path of ['/api/servers', '/api/calls', '/api/approvals', '/api/tokens', '/metrics'])
      expect([path, await status(path)]).toEqual([path, 404]);
    expect((await post(bridge, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })).status).toBe(404);
  });

  it('names neither the daemon nor its routes in a next step', async () => {
    await home.write('.config/turnbuckle/mcp.json', {
      servers: {
        variable: { ...fixture('echo'), env: { KEY: '${NOT_SET_HERE}' } },
        secret: { ...fixture('echo'), env: { PIN: '${secret:pin}' } },
        input: { ...fixture('echo'), env: { PIN: '${input:pin}' } },
      },
    });
    const bridge = await bridgeForTest();
    for (const server of ['variable', 'secret', 'input']) {
      const { body } = await post(bridge, '/mcp/call', { server, tool_name: 'echo' });
      expect(body).toMatchObject({
        code: 'VARIABLE_MISSING',
        error: expect.stringContaining('which is not set for the bridge'),
        hint: expect.stringMatching(/[Ss]top the bridge, set \w+, and start the bridge again/),
      });
      expect(JSON.stringify(body)).not.toMatch(/daemon|serve restart/);
    }
    const { status, body } = await post(bridge, '/nope', {});
    expect([status, body]).toMatchObject([404, { hint: expect.stringContaining('POST /mcp/call, ') }]);
    const hint: string = Object(body).hint;
    const headers = { authorization: `Bearer ${bridge.token}` };
    for (const [, method = '', path = ''] of hint.matchAll(/(GET|POST) (\/[\w/]+)/g)) {
      const body = method === 'POST' ? { body: '{}' } : {};
      const answer = await fetch(bridge.url + path, { method, headers, ...body });
      expect([path, answer.status]).not.toEqual([path, 404]);
    }
  });

  it('is no daemon: it takes no lock and leaves no record, and ends with its servers', async () => {
    const bridge = await bridgeForTest();
    const pid = Number(
      Object((await post(bridge, '/mcp/call', { server: 'echo', tool_name: 'pid' })).body).result.content[0]
        .text,
    );
    expect(isAlive(pid)).toBe(true);
    expect((await turnbuckle(['serve', 'status'], { home })).code).toBe(3);
    for (const name of ['daemon.lock', 'daemon.json'])
      expect(existsSync(home.file(`state/${name}`))).toBe(false);
    const { code } = await bridge.stop();
    expect(code).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });

  it('runs beside a daemon, with the same configuration, tokens, secrets and log', async () => {
    await turnbuckle(['secrets', 'set', 'key'], { home, stdin: 'from the vault' });
    const daemon = await daemonForTest([], { home });
    const bridge = await bridgeForTest();
    expect(bridge.url).not.toBe(daemon.url);
    expect(bridge.token).toBe(daemon.token);
    const allow = [{ action: 'allow', caller: 'program' }];
    const token = (await turnbuckle(['token', 'create', 'program'], { home })).stdout.trim();
    await home.write('.config/turnbuckle/mcp.json', {
      servers: { echo: { ...fixture('echo'), env: { KEY: '${secret:key}' } } },
      rules: allow,
    });
    for (const { url } of [daemon, bridge])
      await expect
        .poll(async () => (await post({ url, token }, '/mcp/call', SECRET)).body, { timeout: 10_000 })
        .toMatchObject({ success: true });
    expect(await json(['serve', 'status'], { home })).toMatchObject({ running: true, pid: daemon.pid });
    await bridge.stop();
    const calls = await json<Array<{ caller?: string; outcome: string }>>(['calls'], { home });
    expect(calls.filter(({ caller, outcome }) => caller === 'program' && outcome === 'ok')).toHaveLength(2);
    expect(await post(daemon, '/mcp/call', ECHO)).toMatchObject({ body: { success: true } });
    await turnbuckle(['token', 'revoke', 'program'], { home });
    expect((await post({ url: daemon.url, token }, '/mcp/call', ECHO)).status).toBe(401);
  });

  it('can be started before the daemon, and several times', async () => {
    const bridges = [await bridgeForTest(), await bridgeForTest()];
    const daemon = await daemonForTest([], { home });
    for (const one of [...bridges, daemon])
      expect(await post(one, '/mcp/call', ECHO)).toMatchObject({ body: { success: true } });
  });

  it('refuses a call that needs an approval, and says where it can be given', async () => {
    const bridge = await bridgeForTest();
    const token = (await turnbuckle(['token', 'create', 'agent'], { home })).stdout.trim();
    const { status, body } = await post({ url: bridge.url, token }, '/mcp/call', ECHO);
    expect([status, body]).toMatchObject([
      403,
      { code: 'APPROVAL_NEEDED', hint: expect.stringContaining('turnbuckle rules allow') },
    ]);
  });
});

// requirement F5
describe('the port of turnbuckle bridge', () => {
  it.each<[string, (port: string) => Record<string, string>]>([
    ['PORT', (port) => ({ PORT: port })],
    ['MCP_BRIDGE_URL', (port) => ({ MCP_BRIDGE_URL: `http://127.0.0.1:${port}` })],
    ['PORT before MCP_BRIDGE_URL', (port) => ({ PORT: port, MCP_BRIDGE_URL: 'http://127.0.0.1:1' })],
  ])('comes from %s', async (_, envOf) => {
    const port = String(await freePort());
    const bridge = await bridgeForTest([], { env: envOf(port) });
    expect(new URL(bridge.url).port).toBe(port);
    const env = { MCP_BRIDGE_URL: bridge.url, TURNBUCKLE_TOKEN: bridge.token };
    const called = await turnbuckle(['call', 'later', 'echo', 'text=through it'], { home, env });
    expect(called).toMatchObject({ code: 0, stdout: 'through it\n' });
  });

  it('in MCP_BRIDGE_URL is for calls: other commands say that they need a daemon', async () => {
    const bridge = await bridgeForTest();
    const env = { MCP_BRIDGE_URL: bridge.url, TURNBUCKLE_TOKEN: bridge.token };
    const called = await turnbuckle(['call', 'echo', 'echo', 'text=hi'], { home, env });
    expect(called).toMatchObject({ code: 0, stdout: 'hi\n' });
    for (const words of [
      ['list'],
      ['approvals'],
      ['steward'],
      ['chat', 'hi'],
      ['energy'],
      ['tools', 'echo'],
    ]) {
      const { code, stderr } = await turnbuckle(words, { home, env });
      expect([words, code, stderr]).toEqual([
        words,
        28,
        expect.stringMatching(/MCP_BRIDGE_URL points to a bridge .*\n.*unset MCP_BRIDGE_URL/),
      ]);
      expect(stderr).not.toContain('No such route');
    }
    const direct = await turnbuckle(['tools', 'echo', '--no-daemon'], { home, env });
    expect(direct).toMatchObject({ code: 0 });
  });

  it('is reported if another process has it', async () => {
    const bridge = await bridgeForTest();
    const { code, stderr } = await turnbuckle(['bridge'], {
      home,
      env: { PORT: new URL(bridge.url).port },
    });
    expect([code, stderr]).toEqual([29, expect.stringContaining('LISTEN_FAILED')]);
  });
});
