import { fixture, type RunningFixture, startFixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/tokens/token-store.js';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

let own: OwnDaemon;
let web: RunningFixture;
let agent: string;
let file: { readonly servers: object; readonly daemon: object };
beforeAll(async () => {
  web = await startFixture('echo', { transport: 'http' });
  file = { servers: {}, daemon: { bridge: { urls: [web.url] } } };
  own = await ownDaemon(file);
  const tokens = await TokenStore.open({ stateDir: own.stateDir });
  ({ token: agent } = await tokens.create({ name: 'agent', can: ['mcp_integration'], access: ['call'] }));
});
afterAll(async () => {
  await own.close();
  await web.stop();
});

const call = (token?: string) =>
  own.post('/mcp/call', { endpoint: { url: web.url }, tool_name: 'echo', arguments: { text: 'hi' } }, token);
const read = async (path: string): Promise<string> => (await own.fetch(path)).text();
const waiting = async (): Promise<Array<{ id: string; server: string; answers: string[] }>> =>
  JSON.parse(await read('/api/approvals')).approvals;

describe('a server that is given in a request', () => {
  it('is in the log under a name with its host, and in the metrics without the host', async () => {
    expect(await call()).toMatchObject({ status: 200, body: { success: true } });
    const { calls } = JSON.parse(await read('/api/calls'));
    expect(calls).toMatchObject([{ tool: 'echo', outcome: 'ok' }]);
    expect(calls[0].server).toMatch(/^inline-127\.0\.0\.1-\d+-[0-9a-f]{32}$/);
    const metrics = await read('/metrics');
    expect(metrics).toContain('mcp_calls_total{tool_name="inline_echo",status="success"} 1');
    // Not in a label; the value of a metric may contain these digits by chance.
    expect(metrics).not.toMatch(/="[^"]*127/);
    expect(metrics).toContain('turnbuckle_calls_in_flight 0');
  });

  it('needs approval like other calls of agents, and the answer is used', async () => {
    const refused = call(agent);
    await waitUntil(async () => (await waiting()).length === 1);
    const [first] = await waiting();
    expect(first).toMatchObject({ tool: 'echo', callerId: 'agent', answers: ['once', 'session', 'deny'] });
    await own.post(`/api/approvals/${first?.id}`, { answer: 'deny' });
    expect(await refused).toMatchObject({ body: { success: false, code: 'CALL_DENIED' } });

    const allowed = call(agent);
    await waitUntil(async () => (await waiting()).length === 1);
    await own.post(`/api/approvals/${(await waiting())[0]?.id}`, { answer: 'session' });
    expect(await allowed).toMatchObject({ body: { success: true } });
    expect(await call(agent)).toMatchObject({ body: { success: true } });
  });

  it('follows the rules of the configuration, also after they change', async () => {
    own.configure({ ...file, rules: [{ action: 'deny', server: 'inline-*' }] });
    await waitUntil(async () => (await call()).body.code === 'CALL_DENIED');
    own.configure({ ...file, rules: [{ action: 'allow', server: 'inline-127.0.0.1-*' }] });
    await waitUntil(async () => (await call(agent)).body.success === true);
  });

  it.each([
    ['once', 'ok'],
    ['deny', 'failed'],
  ])('reports a pending approval in time, and the next call uses the answer "%s"', async (given, outcome) => {
    const patient = await ownDaemon({ ...file, daemon: { ...file.daemon, approvalWaitMs: 1_000 } });
    try {
      const tokens = await TokenStore.open({ stateDir: patient.stateDir });
      const { token } = await tokens.create({ name: 'a', can: ['mcp_integration'], access: ['call'] });
      const body = { endpoint: { url: web.url }, tool_name: 'echo', arguments: { text: 'later' } };
      const answer = await patient.post('/mcp/call', body, token);
      expect(answer).toMatchObject({ body: { success: false, code: 'APPROVAL_PENDING' } });
      const { approvals } = JSON.parse(await (await patient.fetch('/api/approvals')).text());
      expect(JSON.stringify(answer.body)).toContain(approvals[0].id);
      await patient.post(`/api/approvals/${approvals[0].id}`, { answer: given });
      const repeated = await patient.post('/mcp/call', body, token);
      expect(repeated).toMatchObject({ body: { success: given === 'once' } });
      const { calls } = JSON.parse(await (await patient.fetch('/api/calls')).text());
      expect(calls).toMatchObject([
        { outcome, approval: `${given} by owner` },
        { outcome: 'failed', code: 'APPROVAL_PENDING' },
      ]);
    } finally {
      await patient.close();
    }
  });
});

