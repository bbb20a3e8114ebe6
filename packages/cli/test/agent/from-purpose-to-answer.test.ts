/** What a user asks for in a conversation, from the purpose to the answer: found, approved, installed, tested, called. */
import { existsSync, readdirSync } from 'node:fs';
import type { ScriptedAnswer, ScriptedRequest } from '@turnbuckle/model';
import { REGISTRY_RECORDS, waitUntil } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { FAILING, REFUSED } from '../../../steward/test/daemon/hostile-packages.js';
import { scriptedRecord } from '../../../steward/test/daemon/hostile-servers.js';
import { filesPackage, filesRecord, type Json } from '../../../steward/test/daemon/stage.js';
import { type AgentStage, callTool, lastOf, openAgentStage, respond } from './agent-stage.js';

let stage: AgentStage;
afterEach(() => stage?.close());

const TOOL = 'files_count_words';

/** A model that does what a good one would: it asks the steward, waits for its news, and uses the new tool. */
function helpful(request: ScriptedRequest): ScriptedAnswer {
  const { role, text } = lastOf(request);
  const wanted = /add (\S+)$/.exec(text)?.[1];
  if (role === 'user' && wanted !== undefined)
    return callTool('mcp_request_server_addition', { purpose: 'files', serverName: wanted });
  if (role === 'user' && text.startsWith('Find me something'))
    return callTool('mcp_request_server_addition', { purpose: 'read text files and count their words' });
  if (role === 'tool' && /"state":"queued"/.test(text))
    return respond('I have asked for it. You will be asked before it is installed.');
  const failed = /Request (\S+): error/.exec(text);
  if (role === 'user' && failed !== null) return respond(`It cannot be added: ${text}`);
  const added = /Request (\S+): completion/.exec(text)?.[1];
  if (role === 'user' && added !== undefined)
    return callTool('mcp_check_subagent_status', { requestId: added });
  if (role === 'tool' && text.includes('"verdict"')) {
    const { tools } = request;
    return tools.includes(TOOL)
      ? callTool(TOOL, { text: 'one two three' })
      : respond(`missing: ${tools.join()}`);
  }
  if (role === 'tool') return respond(`It has ${/\d+/.exec(text.replace(/<data[^>]*>/, ''))?.[0]} words.`);
  return { calls: [{ name: 'think', input: { thought: 'nothing to do' } }] };
}

const installed = (): unknown[] =>
  existsSync(stage.packageRoot) ? readdirSync(stage.packageRoot, { recursive: true }) : [];

const requestOf = async (): Promise<Json> => {
  let found: Json | undefined;
  await waitUntil(async () => {
    const { body } = await stage.api('GET', '/api/steward/requests');
    found = (body.requests as Json[])[0];
    return found !== undefined;
  });
  return found ?? {};
};

// requirement E2, E3, E5, E6, E7
describe('a purpose in a conversation', () => {
  it('ends in an answer: search, approval, installation, test, call, with the energy of each step', async () => {
    stage = await openAgentStage({ script: helpful });
    const id = await stage.say('Find me something for files, add it, test it, and count: one two three');
    await stage.reply(id, 'You will be asked');
    const { requestId, requestedBy } = await requestOf();
    expect(requestedBy).toBe('agent');
    const asked = await stage.approval(String(requestId));
    expect(asked.subject).toMatchObject({ summary: expect.stringContaining('@acme/server-files 1.2.3') });
    expect(installed()).toEqual([]);
    expect(stage.config()).not.toHaveProperty('servers');

    const done = await stage.approveAll(String(requestId));
    expect(done).toMatchObject({ state: 'completed', result: { serverName: 'files' } });
    // The call of the new tool is asked for, too.
    await waitUntil(async () => (await stage.answerCalls('once')) > 0, 60_000);
    expect(await stage.reply(id, 'words')).toBe('It has 3 words.');

    const { body } = await stage.api('GET', `/api/calls?server=files&run=${id}`);
    const [call] = body.calls as Json[];
    expect(call).toMatchObject({ caller: 'agent', run: id, tool: 'count_words', outcome: 'ok' });
    await waitUntil(async () => {
      const { energy } = await stage.stats();
      return Math.abs(energy.consumed.steward - Number(done.energyConsumed)) < 0.001;
    });
    const { energy } = await stage.stats();
    expect(energy.consumed.call).toBeCloseTo(Number(call?.energy), 3);
    expect(energy.consumed.model).toBeGreaterThan(0);
    await waitUntil(async () => {
      const { consumed, deducted } = (await stage.stats()).energy;
      return Math.abs(consumed.model + consumed.call + consumed.steward - deducted) < 0.001;
    });
  });

  it('never ends in an installation without a yes', async () => {
    stage = await openAgentStage({ script: helpful });
    const id = await stage.say('Find me something for files');
    await stage.reply(id, 'You will be asked');
    const { requestId } = await requestOf();
    const asked = await stage.approval(String(requestId));
    await stage.answer(String(asked.id), 'no');
    expect(await stage.reply(id, 'cannot be added')).toContain('was not approved');
    expect(installed()).toEqual([]);
    expect(stage.config()).not.toHaveProperty('servers');
  });

  it('that leads to a hostile package ends with the reason, and leaves no file and no server', async () => {
    const hostile = [...REFUSED.filter(({ exact }) => exact === undefined), ...FAILING];
    stage = await openAgentStage({
      script: helpful,
      packages: [filesPackage(), ...hostile.flatMap(({ package: one }) => one ?? [])],
      records: [
        ...REGISTRY_RECORDS,
        filesRecord(),
        ...hostile.map(({ name, record }) => scriptedRecord(name, record)),
      ],
      config: { energy: {} },
      agent: { conversationBudget: 10_000, lowEnergy: 'finish', energy: { replenishPerSecond: 1_000 } },
    });
    const before = JSON.stringify(stage.config());
    for (const { name, error } of hostile) {
      // The name of a tool that another server has is only known if there is one.
      if (name === 'shadowing') continue;
      const id = await stage.say(`add io.github.acme/${name}`);
      await stage.reply(id, 'You will be asked');
      const { body } = await stage.api('GET', '/api/steward/requests?limit=1');
      const [latest] = body.requests as Json[];
      const status = await stage.approveAll(String(latest?.requestId));
      expect([name, status.state]).toEqual([name, 'failed']);
      expect(String((status.error as Json).message)).toContain(error);
      await stage.reply(id, 'cannot be added');
      expect(installed()).toEqual([]);
      expect(JSON.stringify(stage.config())).toBe(before);
    }
    const left = readdirSync(stage.home.path, { recursive: true, encoding: 'utf8' });
    expect(left.filter((path) => /left-|made-by-script/.test(path))).toEqual([]);
  }, 180_000);
});
