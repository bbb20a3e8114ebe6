import { existsSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { descendants, fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { BIN, createHome, environmentOf, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { converse } from './conversation.js';
import { daemonForTest, post } from './running-daemon.js';

const HELLO = {
  protocolVersion: '2024-11-05',
  capabilities: {},
  clientInfo: { name: 'test', version: '1.0.0' },
};

let home: Home;
beforeEach(async () => {
  home = await createHome();
  await home.write('.config/turnbuckle/mcp.json', {
    servers: { echo: fixture('echo'), other: fixture('echo') },
    daemon: { views: { small: { servers: ['echo'], tools: ['echo'], names: 'plain' } } },
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

  it('serves a client of the first revision, says nothing else on stdout, and ends with it', async () => {
    const client = converse(['serve', '--stdio', '--view', 'small'], { home });
    client.send(1, 'initialize', HELLO);
    client.say('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    client.send(2, 'tools/list', {});
    client.send(3, 'tools/call', { name: 'echo', arguments: { text: 'hi' } });
    expect(await client.answer(1)).toMatchObject({ result: { protocolVersion: '2024-11-05' } });
    expect(await client.answer(2)).toMatchObject({ result: { tools: [{ name: 'echo' }] } });
    expect(await client.answer(3)).toMatchObject({ result: { content: [{ type: 'text', text: 'hi' }] } });
    expect(await client.leave()).toBe(0);
    expect(client.messages().length).toBeGreaterThanOrEqual(3);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends with 0 and its servers at %s', async (signal) => {
    const client = converse(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    await client.answer(1);
    const servers = descendants(client.child.pid ?? 0);
    expect(servers.length).toBeGreaterThan(0);
    expect(await client.leave(signal)).toBe(0);
    await waitUntil(() => servers.every((pid) => !isAlive(pid)));
  });

  it('keeps its calls in the log of the daemon, beside one that runs', async () => {
    const daemon = await daemonForTest([], { home });
    const client = converse(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/call', { name: 'echo_echo', arguments: { text: 'by stdio' } });
    expect(await client.answer(2)).toMatchObject({ result: { content: [{ text: 'by stdio' }] } });
    await post(daemon, '/mcp/call', { server: 'echo', tool_name: 'echo', arguments: { text: 'by POST' } });
    const logged = async (): Promise<string[]> =>
      (await json<{ arguments: string }[]>(['log'], { home })).map((call) => call.arguments).sort();
    expect(await logged()).toEqual(['{"text":"by POST"}', '{"text":"by stdio"}']);
    expect(await client.leave()).toBe(0);
    await daemon.stop();
    expect(await logged()).toHaveLength(2);
  });

  it('keeps nothing where the log is switched off', async () => {
    const settings = { servers: { echo: fixture('echo') }, daemon: { log: { enabled: false } } };
    await home.write('.config/turnbuckle/mcp.json', settings);
    const client = converse(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/call', { name: 'echo_echo', arguments: { text: 'hi' } });
    await client.answer(2);
    expect(await client.leave()).toBe(0);
    expect(existsSync(home.file('state/log'))).toBe(false);
  });

  it('serves also where no log can be kept', async () => {
    const env = { TURNBUCKLE_STATE_DIR: await home.write('state', 'not a directory') };
    const client = converse(['serve', '--stdio'], { home, env });
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/call', { name: 'echo_echo', arguments: { text: 'hi' } });
    expect(await client.answer(2)).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    expect(await client.leave()).toBe(0);
  });

  it('says what to do about a call that has to be asked for', async () => {
    await home.write('.config/turnbuckle/mcp.json', {
      servers: { echo: fixture('echo') },
      rules: [{ action: 'ask', caller: 'host', tool: 'echo' }],
    });
    const client = converse(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/call', { name: 'echo_echo', arguments: { text: 'hi' } });
    const { result } = await client.answer(2);
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'turnbuckle/error': { code: 'APPROVAL_NEEDED' } },
    });
    const text = JSON.stringify(result);
    for (const word of [
      'turnbuckle rules',
      'turnbuckle rules pin',
      'turnbuckle setup',
      'turnbuckle approvals',
    ])
      expect(text).toContain(word);
    expect(text).not.toContain('approve function');
    expect(await client.leave()).toBe(0);
  });

  it('names tools as the configuration says', async () => {
    await home.write('.config/turnbuckle/mcp.json', {
      servers: { echo: fixture('echo') },
      naming: 'mcp__server__tool',
    });
    const client = converse(['serve', '--stdio'], { home });
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/list', {});
    expect(JSON.stringify(await client.answer(2))).toContain('"mcp__echo__echo"');
    expect(await client.leave()).toBe(0);
  });

  it('says which view there is not', async () => {
    const { code, stdout, stderr } = await turnbuckle(['serve', '--stdio', '--view', 'smal'], { home });
    expect({ code, stdout }).toEqual({ code: 10, stdout: '' });
    expect(stderr).toContain('Did you mean "small"?');
  });
});

describe('demo-server', () => {
  it('is a server of both revisions', async () => {
    const client = converse(['demo-server'], { home });
    const meta = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
    client.send(1, 'initialize', HELLO);
    client.send(2, 'tools/list', {});
    client.send(3, 'server/discover', meta);
    client.send(4, 'tools/call', { ...meta, name: 'add', arguments: { a: 1, b: 2 } });
    client.send(5, 'no/such', {});
    client.say('not json');
    expect(await client.answer(1)).toMatchObject({ result: { protocolVersion: '2024-11-05' } });
    const names = [{ name: 'echo' }, { name: 'add' }, { name: 'clock' }];
    expect(await client.answer(2)).toMatchObject({ result: { tools: names } });
    expect(await client.answer(3)).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } });
    const complete = { structuredContent: { sum: 3 }, resultType: 'complete' };
    expect(await client.answer(4)).toMatchObject({ result: complete });
    expect(await client.answer(5)).toMatchObject({ error: { code: -32601 } });
    expect(await client.answer(null)).toMatchObject({ error: { code: -32700 } });
    expect(await client.leave()).toBe(0);
  });
});
