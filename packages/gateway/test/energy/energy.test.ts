import { fixture } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

let own: OwnDaemon | undefined;
afterEach(async () => {
  await own?.close();
  own = undefined;
});

const SERVERS = { servers: { files: fixture('echo') }, rules: [{ action: 'allow' }] };

async function agentToken(name = 'cursor'): Promise<string> {
  const made = await own?.post('/api/tokens', { name, can: ['mcp_integration'], access: ['call', 'read'] });
  return String(made?.body.token);
}

const echo = (token?: string, text = 'hi') =>
  own?.post('/mcp/call', { server: 'files', tool_name: 'echo', arguments: { text } }, token);

const get = async (path: string): Promise<Record<string, unknown>> =>
  (await (await own?.fetch(path))?.json()) as Record<string, unknown>;

// requirement E5
describe('the energy of calls through the daemon', () => {
  it('is in the log, the API and the metrics', async () => {
    own = await ownDaemon(SERVERS);
    const token = await agentToken();
    expect((await echo(token))?.status).toBe(200);
    await echo();
    const { calls } = (await get('/api/calls')) as { calls: { energy: number; durationMs: number }[] };
    expect(calls).toHaveLength(2);
    for (const { energy, durationMs } of calls) expect(energy).toBeCloseTo(0.1 + (durationMs / 1_000) * 2, 2);
    const { spent, total } = (await get('/api/energy')) as { spent: object[]; total: number };
    expect(spent).toHaveLength(2);
    expect(spent).toContainEqual(
      expect.objectContaining({ caller: 'cursor', server: 'files', tool: 'echo', calls: 1 }),
    );
    expect(total).toBeCloseTo(
      calls.reduce((sum, { energy }) => sum + energy, 0),
      2,
    );
    const metrics = await (await own.fetch('/metrics')).text();
    expect(metrics).toMatch(/turnbuckle_energy_spent_total\{server="files"\} 0\.\d+/);
    expect(metrics).toContain('turnbuckle_energy_estimated_total{server="files"}');
  });

  it('is estimated in lists of tools and in approvals', async () => {
    own = await ownDaemon({
      ...SERVERS,
      rules: [{ action: 'ask', tool: 'add' }],
      energy: { costPerCall: 1 },
    });
    await own.post('/api/servers/files/connect', {});
    const { tools } = (await get('/tools')) as { tools: { tool: string; estimatedEnergyCost?: number }[] };
    expect(tools.find(({ tool }) => tool === 'echo')?.estimatedEnergyCost).toBeGreaterThan(1);
    const listed = (await get('/api/tools')) as { tools: { estimatedEnergyCost?: number }[] };
    expect(listed.tools.every(({ estimatedEnergyCost }) => Number(estimatedEnergyCost) > 1)).toBe(true);
    const token = await agentToken();
    await own.post(
      '/mcp/call',
      { server: 'files', tool_name: 'add', arguments: { a: 1, b: 2 }, approval_wait_ms: 1 },
      token,
    );
    const { approvals } = (await get('/api/approvals')) as { approvals: { energy?: number }[] };
    expect(approvals[0]?.energy).toBeGreaterThan(1);
  });

  it('is in the list of an MCP client if energy is configured, and otherwise definitions are unchanged', async () => {
    const listWith = async (config: object): Promise<Record<string, unknown>[]> => {
      own = await ownDaemon({ ...SERVERS, ...config });
      await own.post('/api/servers/files/connect', {});
      const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
      const send = (body: object, more: Record<string, string> = {}) =>
        own?.fetch('/mcp', { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
      const hello = await send({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      });
      const session = { 'mcp-session-id': String(hello?.headers.get('mcp-session-id')) };
      const answer = await send({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} }, session);
      const { result } = JSON.parse((await answer?.text())?.replace(/^[^{]*/, '') ?? '{}');
      await own.close();
      own = undefined;
      return result.tools;
    };
    const plain = await listWith({});
    expect(plain.every(({ _meta }) => !JSON.stringify(_meta ?? {}).includes('estimatedEnergyCost'))).toBe(
      true,
    );
    const priced = await listWith({ energy: { costPerCall: 2 } });
    for (const { _meta } of priced)
      expect(Object(_meta)['turnbuckle/estimatedEnergyCost']).toBeGreaterThan(2);
  });

  it('is limited by budgets: for a caller, across restarts', async () => {
    const energy = {
      costPerCall: 4,
      costPerSecond: 0,
      budgets: [{ for: 'caller', limit: 10, perSeconds: 86_400 }],
    };
    own = await ownDaemon({ ...SERVERS, energy });
    const token = await agentToken();
    expect((await echo(token))?.status).toBe(200);
    expect((await echo(token))?.status).toBe(200);
    const refused = await echo(token);
    expect(refused).toMatchObject({ status: 429, body: { success: false, code: 'BUDGET_EXCEEDED' } });
    expect(String(refused?.body.error)).toContain('the energy budget of the caller has');
    expect(String(refused?.body.hint)).toMatch(/Repeat the call in \d+ s/);
    // The owner and other callers are not affected.
    expect((await echo())?.status).toBe(200);
    expect((await echo(await agentToken('zed')))?.status).toBe(200);
    const { budgets } = (await get('/api/energy')) as { budgets: { name: string; left: number }[] };
    expect(budgets.find(({ name }) => name === 'cursor')?.left).toBeLessThan(3);
    const { calls } = (await get('/api/calls?caller=cursor&outcome=failed')) as { calls: object[] };
    expect(calls).toMatchObject([{ code: 'BUDGET_EXCEEDED', decision: 'deny', caller: 'cursor' }]);
    await own.daemon.close(1_000);
    own = await ownDaemon({ ...SERVERS, energy }, { stateDir: own.stateDir });
    expect(await echo(token)).toMatchObject({ status: 429, body: { code: 'BUDGET_EXCEEDED' } });
    expect(await (await own.fetch('/metrics')).text()).toContain(
      'turnbuckle_energy_refusals_total{for="caller"} 1',
    );
  });

  it('does not let calls at the same time use the same rest of a budget', async () => {
    const energy = { costPerCall: 3, costPerSecond: 0, budgets: [{ for: 'caller', limit: 10 }] };
    own = await ownDaemon({ ...SERVERS, energy });
    const token = await agentToken();
    await echo();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => echo(token, `${index}`)));
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(3);
  });

  it('does not let calls that are approved at the same time use the same rest of a budget', async () => {
    const energy = { costPerCall: 3, costPerSecond: 0, budgets: [{ for: 'caller', limit: 10 }] };
    own = await ownDaemon({ ...SERVERS, rules: [{ action: 'ask' }], energy });
    const token = await agentToken();
    await own.post('/api/servers/files/connect', {});
    const calls = Array.from({ length: 12 }, (_, index) => echo(token, `${index}`));
    const waiting = async () => ((await get('/api/approvals')) as { approvals: { id: string }[] }).approvals;
    await expect.poll(async () => (await waiting()).length).toBe(12);
    const yes = await Promise.all(
      (await waiting()).map(({ id }) => own?.post(`/api/approvals/${id}`, { answer: 'once' })),
    );
    expect(yes.map((answer) => answer?.status)).toEqual(Array(12).fill(200));
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(3);
    expect(new Set(answers.map((answer) => answer?.body.code))).toEqual(
      new Set([undefined, 'BUDGET_EXCEEDED']),
    );
  });

  it('does not let calls that one answer allows use the same rest of a budget', async () => {
    const energy = { costPerCall: 3, costPerSecond: 0, budgets: [{ for: 'caller', limit: 10 }] };
    own = await ownDaemon({ ...SERVERS, rules: [{ action: 'ask' }], energy });
    const token = await agentToken();
    await own.post('/api/servers/files/connect', {});
    const calls = Array.from({ length: 12 }, () => echo(token, 'same'));
    const waiting = async () => ((await get('/api/approvals')) as { approvals: { id: string }[] }).approvals;
    await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0);
    const [first] = await waiting();
    await own.post(`/api/approvals/${first?.id}`, { answer: 'session' });
    for (const { id } of await waiting()) await own.post(`/api/approvals/${id}`, { answer: 'once' });
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(3);
  });

  it('follows a change of the file, and applies to resources too', async () => {
    own = await ownDaemon(SERVERS);
    const token = await agentToken();
    expect((await echo(token))?.status).toBe(200);
    own.configure({ ...SERVERS, energy: { budgets: [{ for: 'server', server: 'fi*', limit: 0 }] } });
    await expect.poll(async () => (await echo(token))?.status).toBe(429);
    const read = await own.post('/resources/read', { server: 'files', uri: 'note://x' }, token);
    expect(read.body.code).toBe('BUDGET_EXCEEDED');
  });
});
