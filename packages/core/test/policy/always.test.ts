import { readFile } from 'node:fs/promises';
import { fixture, waitUntil } from '@turnbuckle/testing';
import type { ApprovalAnswer, ApprovalRequest, Caller, ConfiguredOptions } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/config/layers/document.js';
import { createSetting, type Setting } from '../config/setting.js';

const agent = (id = 'claude'): Caller => ({ id, capabilities: ['mcp_integration'] });
const today = () => Date.UTC(2026, 2, 4, 12);

async function openWith(setting: Setting, answers: ApprovalAnswer[], options: ConfiguredOptions = {}) {
  const asked: ApprovalRequest[] = [];
  const configured = await setting.open({
    now: today,
    approve: (request) => {
      asked.push(request);
      return answers.shift() ?? 'deny';
    },
    ...options,
  });
  const echo = (caller?: Caller, text = 'hi') =>
    configured.runtime.callTool('echo', 'echo', { text }, { caller });
  return { ...configured, asked, echo };
}

async function writeUser(setting: Setting, rules = ''): Promise<void> {
  const servers = JSON.stringify({ echo: fixture('echo') });
  await setting.write(setting.userFile, `{\n  // mine\n  "servers": ${servers}${rules}\n}\n`);
}

const rulesIn = async (setting: Setting): Promise<unknown> =>
  Object(parseDocument(await readFile(setting.userFile, 'utf8')).value).rules;

const ALWAYS = {
  action: 'allow',
  server: 'echo',
  tool: 'echo',
  scope: 'user',
  caller: 'claude',
  reason: 'approved 2026-03-04',
};

// requirement P2
describe('an answer "always"', () => {
  it('is written to the user’s file, comments kept, and holds after the next start', async () => {
    const setting = await createSetting();
    await writeUser(setting);
    const first = await openWith(setting, ['always']);
    await first.echo(agent());
    await first.echo(agent());
    expect(first.asked).toHaveLength(1);
    expect(first.asked[0]?.answers).toContain('always');
    expect(await rulesIn(setting)).toEqual([ALWAYS]);
    expect(await readFile(setting.userFile, 'utf8')).toContain('// mine');
    await first.runtime.close();

    const second = await openWith(setting, []);
    await second.echo(agent());
    expect(second.asked).toEqual([]);
    await expect(second.echo(agent('another'))).rejects.toMatchObject({ code: 'CALL_DENIED' });
    expect(second.runtime.pins.list()).toMatchObject([{ server: 'echo', tool: 'echo', by: 'approval' }]);
  });

  it('is in effect after a reload, and in a runtime that follows its files', async () => {
    const setting = await createSetting();
    await writeUser(setting);
    const opened = await openWith(setting, ['always']);
    const stop = await opened.follow(() => {});
    await opened.echo(agent());
    await waitUntil(() => opened.runtime.rules.length === 1);
    await stop();
    expect(opened.runtime.decide({ server: 'echo', tool: 'echo', caller: agent() })).toMatchObject({
      action: 'allow',
      rule: { index: 0, from: 'user', file: setting.userFile },
    });
  });

  it('is inserted directly before the rule that asked', async () => {
    const setting = await createSetting();
    await writeUser(
      setting,
      `,\n  "rules": [
    { "action": "deny", "arguments": { "text": "secret*" } }, // never
    // be asked
    { "action": "ask", "tool": "ech*" },
    { "action": "deny", "tool": "*" }
  ]`,
    );
    const opened = await openWith(setting, ['always']);
    await opened.echo(agent());
    expect(await rulesIn(setting)).toEqual([
      { action: 'deny', arguments: { text: 'secret*' } },
      ALWAYS,
      { action: 'ask', tool: 'ech*' },
      { action: 'deny', tool: '*' },
    ]);
    expect(await readFile(setting.userFile, 'utf8')).toMatch(/never[\s\S]*be asked/);
    await opened.reload();
    await opened.echo(agent());
    await expect(opened.echo(agent(), 'secret things')).rejects.toMatchObject({ code: 'CALL_DENIED' });
  });

  it('to a rule about arguments is limited to these arguments', async () => {
    const setting = await createSetting();
    await writeUser(
      setting,
      ',"rules": [{ "action": "ask", "arguments": { "text": "a*" } }, { "action": "deny", "tool": "echo" }]',
    );
    const opened = await openWith(setting, ['always']);
    await opened.echo(agent(), 'abc');
    expect(await rulesIn(setting)).toMatchObject([{ action: 'allow', arguments: { text: 'a*' } }, {}, {}]);
    await opened.reload();
    await opened.echo(agent(), 'axx');
    await expect(opened.echo(agent(), 'bcd')).rejects.toMatchObject({ code: 'CALL_DENIED' });
  });

  it('is not offered, and holds for the session only, if a rule of higher precedence asks', async () => {
    const setting = await createSetting();
    await writeUser(setting);
    const options = { rules: [{ action: 'ask' as const }] };
    const opened = await openWith(setting, ['always'], options);
    await opened.echo(agent());
    await opened.echo(agent());
    expect(opened.asked.map(({ answers }) => answers)).toEqual([['once', 'session', 'deny']]);
    expect(await rulesIn(setting)).toBeUndefined();
  });

  it('applies to the exact names that were shown, not to patterns', async () => {
    const setting = await createSetting();
    await writeUser(setting);
    const opened = await openWith(setting, ['always']);
    await opened.echo(agent('*'));
    expect(await rulesIn(setting)).toMatchObject([{ caller: '\\*' }]);
    await opened.reload();
    await opened.echo(agent('*'));
    await expect(opened.echo(agent('another'))).rejects.toMatchObject({ code: 'CALL_DENIED' });
  });

  it('for a user’s server does not apply to a project’s server of the same name', async () => {
    const setting = await createSetting();
    await writeUser(setting);
    await (await openWith(setting, ['always'])).echo(agent());
    await setting.write(setting.projectFile, { servers: { echo: fixture('echo') } });
    const inProject = await openWith(setting, [], { trustProject: true });
    await expect(inProject.echo(agent())).rejects.toMatchObject({ code: 'CALL_DENIED' });
  });

  it('that cannot be saved holds for the session, and is reported', async () => {
    const setting = await createSetting();
    const file = await setting.write('mine.json', { servers: { echo: fixture('echo') } });
    await setting.write(setting.userFile, '{ broken');
    const opened = await openWith(setting, ['always'], { files: [file] });
    const lost: unknown[] = [];
    opened.runtime.on('approval.lost', ({ server, tool }) => lost.push([server, tool]));
    await opened.echo(agent());
    await opened.echo(agent());
    expect(opened.asked).toHaveLength(1);
    expect(lost).toEqual([['echo', 'echo']]);
    expect(await readFile(setting.userFile, 'utf8')).toBe('{ broken');
  });

  it('is written once, however many calls wait for it', async () => {
    const setting = await createSetting();
    await writeUser(setting);
    const opened = await openWith(setting, ['always', 'always', 'always']);
    await Promise.all([opened.echo(agent()), opened.echo(agent()), opened.echo(agent())]);
    expect(await rulesIn(setting)).toEqual([ALWAYS]);
  });
});
