/** Nothing changes without a person's yes: every question, with every answer that is not one. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptedPackage, scriptedRecord } from './hostile-servers.js';
import { filesPackage, filesRecord, type Json, openStewardStage, type StewardStage } from './stage.js';

const EIGHT_DAYS_MS = 8 * 24 * 3_600_000;

const ACTIONS = [
  { action: 'install', type: 'add_server', params: { registryName: 'io.github.acme/files' } },
  { action: 'enable', type: 'add_server', params: { registryName: 'io.github.acme/warned' } },
  { action: 'modify', type: 'modify_server', params: { serverName: 'known', changes: { callTimeoutMs: 5 } } },
  { action: 'remove', type: 'remove_server', params: { serverName: 'known' } },
] as const;

const ANSWERS = [
  { answer: 'no answer', state: 'in_progress', code: undefined },
  { answer: 'a no', state: 'failed', code: 'CALL_DENIED' },
  { answer: 'an answer that is too late', state: 'failed', code: 'APPROVAL_NEEDED' },
] as const;

// requirement E3, E4
describe.each(ANSWERS)('with $answer', ({ answer, state, code }) => {
  let stage: StewardStage;
  let clockMs = 0;
  let config: string;
  const asked = new Map<string, { id: string; approval: string }>();

  async function ask({ action, type, params }: (typeof ACTIONS)[number]): Promise<void> {
    const id = await stage.request(type, params);
    let approval = await stage.approval(id);
    if (action === 'enable') {
      // The first question is about installing it.
      const first = String(approval.id);
      await stage.answer(first, 'yes');
      do approval = await stage.approval(id);
      while (approval.id === first);
    }
    expect((approval.subject as Json).action).toBe(action);
    asked.set(action, { id, approval: String(approval.id) });
  }

  beforeAll(async () => {
    stage = await openStewardStage({
      packages: [filesPackage(), scriptedPackage('warned', { isAnnotated: false })],
      records: [filesRecord(), scriptedRecord('warned')],
      config: { servers: { known: fixture('echo') } },
      now: () => Date.now() + clockMs,
    });
    config = readFileSync(stage.configFile, 'utf8');
    for (const action of ACTIONS) await ask(action);
    if (answer === 'a no') for (const { approval } of asked.values()) await stage.answer(approval, 'no');
    if (answer === 'an answer that is too late') clockMs = EIGHT_DAYS_MS;
  });
  afterAll(() => stage.close());

  it.each(ACTIONS)('$action changes nothing', async ({ action }) => {
    const { id, approval } = asked.get(action) ?? { id: '', approval: '' };
    const status = await stage.until(id, state === 'failed' ? 'failed' : 'approval', 'completed');
    expect(status.state).toBe(state);
    expect((status.error as Json | undefined)?.code).toBe(code);
    if (code !== undefined) expect((await stage.answer(approval, 'yes')).status).toBe(404);
    expect(readFileSync(stage.configFile, 'utf8')).toBe(config);
    const { body } = await stage.api('GET', '/api/servers');
    expect((body.servers as Json[]).map(({ name }) => name)).toEqual(['known']);
  });

  it('no package stays, except for one whose question is open', async () => {
    const names = existsSync(stage.packageRoot) ? readdirSync(stage.packageRoot) : [];
    expect(names.filter((name) => !name.startsWith('server-warned-1.0.0-'))).toEqual([]);
    expect(names).toHaveLength(answer === 'no answer' ? 1 : 0);
  });
});
