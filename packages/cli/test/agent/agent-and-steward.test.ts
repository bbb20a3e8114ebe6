/** The agent of the daemon and its steward together, as the command starts them: what both promise their user. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptedPackage, scriptedRecord, scriptOf } from '../../../steward/test/daemon/hostile-servers.js';
import { filesPackage, filesRecord, type Json } from '../../../steward/test/daemon/stage.js';
import { type AgentStage, obedient, openAgentStage } from './agent-stage.js';

/** A server that crashes when it is called. */
const FRAGILE = scriptOf({
  tools: [{ name: 'crash', text: 'Crash.' }],
  onRequest: "if (method === 'tools/call') process.exit(3);",
}).replace(/^#!.*\n/, '');
const HANGING = 'setInterval(() => {}, 9);';
let stage: AgentStage;

beforeAll(async () => {
  stage = await openAgentStage({
    script: obedient,
    packages: [filesPackage(), scriptedPackage('hanging', { start: HANGING, onRequest: 'return;' })],
    records: [filesRecord(), scriptedRecord('hanging')],
    agent: { conversationBudget: 10_000 },
    config: {
      servers: {
        demo: fixture('echo'),
        fragile: { command: process.execPath, args: ['-e', FRAGILE] },
        broken: { command: process.execPath, args: ['-e', 'process.exit(3)'] },
      },
      rules: [{ action: 'allow', server: '*' }],
    },
  });
  await untilTools('demo_echo', 'fragile_crash');
});
afterAll(() => stage?.close());

/** Waits until the daemon offers them. */
async function untilTools(...names: string[]): Promise<void> {
  await waitUntil(async () => {
    const { body } = await stage.api('GET', '/api/tools');
    const offered = (body.tools as Json[]).map(({ name }) => name);
    return names.every((name) => offered.includes(name));
  });
}

const call = (tool: string, input: Json = {}): string => `call ${tool} ${JSON.stringify(input)}`;

async function callOf(run: string): Promise<Json> {
  let found: Json | undefined;
  await waitUntil(async () => {
    const { body } = await stage.api('GET', `/api/calls?run=${run}`);
    found = (body.calls as Json[]).find(({ outcome }) => outcome !== undefined);
    return found !== undefined;
  });
  return found ?? {};
}

async function ask(type: string, params: Json): Promise<Json> {
  return stage.approveAll(await stage.request(type, params));
}

/** The id of the request that a conversation has made. */
async function requestedIn(conversation: string): Promise<string> {
  await stage.reply(conversation, 'queued');
  const { body } = await stage.api('GET', '/api/steward/requests?limit=1');
  return String((body.requests as Json[])[0]?.requestId);
}

// requirement E1, E2, E3, E4, E5, E6, E7
describe('an agent with a steward', () => {
  it('uses the servers that its user has configured', async () => {
    const { body } = await stage.api('GET', '/api/servers');
    expect((body.servers as Json[]).map(({ name }) => name)).toEqual(['broken', 'demo', 'fragile']);
    expect(stage.config().servers).toHaveProperty('demo');
  });

  it('calls the tools of configured servers', async () => {
    const id = await stage.say(call('demo_echo', { text: 'to the server' }));
    expect(await stage.reply(id, 'result')).toContain('to the server');
    expect(await callOf(id)).toMatchObject({ server: 'demo', tool: 'echo', caller: 'agent', outcome: 'ok' });
  });

  it('pays for a call in proportion to its duration', async () => {
    const fast = await callOf(await stage.say(call('demo_echo', { text: 'x' })));
    const slow = await callOf(await stage.say(call('demo_sleep', { ms: 1_000 })));
    // 0.1 for a call, and 2 for each second.
    for (const { energy, durationMs } of [fast, slow])
      expect(Number(energy)).toBeCloseTo(0.1 + (2 * Number(durationMs)) / 1_000, 1);
    expect(Number(slow.energy)).toBeGreaterThan(Number(fast.energy) + 1.5);
  });

  it('has servers added, tested and removed in the background', async () => {
    expect(await ask('add_server', { registryName: 'io.github.acme/files' })).toMatchObject({
      state: 'completed',
    });
    expect(await ask('test_server', { serverName: 'files' })).toMatchObject({ state: 'completed' });
    await untilTools('files_count_words');
    const id = await stage.say(call('files_count_words', { text: 'one two' }));
    expect(await stage.reply(id, 'result')).toContain('2');
    expect(await ask('remove_server', { serverName: 'files' })).toMatchObject({ state: 'completed' });
    expect(stage.config().servers).not.toHaveProperty('files');
  });

  it('pays for the work of the steward', async () => {
    await ask('search_servers', { purpose: 'count words' });
    await waitUntil(async () => {
      const { body } = await stage.api('GET', '/api/steward/requests');
      const used = (body.requests as Json[]).map(({ energyConsumed }) => Number(energyConsumed));
      const { consumed } = (await stage.stats()).energy;
      return Math.abs(consumed.steward - used.reduce((sum, one) => sum + one, 0)) < 0.001;
    });
    const { consumed, deducted } = (await stage.stats()).energy;
    expect(deducted).toBeLessThanOrEqual(consumed.model + consumed.call + consumed.steward + 0.001);
  });

  it('exchanges messages with the steward', async () => {
    const id = await stage.say(call('mcp_request_server_addition', { purpose: 'no such thing anywhere' }));
    // Its news reach the conversation by themselves.
    expect(await stage.reply(id, 'error')).toContain('No server matching');
  });

  it('answers while the steward works', async () => {
    const asking = await stage.say(
      call('mcp_request_server_addition', { serverName: 'io.github.acme/hanging', purpose: 'x' }),
    );
    const requestId = await requestedIn(asking);
    const approval = await stage.approval(requestId);
    await stage.answer(String(approval.id), 'yes');
    // The server that is tested now answers nothing.
    await waitUntil(
      async () => String((await stage.status(requestId)).message).includes('quarantine'),
      60_000,
    );
    const id = await stage.say('are you there');
    expect(await stage.reply(id, 'are you there')).toBe('you said are you there');
    expect(await stage.status(requestId)).toMatchObject({ state: 'in_progress' });
    const cancelling = await stage.say(
      call('mcp_cancel_subagent_work', { requestId, reason: 'no longer needed' }),
      asking,
    );
    expect(cancelling).toBe(asking);
    await stage.until(requestId, 'cancelled');
  });

  it('pauses the work of the steward, and resumes it', async () => {
    await stage.api('POST', '/api/steward/pause');
    const id = await stage.request('search_servers', { purpose: 'count words' });
    expect(await stage.status(id)).toMatchObject({ state: 'queued' });
    await stage.api('POST', '/api/steward/resume');
    expect(await stage.until(id, 'completed')).toMatchObject({ state: 'completed' });
  });

  it('goes on when a server fails', async () => {
    const { body } = await stage.api('GET', '/api/servers');
    const broken = (body.servers as Json[]).find(({ name }) => name === 'broken');
    expect(broken?.status).not.toBe('connected');
    const id = await stage.say(call('fragile_crash'));
    expect(await stage.reply(id, 'result')).toMatch(/failed/);
    const next = await stage.say(call('demo_echo', { text: 'still here' }));
    expect(await stage.reply(next, 'result')).toContain('still here');
  });

  it('keeps configuration, conversations and requests over a restart', async () => {
    await ask('add_server', { registryName: 'io.github.acme/files' });
    const id = await stage.say('remember this');
    await stage.reply(id, 'remember');
    const { body: before } = await stage.api('GET', '/api/steward/requests');
    const spent = (await stage.stats()).energy.consumed.model;
    await stage.restart();
    expect(stage.config().servers).toHaveProperty('files');
    expect((await stage.messages(id)).map(({ text }) => text)).toContain('you said remember this');
    const { body: after } = await stage.api('GET', '/api/steward/requests');
    expect((after.requests as Json[]).map(({ requestId }) => requestId)).toEqual(
      (before.requests as Json[]).map(({ requestId }) => requestId),
    );
    expect((await stage.stats()).energy.consumed.model).toBeGreaterThanOrEqual(spent);
    await untilTools('files_count_words');
    const again = await stage.say(call('files_count_words', { text: 'a b c' }));
    expect(await stage.reply(again, 'result')).toContain('3');
  });
});
