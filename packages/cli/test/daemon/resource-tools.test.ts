import { fixture } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHome, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { startClientForTest } from './conversation.js';
import { daemonForTest } from './running-daemon.js';

const GREETING = 'fixture://greeting';
const READ = ['call', 'native', 'read_mcp_resource', 'server=open', `uri=${GREETING}`];

let home: Home;
beforeEach(async () => {
  home = await createHome();
  await home.write('.config/turnbuckle/mcp.json', {
    resourceTools: true,
    servers: { open: fixture('echo'), secret: fixture('echo') },
    rules: [
      { action: 'deny', caller: ['ada', 'stdio:test'], kind: 'resource', tool: GREETING },
      { action: 'deny', caller: 'host', server: 'open', kind: 'resource', tool: 'fixture://bytes' },
    ],
    daemon: { views: { one: { servers: ['open'] } } },
  });
});

// requirement T8
describe.each([
  ['without a daemon', false],
  ['through the daemon', true],
])('the resource tools on the command line %s', (_where, withDaemon) => {
  beforeEach(async () => {
    if (withDaemon) await daemonForTest([], { home });
  });

  it('are listed and called like other tools, under both spellings', async () => {
    type Tool = { server: string; tool: string };
    const listed = await json<Tool[]>(['tools', 'native'], { home });
    expect(listed.map(({ server, tool }) => `${server} ${tool}`)).toEqual([
      'native get_mcp_prompt',
      'native list_mcp_prompts',
      'native list_mcp_resources',
      // The tools of the steward, which runs in the daemon.
      ...(withDaemon
        ? [
            'native mcp_cancel_subagent_work',
            'native mcp_check_subagent_status',
            'native mcp_list_available_tools',
            'native mcp_request_server_addition',
          ]
        : []),
      'native read_mcp_resource',
    ]);
    expect(await turnbuckle(READ, { home })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('hello'),
    });
    const all = await turnbuckle(['call', 'list_mcp_resources'], { home });
    expect(all).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"server":"open".*"server":"secret"/s),
    });
  });

  it('read nothing that a rule denies', async () => {
    const bytes = ['call', 'native', 'read_mcp_resource', 'server=open', 'uri=fixture://bytes'];
    const { code, stdout, stderr } = await turnbuckle(bytes, { home });
    expect(code).not.toBe(0);
    expect(stderr).toContain('CALL_DENIED');
    expect(stdout).not.toContain('AAECAw');
  });

  it('follow the rules and the view of an agent over serve --stdio', async () => {
    const client = startClientForTest(['serve', '--stdio', '--view', 'one'], { home });
    const clientInfo = { name: 'test', version: '1' };
    client.send(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    await client.response(1);
    client.sendLine('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    const ask = async (id: number, name: string, args: object): Promise<string> => {
      client.send(id, 'tools/call', { name, arguments: args });
      return JSON.stringify(await client.response(id));
    };
    const listed = await ask(2, 'list_mcp_resources', {});
    expect(listed).toContain('fixture://watched');
    expect(listed).not.toContain(GREETING);
    expect(listed).not.toContain('secret');
    expect(await ask(3, 'read_mcp_resource', { server: 'open', uri: GREETING })).toContain(
      'RESOURCE_UNKNOWN',
    );
    const outside = await ask(4, 'read_mcp_resource', { server: 'secret', uri: 'fixture://watched' });
    expect(outside).toContain('RESOURCE_UNKNOWN');
    expect(await ask(5, 'read_mcp_resource', { server: 'open', uri: 'fixture://watched' })).toContain(
      'touched 0',
    );
    await client.close();
  });
});

it('an agent on the command line reads nothing that a rule denies it', async () => {
  const { code, stderr } = await turnbuckle([...READ, '--as', 'ada'], { home });
  expect(code).not.toBe(0);
  expect(stderr).toContain('RESOURCE_UNKNOWN');
});
