import { existsSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { descendants, fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { BIN, createHome, environmentOf, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { type StdioClient, startClientForTest } from './conversation.js';
import { daemonForTest, post } from './running-daemon.js';

const HELLO = {
  protocolVersion: '2024-11-05',
  capabilities: {},
  clientInfo: { name: 'test', version: '1.0.0' },
};

/** Calls of agents need approval unless a rule allows them, also over stdio. */
const RULES = [
  { action: 'deny', tool: 'pid', caller: 'stdio:test' },
  { action: 'allow', caller: ['stdio:test', 'zed'], tool: ['add', 'echo'] },
];

let home: Home;
beforeEach(async () => {
  home = await createHome();
  await home.write('.config/turnbuckle/mcp.json', {
    servers: { echo: fixture('echo'), other: fixture('echo') },
    daemon: { views: { small: { servers: ['echo'], tools: ['echo'], names: 'plain' } } },
    rules: RULES,
  });
});

describe('serve --stdio', () => {
  it.each(['2026-07-28', '2025-11-25'])('serves the client of the SDK in %s', async (version) => {
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      {
        capabilities: {},
        ...(version === '2026-07-28' && { versionNegotiation: { mode: 'auto' as const } }),
      },
    );
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BIN, 'serve', '--stdio'],
      env: environmentOf(home),
      cwd: home.project,
      stderr: 'ignore',
    });
    onTestFinished(() => client.close());
    await client.connect(transport);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo_add', 'other_add']));
    const result = await client.callTool({ name: 'echo_add', arguments: { a: 2, b: 3 } });
    expect(result.structuredContent).toEqual({ sum: 5 });
    const { prompts } = await client.listPrompts();
    expect(prompts.length).toBeGreaterThan(0);
  });

  it('serves a client of the first revision, prints nothing else on stdout, and ends with the client', async () => {
    const client = startClientForTest(['serve', '--stdio', '--view', 'small'], { home });
    client.send(1, 'initialize', HELLO);
    client.sendLine('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    client.send(2, 'tools/list', {});
    client.send(3, 'tools/call', { name: 'echo', arguments: { text: 'hi' } });
    expect(await client.response(1)).toMatchObject({ result: { protocolVersion: '2024-11-05' } });
    expect(await client.response(2)).toMatchObject({ result: { tools: [{ name: 'echo' }] } });
    expect(await client.response(3)).toMatchObject({ result: { content: [{ type: 'text', text: 'hi' }] } });
    expect(await client.close()).toBe(0);
    expect(client.messages().length).toBeGreaterThanOrEqual(3);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('exits with 0 and ends its servers on %s', async (signal) => {
    const client = startClientForTest(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    await client.response(1);
    const servers = descendants(client.child.pid ?? 0);
    expect(servers.length).toBeGreaterThan(0);
    expect(await client.close(signal)).toBe(0);
    await waitUntil(() => servers.every((pid) => !isAlive(pid)));
  });

  it('records its calls in the call history while a daemon is running', async () => {
    const daemon = await daemonForTest([], { home });
    const client = startClientForTest(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/call', { name: 'echo_echo', arguments: { text: 'by stdio' } });
    expect(await client.response(2)).toMatchObject({ result: { content: [{ text: 'by stdio' }] } });
    await post(daemon, '/mcp/call', { server: 'echo', tool_name: 'echo', arguments: { text: 'by POST' } });
    const logged = async (): Promise<string[]> =>
      (await json<{ arguments: string }[]>(['calls'], { home })).map((call) => call.arguments).sort();
    expect(await logged()).toEqual(['{"text":"by POST"}', '{"text":"by stdio"}']);
    expect(await client.close()).toBe(0);
    await daemon.stop();
    expect(await logged()).toHaveLength(2);
  });

  it('logs nothing when the log is disabled', async () => {
    const settings = {
      servers: { echo: fixture('echo') },
      daemon: { log: { enabled: false } },
      rules: RULES,
    };
    await home.write('.config/turnbuckle/mcp.json', settings);
    const client = startClientForTest(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/call', { name: 'echo_echo', arguments: { text: 'hi' } });
    await client.response(2);
    expect(await client.close()).toBe(0);
    expect(existsSync(home.file('state/log'))).toBe(false);
  });

  it('serves also when no log can be written', async () => {
    const env = { TURNBUCKLE_STATE_DIR: await home.write('state', 'not a directory') };
    const client = startClientForTest(['serve', '--stdio'], { home, env });
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/call', { name: 'echo_echo', arguments: { text: 'hi' } });
    expect(await client.response(2)).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    expect(await client.close()).toBe(0);
  });

  describe.each(['without a daemon', 'through the daemon'] as const)('%s', (way) => {
    const begin = async (...words: string[]): Promise<StdioClient> => {
      if (way === 'through the daemon') await daemonForTest([], { home });
      const client = startClientForTest(['serve', '--stdio', ...words], { home });
      client.send(1, 'initialize', HELLO);
      await client.response(1);
      return client;
    };
    interface Logged {
      readonly caller?: string;
      readonly tool: string;
      readonly outcome: string;
      readonly code?: string;
    }
    const lastLogged = async (): Promise<Logged | undefined> =>
      (await json<Logged[]>(['calls'], { home })).at(-1);

    it('makes calls as an agent, with the name of the client', async () => {
      const client = await begin();
      client.send(2, 'tools/call', { name: 'echo_add', arguments: { a: 2, b: 3 } });
      expect(await client.response(2)).toMatchObject({ result: { structuredContent: { sum: 5 } } });
      expect(await lastLogged()).toMatchObject({ caller: 'stdio:test', tool: 'add', outcome: 'ok' });
      client.send(3, 'tools/call', { name: 'echo_pid', arguments: {} });
      expect(await client.response(3)).toMatchObject({ error: { data: { code: 'TOOL_UNKNOWN' } } });
      expect(await lastLogged()).toMatchObject({ caller: 'stdio:test', code: 'TOOL_UNKNOWN' });
      const [mine, theirs] = [
        descendants(client.child.pid ?? 0).length,
        way === 'through the daemon' ? 0 : 2,
      ];
      expect(mine).toBe(theirs);
      expect(await client.close()).toBe(0);
    });

    it('needs approval like every agent', async () => {
      const client = await begin();
      client.send(2, 'tools/call', { name: 'echo_sleep', arguments: { ms: 1 } });
      if (way === 'without a daemon') {
        expect(await client.response(2)).toMatchObject({
          result: { isError: true, _meta: { 'turnbuckle/error': { code: 'APPROVAL_NEEDED' } } },
        });
        const text = JSON.stringify(await client.response(2));
        for (const word of [
          'turnbuckle serve start',
          'turnbuckle approvals',
          'turnbuckle rules allow stdio:test echo sleep',
          'turnbuckle rules pin echo sleep',
          'approvalForms',
        ])
          expect(text).toContain(word);
        expect(text).not.toContain('approve function');
      } else {
        const asked = async () =>
          (await json<{ id: string; callerId: string }[]>(['approvals'], { home }))[0];
        await expect
          .poll(asked, { timeout: 20_000 })
          .toMatchObject({ callerId: 'stdio:test', tool: 'sleep' });
        await turnbuckle(['approvals', 'answer', (await asked())?.id ?? '', 'once'], { home });
        expect(await client.response(2)).toMatchObject({ result: { content: expect.anything() } });
      }
      expect(await lastLogged()).toMatchObject({ caller: 'stdio:test', tool: 'sleep' });
      expect(await client.close()).toBe(0);
    });

    it('has the given name and capabilities, and never more than the token of that name', async () => {
      await turnbuckle(['token', 'create', 'zed', '--capability', 'mcp:echo'], { home });
      const client = await begin('--as', 'zed', '--capability', 'mcp:echo');
      client.send(2, 'tools/list', {});
      const tools = JSON.stringify(await client.response(2));
      expect(tools).toContain('echo_add');
      expect(tools).not.toContain('other_add');
      client.send(3, 'tools/call', { name: 'other_add', arguments: { a: 2, b: 3 } });
      expect(await client.response(3)).toMatchObject({ error: { data: { code: 'TOOL_UNKNOWN' } } });
      expect(await lastLogged()).toMatchObject({ caller: 'zed', code: 'TOOL_UNKNOWN' });
      expect(await client.close()).toBe(0);
    });

    const create = (...words: string[]) => turnbuckle(['token', 'create', 'zed', ...words], { home });
    const revoke = () => turnbuckle(['token', 'revoke', 'zed'], { home });

    it.each([
      ['never created', [], async () => {}],
      [
        'revoked',
        [],
        async () => {
          await create('--capability', 'mcp:echo');
          await revoke();
        },
      ],
      [
        'expired',
        [],
        async () => {
          await create('--capability', 'mcp:echo', '--expires', '1s');
          const tokens = await json<{ name: string; expiresAt?: string }[]>(['token', 'list'], { home });
          const zed = tokens.find(({ name }) => name === 'zed');
          await waitUntil(() => Date.parse(zed?.expiresAt ?? '') < Date.now());
        },
      ],
      ['never created, whatever capability it asks for', ['--capability', 'mcp:echo'], async () => {}],
      ['created without call access', [], () => create('--capability', 'mcp:echo', '--access', 'read')],
    ] as const)('refuses a token that was %s', async (_what, words, before) => {
      if (way === 'through the daemon') await daemonForTest([], { home });
      await before();
      const { code, stdout, stderr } = await turnbuckle(['serve', '--stdio', '--as', 'zed', ...words], {
        home,
      });
      expect({ code, stdout }).toEqual({ code: 27, stdout: '' });
      expect(stderr).toContain('turnbuckle token create zed');
    });

    it('ends when the token that it acts as is revoked', async () => {
      await create('--capability', 'mcp:echo');
      const client = await begin('--as', 'zed');
      client.send(2, 'tools/call', { name: 'echo_add', arguments: { a: 2, b: 3 } });
      expect(await client.response(2)).toMatchObject({ result: { structuredContent: { sum: 5 } } });
      await revoke();
      expect(await client.ended()).toBe(27);
      expect(client.stderr()).toMatch(/no active token named "zed"|token "zed" was revoked/i);
    });

    it('ends when the token is replaced by another of the same name', async () => {
      await create('--capability', 'mcp:echo');
      const client = await begin('--as', 'zed');
      await revoke();
      await create('--capability', 'mcp_integration');
      expect(await client.ended()).not.toBe(0);
    });

    it.each(['owner', 'host'])('is never "%s"', async (name) => {
      if (way === 'through the daemon') await daemonForTest([], { home });
      const { code, stdout, stderr } = await turnbuckle(['serve', '--stdio', '--as', name], { home });
      expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
      expect(stderr).toContain(`Invalid agent name "${name}"`);
    });
  });

  describe('without a daemon, a client that supports elicitation', () => {
    const FORMS = { ...HELLO, protocolVersion: '2025-11-25', capabilities: { elicitation: {} } };
    const begin = async (approvalForms: string | undefined, capabilities: object): Promise<StdioClient> => {
      await home.write('.config/turnbuckle/mcp.json', {
        servers: { echo: fixture('echo') },
        ...(approvalForms !== undefined && { daemon: { approvalForms } }),
      });
      const client = startClientForTest(['serve', '--stdio'], { home });
      client.send(1, 'initialize', { ...FORMS, capabilities });
      await client.response(1);
      client.sendLine('{"jsonrpc":"2.0","method":"notifications/initialized"}');
      client.send(2, 'tools/call', { name: 'echo_add', arguments: { a: 2, b: 3 } });
      return client;
    };
    const form = (client: StdioClient) =>
      client.messages().find(({ method }) => method === 'elicitation/create') as
        | { id: number | string; params: { message: string } }
        | undefined;
    const needed = {
      result: { isError: true, _meta: { 'turnbuckle/error': { code: 'APPROVAL_NEEDED' } } },
    };

    it.each([
      ['accept', { result: { structuredContent: { sum: 5 } } }],
      ['decline', { result: { isError: true, _meta: { 'turnbuckle/error': { code: 'CALL_DENIED' } } } }],
      ['cancel', needed],
    ])('gets a form when the configuration says so: %s', async (action, expected) => {
      const client = await begin('approve', { elicitation: {} });
      await waitUntil(() => form(client) !== undefined, 20_000);
      const { id, params } = form(client) ?? { id: 0, params: { message: '' } };
      expect(params.message).toContain('Calling echo_add requires approval');
      expect(params.message).toContain('"a":2');
      const content = action === 'accept' ? { content: {} } : {};
      client.sendLine(JSON.stringify({ jsonrpc: '2.0', id, result: { action, ...content } }));
      expect(await client.response(2)).toMatchObject(expected);
      expect(await client.close()).toBe(0);
    });

    it.each([
      ['approvalForms is not set', undefined, { elicitation: {} }],
      ['approvalForms is inform', 'inform', { elicitation: {} }],
      ['approvalForms is off', 'off', { elicitation: {} }],
      ['the client cannot show forms', 'approve', {}],
    ])('fails at once when %s', async (_what, forms, capabilities) => {
      const client = await begin(forms, capabilities);
      expect(await client.response(2)).toMatchObject(needed);
      expect(form(client)).toBeUndefined();
      expect(await client.close()).toBe(0);
    });
  });

  it('fails with GATEWAY_LOOP as a server of the daemon it goes through', async () => {
    const self = { command: process.execPath, args: [BIN, 'serve', '--stdio'], env: environmentOf(home) };
    await home.write('.config/turnbuckle/mcp.json', { servers: { echo: fixture('echo'), self } });
    const { url, token } = await daemonForTest([], { home });
    const status = async () => {
      const response = await fetch(`${url}/api/servers/self`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return (await response.json()) as { status: string; error?: { code: string } };
    };
    await expect
      .poll(status, { timeout: 20_000 })
      .toMatchObject({ status: 'failed', error: { code: 'GATEWAY_LOOP' } });
  });

  it('does not start itself recursively when it is one of its own servers', async () => {
    const self = { command: process.execPath, args: [BIN, 'serve', '--stdio'], env: environmentOf(home) };
    await home.write('.config/turnbuckle/mcp.json', { servers: { self } });
    const client = startClientForTest(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    await client.response(1);
    expect(descendants(client.child.pid ?? 0).length).toBeLessThanOrEqual(3);
    expect(await client.close()).toBe(0);
  });

  it('ends with the daemon, and says so', async () => {
    const daemon = await daemonForTest([], { home });
    const client = startClientForTest(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    await client.response(1);
    await daemon.stop();
    expect(await client.ended()).toBe(17);
    expect(client.stderr()).toContain('stopped. Closing the connection to the client');
  });

  it('names tools as the configuration says', async () => {
    await home.write('.config/turnbuckle/mcp.json', {
      servers: { echo: fixture('echo') },
      naming: 'mcp__server__tool',
    });
    const client = startClientForTest(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/list', {});
    expect(JSON.stringify(await client.response(2))).toContain('"mcp__echo__echo"');
    expect(await client.close()).toBe(0);
  });

  it('suggests a view for an unknown name', async () => {
    const { code, stdout, stderr } = await turnbuckle(['serve', '--stdio', '--view', 'smal'], { home });
    expect({ code, stdout }).toEqual({ code: 10, stdout: '' });
    expect(stderr).toContain('Did you mean "small"?');
  });
});

describe('demo-server', () => {
  it('is a server of both revisions', async () => {
    const client = startClientForTest(['demo-server'], { home });
    const meta = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/list', {});
    client.send(3, 'server/discover', meta);
    client.send(4, 'tools/call', { ...meta, name: 'add', arguments: { a: 1, b: 2 } });
    client.send(5, 'no/such', {});
    client.sendLine('not json');
    expect(await client.response(1)).toMatchObject({ result: { protocolVersion: '2024-11-05' } });
    const names = [{ name: 'echo' }, { name: 'add' }, { name: 'clock' }];
    expect(await client.response(2)).toMatchObject({ result: { tools: names } });
    expect(await client.response(3)).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } });
    const complete = { structuredContent: { sum: 3 }, resultType: 'complete' };
    expect(await client.response(4)).toMatchObject({ result: complete });
    expect(await client.response(5)).toMatchObject({ error: { code: -32601 } });
    expect(await client.response(null)).toMatchObject({ error: { code: -32700 } });
    expect(await client.close()).toBe(0);
  });
});
