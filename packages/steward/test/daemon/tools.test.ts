/** The tools for models: who sees them, under every naming preset, and what one agent sees of another's requests. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { scriptOf } from './hostile-servers.js';
import { type Json, openStewardStage, type StewardStage } from './stage.js';

const TOOLS = [
  'mcp_cancel_subagent_work',
  'mcp_check_subagent_status',
  'mcp_list_available_tools',
  'mcp_request_server_addition',
];
const isOurs = (name: unknown): boolean => /subagent|server_addition|list_available/.test(String(name));

let stage: StewardStage;
const tokens: Record<string, string> = {};

async function open(config: Json = {}): Promise<void> {
  stage = await openStewardStage({ config: { servers: { known: fixture('echo') }, ...config } });
  await createToken('plain', ['mcp_integration']);
  await createToken('first', ['mcp_steward']);
  await createToken('second', ['mcp_integration', 'mcp_steward']);
}

async function createToken(name: string, can: readonly string[]): Promise<void> {
  const { body } = await stage.api('POST', '/api/tokens', { name, can, access: ['call'] });
  tokens[name] = String(body.token);
}

/** A message to the MCP endpoint, in a session of the older era or without one. */
async function send(
  era: 'legacy' | 'modern',
  token: string,
  method: string,
  params: Json = {},
): Promise<Json> {
  const post = async (body: Json, headers: Record<string, string>) => {
    const response = await fetch(`${stage.daemon.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokens[token]}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    });
    const text = await response.text();
    const data = [...text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1] ?? text;
    return { session: response.headers.get('mcp-session-id') ?? '', body: JSON.parse(data) as Json };
  };
  if (era === 'modern') {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
    };
    return (await post({ method, params: { ...params, _meta } }, headers)).body;
  }
  const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  const { session } = await post({ method: 'initialize', params: client }, {});
  return (await post({ method, params }, { 'mcp-session-id': session })).body;
}

async function listed(era: 'legacy' | 'modern', token: string): Promise<string[]> {
  const { result } = await send(era, token, 'tools/list');
  return ((result as Json).tools as Json[]).map(({ name }) => String(name)).filter(isOurs);
}

/** The data of a tool's result. */
async function run(token: string, name: string, args: Json): Promise<Json> {
  const { result, error } = await send('modern', token, 'tools/call', { name, arguments: args });
  if (result === undefined) return { error };
  const { content, isError } = result as { content: Json[]; isError?: boolean };
  const text = String(content[0]?.text);
  return isError === true ? { error: text } : (JSON.parse(text) as Json);
}

const bridge = (token: string, name: string, args: Json = {}) =>
  stage.api('POST', '/mcp/call', { tool_name: name, arguments: args }, tokens[token]);

// requirement E6
describe('without the capability', () => {
  beforeAll(() => open());
  afterAll(() => stage.close());

  it.each(['legacy', 'modern'] as const)('nothing is listed or called over MCP (%s)', async (era) => {
    expect(await listed(era, 'plain')).toEqual([]);
    for (const name of TOOLS) {
      const hidden = await send(era, 'plain', 'tools/call', { name, arguments: { requestId: 'x' } });
      const unknown = await send(era, 'plain', 'tools/call', { name: 'mcp_no_tool', arguments: {} });
      expect(hidden.result).toBeUndefined();
      expect((hidden.error as Json).code).toBe((unknown.error as Json).code);
    }
  });

  it('nothing is called over the bridge', async () => {
    const unknown = await bridge('plain', 'mcp_no_tool');
    for (const name of TOOLS) {
      const { status, body } = await bridge('plain', name, { purpose: 'files', requestId: 'x' });
      expect([status, body.success, body.code]).toEqual([unknown.status, false, unknown.body.code]);
    }
    expect((await stage.api('GET', '/api/steward/requests')).body).toEqual({ requests: [] });
  });

  it('nothing is seen or called through the library', async () => {
    const runtime = stage.daemon.configured?.runtime;
    if (runtime === undefined) throw new Error('The daemon is in another process.');
    const caller = { id: 'library', capabilities: ['mcp_integration'] };
    expect((await runtime.visibleTools(caller)).map(({ name }) => name).filter(isOurs)).toEqual([]);
    for (const name of TOOLS)
      expect(await runtime.execute(name, { purpose: 'files' }, { caller })).toMatchObject({ success: false });
    const allowed = { id: 'library', capabilities: ['mcp_steward'] };
    const names = (await runtime.visibleTools(allowed)).map(({ name }) => name);
    expect(names.filter(isOurs).sort()).toEqual(TOOLS);
  });

  it('the routes need an administrator', async () => {
    for (const path of ['', '/requests', '/approvals'])
      expect((await stage.api('GET', `/api/steward${path}`, undefined, tokens.second)).status).toBe(403);
  });
});

// requirement E6
describe.each(['mcp__server__tool', 'mcp_server_tool', 'server_tool'])('with names like %s', (naming) => {
  afterEach(() => stage.close());

  it('the tools work, and an agent sees and cancels only its own requests', async () => {
    await open({ naming });
    for (const era of ['legacy', 'modern'] as const)
      expect((await listed(era, 'first')).sort()).toEqual(TOOLS);
    const { requestId, state } = await run('first', 'mcp_request_server_addition', {
      purpose: 'count words',
    });
    expect(state).toBe('queued');
    await stage.until(String(requestId), 'approval');
    const { body } = await bridge('first', 'mcp_check_subagent_status', { requestId });
    expect(body).toMatchObject({ success: true });
    expect(JSON.stringify(body)).toContain('approval');
    for (const name of ['mcp_check_subagent_status', 'mcp_cancel_subagent_work']) {
      const other = await run('second', name, { requestId });
      const unknown = await run('second', name, { requestId: 'nothing' });
      expect(JSON.stringify(other).replaceAll(String(requestId), 'nothing')).toBe(JSON.stringify(unknown));
      expect(other).toHaveProperty('error');
    }
    expect(await stage.status(String(requestId))).toMatchObject({ waitingFor: 'approval' });
    await run('first', 'mcp_cancel_subagent_work', { requestId, reason: 'not needed' });
    expect(await stage.until(String(requestId), 'cancelled')).toMatchObject({ state: 'cancelled' });
    const visible = await run('second', 'mcp_list_available_tools', {});
    const names = (visible.tools as Json[]).map(({ server }) => server);
    expect(names).toContain('known');
    const own = await run('first', 'mcp_list_available_tools', {});
    expect((own.tools as Json[]).map(({ server }) => server)).not.toContain('known');
  });
});

// requirement E6
it('the list of all tools comes in pages of a limited size', async () => {
  const program = scriptOf({
    onRequest: `if (method === 'tools/list') {
      const inputSchema = { type: 'object' };
      const description = 'x'.repeat(1000);
      return answer(id, { tools: Array.from({ length: 900 }, (_, at) => ({ name: 't' + at, description, inputSchema })) });
    }`,
  }).replace(/^#!.*\n/, '');
  const server = { command: process.execPath, args: ['-e', program] };
  await open({ servers: { one: server, two: server } });
  try {
    await waitUntil(
      async () => ((await stage.api('GET', '/api/tools')).body.tools as Json[]).length >= 1_800,
    );
    const names: string[] = [];
    let cursor: unknown;
    do {
      const page = await run('second', 'mcp_list_available_tools', cursor === undefined ? {} : { cursor });
      expect(JSON.stringify(page).length).toBeLessThan(400_000);
      names.push(...(page.tools as Json[]).map(({ name }) => String(name)));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !isOurs(name)).length).toBe(1_800);
    expect(await run('second', 'mcp_list_available_tools', { cursor: 'x' })).toMatchObject({
      error: expect.anything(),
    });
  } finally {
    await stage.close();
  }
});

// requirement E6
describe('subAgentEnabled: false', () => {
  afterEach(() => stage.close());

  it('takes tools and routes away at once, and gives them back', async () => {
    await open();
    const before = stage.config();
    stage.configure({ ...before, subAgentEnabled: false });
    await waitUntil(async () => (await listed('modern', 'second')).length === 0);
    expect((await stage.api('GET', '/api/steward')).body).toEqual({ enabled: false });
    const refused = await stage.api('POST', '/api/steward/requests', {
      type: 'search_servers',
      params: { purpose: 'x' },
    });
    expect([refused.status, refused.body.code]).toEqual([404, 'PATH_UNKNOWN']);
    expect((await bridge('second', 'mcp_list_available_tools')).body.success).toBe(false);
    stage.configure(before);
    await waitUntil(async () => (await listed('modern', 'second')).length === TOOLS.length);
    const id = await stage.request('search_servers', { purpose: 'count words' });
    expect(await stage.until(id, 'completed', 'failed')).toMatchObject({ state: 'completed' });
  });
});