describe('an agent that uses a configured server and a server of a request', () => {
  const SECRET = `zebra${Math.random().toString(36).slice(2)}lampshade`;
  let both: OwnDaemon;
  let token: string;
  beforeAll(async () => {
    both = await ownDaemon({
      servers: {
        vault: { ...fixture('echo'), labels: ['private'], env: { API_KEY: SECRET } },
        web: { ...fixture('echo'), labels: ['untrusted'] },
        out: { url: web.url },
      },
      rules: [{ action: 'deny', secrets: true }, { action: 'allow' }],
      flows: 'deny',
      daemon: { bridge: { urls: [web.url] } },
    });
    const tokens = await TokenStore.open({ stateDir: both.stateDir });
    ({ token } = await tokens.create({ name: 'agent', can: ['mcp_integration'], access: ['call'] }));
    await call('vault', 'once');
  });
  afterAll(() => both.close());
  const call = (to: string | { readonly url: string }, text: string, tool = 'echo') => {
    const where = typeof to === 'string' ? { server: to } : { endpoint: to };
    const args = tool === 'echo' ? { text } : { label: text };
    return both.post('/mcp/call', { ...where, tool_name: tool, arguments: args }, token);
  };

  it.each(['out', 'request'])('is refused a secret that is known here: %s', async (to) => {
    const answer = await call(to === 'out' ? 'out' : { url: web.url }, `take ${SECRET}`);
    expect(answer).toMatchObject({ body: { success: false, code: 'CALL_DENIED' } });
    const { calls } = JSON.parse(await (await both.fetch('/api/calls')).text());
    expect(calls[0]).toMatchObject({ code: 'CALL_DENIED' });
    expect(JSON.stringify(calls)).not.toContain(SECRET);
  });

  it.each(['out', 'request'])('has one run, and cannot send private data out of it: %s', async (to) => {
    await call('web', 'untrusted text');
    const answer = await call(to === 'out' ? 'out' : { url: web.url }, 'anything', 'count');
    expect(answer).toMatchObject({ body: { success: false, code: 'CALL_DENIED' } });
    expect(JSON.stringify(answer.body)).toContain('this run has read private data');
  });

  it('cannot send it to an address of its own either, whatever that server says about its tools', async () => {
    await call('web', 'untrusted text');
    const answer = await call({ url: web.url }, 'anything');
    expect(answer).toMatchObject({ body: { success: false, code: 'CALL_DENIED' } });
    expect(JSON.stringify(answer.body)).toContain('this run has read private data');
    // The configuration says what a server is; without labels or annotations it is nothing.
    expect(await call('out', 'anything')).toMatchObject({ body: { success: true } });
  });

  it('is neither refused nor hidden for what the request of another brings along as a secret, nor makes it forget one', async () => {
    const word = 'https://git.example/production';
    const bring = (value: string) =>
      both.post('/mcp/call', {
        endpoint: { url: web.url, headers: { 'x-api-key': value } },
        tool_name: 'echo',
        arguments: { text: `it is ${value}` },
      });
    await bring(word);
    const { calls: brought } = JSON.parse(await (await both.fetch('/api/calls')).text());
    expect(JSON.stringify(brought[0])).not.toContain(word);
    expect(await call('vault', `take ${word}`)).toMatchObject({ body: { success: true } });
    const { calls } = JSON.parse(await (await both.fetch('/api/calls')).text());
    expect(JSON.stringify(calls[0])).toContain(word);
    for (let count = 0; count < 300; count += 100)
      await Promise.all([...Array(100).keys()].map((index) => bring(`junk-header-number-${count + index}`)));
    expect(await call('out', `take ${SECRET}`)).toMatchObject({ body: { code: 'CALL_DENIED' } });
  });

  it('has no secret of its own in the log, however many others bring meanwhile', async () => {
    const own = 'the-key-of-one-agent-77';
    const body = (headers: Record<string, string>, text: string) => ({
      endpoint: { url: web.url, headers },
      tool_name: 'echo',
      arguments: { text },
    });
    const use = () => both.post('/mcp/call', body({ 'x-api-key': own }, `it is ${own}`));
    const tokens = await TokenStore.open({ stateDir: both.stateDir });
    const { token: other } = await tokens.create({
      name: 'flood',
      can: ['mcp_integration'],
      access: ['call'],
    });
    expect(await use()).toMatchObject({ body: { success: true } });
    const many = (from: number) =>
      Object.fromEntries([...Array(200).keys()].map((at) => [`x-${at}-key`, `brought-along-${from + at}`]));
    for (const from of [0, 1_000, 2_000]) await both.post('/mcp/call', body(many(from), 'junk'), other);
    expect(await use()).toMatchObject({ body: { success: true } });
    const { calls } = JSON.parse(await (await both.fetch('/api/calls?limit=10')).text());
    expect(calls.length).toBeGreaterThanOrEqual(5);
    expect(JSON.stringify(calls)).not.toContain(own);
  });
});
