import { fixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { demoFile, openStage, type Stage } from './api-stage.js';

/** A stage with its server connected. */
async function openConnected(options?: Parameters<typeof openStage>[0]): Promise<Stage> {
  const stage = await openStage(options);
  await stage.runtime.connectAll();
  return stage;
}

describe('the daemon itself', () => {
  it('reports only its health without a token', async () => {
    let ready = false;
    const { ask } = await openStage({ isReady: () => ready });
    expect(await ask('GET', '/health', { token: '' })).toMatchObject({
      status: 200,
      text: '{"status":"ok"}',
    });
    expect(await ask('GET', '/ready', { token: '' })).toMatchObject({
      status: 503,
      text: '{"status":"starting"}',
    });
    ready = true;
    expect(await ask('GET', '/ready', { token: '' })).toMatchObject({
      status: 200,
      body: { status: 'ready' },
    });
  });

  it('shows its version and its metrics to a read token', async () => {
    const { ask, runtime } = await openConnected();
    await runtime.callTool('demo', 'echo', { text: 'x' });
    expect((await ask('GET', '/api/daemon')).body).toMatchObject({ version: '1.2.3', pid: process.pid });
    const metrics = await ask('GET', '/metrics');
    expect(metrics.text).toContain('mcp_calls_total{tool_name="mcp__demo__echo",status="success"} 1');
  });
});

describe('the catalog', () => {
  it('lists and searches tools', async () => {
    const { ask } = await openConnected();
    const names = async (query: string): Promise<string[]> =>
      ((await ask('GET', `/api/tools${query}`)).body.tools as { tool: string }[]).map(({ tool }) => tool);
    expect(await names('')).toContain('echo');
    expect(await names('?search=ADDS%20two')).toEqual(['add']);
    expect(await names('?server=nobody')).toEqual([]);
    expect(await ask('GET', '/api/tools?serch=x')).toMatchObject({
      status: 422,
      body: { code: 'ARGUMENTS_INVALID' },
    });
    expect((await ask('GET', '/api/tools?search=a&search=b')).status).toBe(422);
  });

  it('shows all details of one tool, with the decision for a call', async () => {
    const { ask, token, runtime } = await openConnected();
    await runtime.pins.pin('demo', 'add');
    const mine = await ask('GET', '/api/tools/mcp__demo__add');
    expect(mine.body).toMatchObject({
      inputSchema: { properties: { a: { type: 'number' } } },
      pin: { tool: 'add', state: 'same' },
      decision: { action: 'allow' },
      flags: [],
    });
    const agent = await ask('GET', '/api/tools/mcp__demo__add', { token: await token(['read']) });
    expect(agent.body.decision).toMatchObject({ action: 'ask' });
    expect((await ask('GET', '/api/tools/mcp__demo__none')).body.code).toBe('TOOL_UNKNOWN');
  });

  it('lists resources and prompts', async () => {
    const { ask } = await openConnected();
    const { body } = await ask('GET', '/api/resources?server=demo');
    expect(body).toMatchObject({ resources: expect.any(Array), templates: expect.any(Array) });
    expect(JSON.stringify(body.resources)).toContain('"server":"demo"');
    expect(JSON.stringify((await ask('GET', '/api/prompts')).body)).toContain('"server":"demo"');
    expect((await ask('GET', '/api/prompts?server=nobody')).status).toBe(404);
  });
});

describe('calls', () => {
  it('are found, shown, counted and replayed', async () => {
    const { ask, runtime, log } = await openConnected();
    for (const text of ['apples', 'pears', 'apples and pears'])
      await runtime.callTool('demo', 'echo', { text });
    await runtime.callTool('demo', 'fail', {});
    await log.flush();
    const first = await ask('GET', '/api/calls?limit=3');
    expect(first.body.calls).toHaveLength(3);
    const rest = await ask('GET', `/api/calls?limit=3&before=${first.body.next}`);
    expect(rest.body.calls).toHaveLength(1);
    expect(rest.body.next).toBeUndefined();
    const found = await ask(
      'GET',
      '/api/calls?search=pears&server=demo&tool=echo&outcome=ok&since=2020-01-01',
    );
    const calls = found.body.calls as { id: string; arguments: string }[];
    expect(calls.map((call) => call.arguments)).toEqual(['{"text":"apples and pears"}', '{"text":"pears"}']);
    const id = calls[1]?.id ?? '';
    expect((await ask('GET', `/api/calls/${id}`)).body).toMatchObject({ id, outcome: 'ok' });
    const again = await ask('POST', `/api/calls/${id}/replay`);
    expect(again.body).toMatchObject({ success: true, result: { content: [{ text: 'pears' }] } });
    await log.flush();
    expect((await ask('GET', `/api/calls/${again.body.id}`)).body).toMatchObject({ tool: 'echo' });
    const stats = await ask('GET', '/api/stats?order=slowest&spanMs=60000');
    expect(stats.body).toMatchObject({
      servers: [{ server: 'demo', calls: 5, failures: 1 }],
      overTime: [{ calls: 5 }],
    });
    expect((await ask('GET', '/api/calls/none')).status).toBe(404);
    expect((await ask('GET', '/api/calls?since=yesterday')).status).toBe(422);
    for (const query of [
      'calls?limit=0',
      'calls?limit=1.5',
      'calls?before=Infinity',
      'stats?spanMs=Infinity',
    ])
      expect([query, (await ask('GET', `/api/${query}`)).status]).toEqual([query, 422]);
  });

  it('are not replayed if their arguments were redacted or cut, or if they are no tool calls', async () => {
    const { ask, runtime, log } = await openConnected();
    await runtime.callTool('demo', 'echo', { text: 'ghp_0123456789abcdefghijABCDEFGHIJ012345' });
    await runtime.callTool('demo', 'echo', { text: 'x'.repeat(40_000) });
    const [resource] = await runtime.listResources('demo');
    await runtime.readResource('demo', resource?.uri ?? '');
    await log.flush();
    const { body } = await ask('GET', '/api/calls');
    const calls = body.calls as { id: string }[];
    expect(calls).toHaveLength(3);
    for (const { id } of calls)
      expect(await ask('POST', `/api/calls/${id}/replay`)).toMatchObject({
        status: 422,
        body: { code: 'ARGUMENTS_INVALID' },
      });
  });

  it('are not found if the daemon keeps no log', async () => {
    const { ask } = await openStage({ withoutLog: true });
    for (const path of ['/api/calls', '/api/calls/x', '/api/stats'])
      expect(await ask('GET', path)).toMatchObject({ status: 404, body: { code: 'PATH_UNKNOWN' } });
  });
});

describe('approvals', () => {
  it('are listed and answered', async () => {
    const { ask, runtime } = await openConnected();
    const caller = { id: 'agent', capabilities: ['mcp_integration'] };
    const call = runtime.callTool('demo', 'echo', { text: 'hello' }, { caller });
    await waitUntil(() => runtime.approvals.pending().length === 1);
    const { body } = await ask('GET', '/api/approvals');
    const [asked] = body.approvals as { id: string }[];
    expect(asked).toMatchObject({
      server: 'demo',
      tool: 'echo',
      callerId: 'agent',
      arguments: { text: 'hello' },
    });
    const answer = (word: string) => ask('POST', `/api/approvals/${asked?.id}`, { body: { answer: word } });
    expect((await answer('maybe')).status).toBe(422);
    expect((await answer('once')).body).toEqual({ id: asked?.id, answer: 'once' });
    expect(await call).toMatchObject({ content: [{ text: 'hello' }] });
    expect(await answer('deny')).toMatchObject({ status: 404, body: { code: 'PATH_UNKNOWN' } });
    expect((await ask('GET', '/api/approvals')).body).toEqual({ approvals: [] });
  });

  it('refuse an answer that would have no effect', async () => {
    const file = demoFile().replace('// Mine.', '"flows": "ask", "rules": [],');
    const { ask, runtime } = await openConnected({ file });
    runtime.setRules([{ rule: { action: 'ask', server: 'demo' }, from: 'managed', position: 0 }]);
    const caller = { id: 'agent', capabilities: ['mcp_integration'] };
    const call = runtime.callTool('demo', 'echo', { text: 'x' }, { caller }).catch((error: unknown) => error);
    await waitUntil(() => runtime.approvals.pending().length === 1);
    const id = runtime.approvals.pending()[0]?.id;
    expect((await ask('POST', `/api/approvals/${id}`, { body: { answer: 'always' } })).status).toBe(422);
    expect((await ask('POST', `/api/approvals/${id}`, { body: { answer: 'deny' } })).status).toBe(200);
    expect(await call).toMatchObject({ code: 'CALL_DENIED' });
  });
});

describe('rules and pins', () => {
  it('rules are listed and tested', async () => {
    const file = demoFile().replace('// Mine.', '"rules": [{ "action": "deny", "tool": "fail" }],');
    const { ask } = await openConnected({ file });
    expect((await ask('GET', '/api/rules')).body).toMatchObject({
      rules: [{ rule: { action: 'deny', tool: 'fail' }, from: 'user', line: 2 }],
      toolApprovalRequired: true,
      pins: 'approved',
    });
    const test = (body: unknown) => ask('POST', '/api/rules/test', { body });
    expect((await test({ server: 'demo', tool: 'fail' })).body).toMatchObject({
      decision: { action: 'deny', rule: { index: 0 } },
      unsure: false,
    });
    const caller = { id: 'agent', capabilities: ['mcp_demo'] };
    const asked = await test({ server: 'demo', tool: 'echo', arguments: { text: 'x' }, caller });
    expect(asked.body).toMatchObject({ decision: { action: 'ask' } });
    expect((await test({ server: 'demo' })).status).toBe(422);
  });

  it('pins are set and removed', async () => {
    const { ask } = await openConnected();
    expect((await ask('POST', '/api/pins/demo/echo')).body).toEqual({ pinned: ['echo'] });
    expect((await ask('GET', '/api/pins')).body).toMatchObject({ pins: [{ tool: 'echo', state: 'same' }] });
    expect((await ask('POST', '/api/pins/demo/none')).body.code).toBe('TOOL_UNKNOWN');
    expect((await ask('DELETE', '/api/pins/demo/echo')).body).toEqual({ unpinned: ['echo'] });
    expect((await ask('DELETE', '/api/pins/demo/echo')).body).toEqual({ unpinned: [] });
  });
});

describe('names with a slash or other special characters', () => {
  it('are percent-encoded in a path', async () => {
    const servers = { 'odd/one': fixture('bad-tools', '--only', 'names') };
    const { ask, runtime } = await openConnected({ file: JSON.stringify({ servers }) });
    const server = encodeURIComponent('odd/one');
    expect((await ask('GET', `/api/servers/${server}`)).body).toMatchObject({ name: 'odd/one' });
    expect((await ask('GET', `/api/servers/${server}/sign-in`)).body).toMatchObject({ server: 'odd/one' });
    expect((await ask('POST', `/api/servers/${server}/ping`)).body).toMatchObject({ alive: true });
    expect((await ask('POST', `/api/servers/${server}/disable`)).status).toBe(200);
    expect((await ask('POST', `/api/servers/${server}/enable`)).status).toBe(200);
    await runtime.connect('odd/one');
    const tools = runtime.tools().map(({ tool }) => tool);
    expect(tools).toContain('odd/slash.dot:colon');
    for (const tool of tools) {
      const path = `/api/pins/${server}/${encodeURIComponent(tool)}`;
      expect([tool, (await ask('POST', path)).body]).toEqual([tool, { pinned: [tool] }]);
      expect([tool, (await ask('DELETE', path)).body]).toEqual([tool, { unpinned: [tool] }]);
    }
    expect((await ask('POST', `/api/pins/${server}/odd%2Fother`)).body.code).toBe('TOOL_UNKNOWN');
    // A slash that is not encoded begins another path segment.
    expect((await ask('POST', '/api/pins/odd/one/echo')).status).toBe(404);
    expect((await ask('DELETE', `/api/servers/${server}`)).body).toMatchObject({ removed: 'odd/one' });
  });
});

describe('the configuration', () => {
  it('shows files, origins and problems, and can be reloaded', async () => {
    const { ask, file, changes } = await openStage({
      file: demoFile().replace('// Mine.', '"flows": "deny", "nonsense": 1,'),
    });
    const { body } = await ask('GET', '/api/config');
    expect(body).toMatchObject({
      settings: { flows: { value: 'deny', origin: { file, line: 2 } } },
      servers: [{ name: 'demo', origin: { scope: 'user' } }],
      problems: [{ message: expect.stringContaining('nonsense') }],
    });
    const { writeFile } = await import('node:fs/promises');
    await writeFile(file, '{ "servers": {} }');
    const reloaded = await ask('POST', '/api/config/reload');
    expect(reloaded.body).toEqual({ added: [], removed: ['demo'], changed: [], errors: {}, problems: [] });
    expect(changes.count).toBe(1);
  });
});

describe('tokens', () => {
  it('accept the deprecated access look and manage, and answer with read and admin', async () => {
    const { ask } = await openStage();
    const body = { name: 'old', can: ['mcp_integration'], access: ['look', 'manage'] };
    const made = await ask('POST', '/api/tokens', { body });
    expect(made.body).toMatchObject({ facts: { access: ['read', 'admin'] } });
    expect((await ask('GET', '/api/config', { token: String(made.body.token) })).status).toBe(200);
    const wrong = await ask('POST', '/api/tokens', { body: { ...body, name: 'x', access: ['all'] } });
    expect(wrong.status).toBe(422);
    expect(wrong.text).not.toContain('manage');
  });

  it('are created, listed without their values, and revoked', async () => {
    const { ask } = await openStage();
    const body = { name: 'ci', can: ['mcp_demo'], access: ['read'], expires: '2999-01-01T00:00:00Z' };
    const made = await ask('POST', '/api/tokens', { body });
    const token = String(made.body.token);
    expect(token).toMatch(/^tbk_/);
    expect((await ask('GET', '/api/servers', { token })).status).toBe(200);
    const listed = await ask('GET', '/api/tokens');
    expect(listed.text).not.toContain(token);
    expect(listed.body.tokens).toMatchObject([{ name: 'ci' }, { name: 'owner' }]);
    expect((await ask('POST', '/api/tokens', { body })).body.code).toBe('NAME_TAKEN');
    expect((await ask('POST', '/api/tokens', { body: { ...body, name: 'a b' } })).status).toBe(422);
    expect(
      (await ask('POST', '/api/tokens', { body: { ...body, expires: '2001-01-01T00:00:00Z' } })).status,
    ).toBe(422);
    expect((await ask('DELETE', '/api/tokens/ci')).body).toEqual({ revoked: 'ci' });
    expect((await ask('GET', '/api/servers', { token })).status).toBe(401);
    expect((await ask('DELETE', '/api/tokens/ci')).status).toBe(404);
  });
});
