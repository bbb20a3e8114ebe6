import { jsonSchema } from 'turnbuckle/host';
import { Compile } from 'typebox/schema';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { createSetting, type Setting } from '../config/setting.js';

const told = (rules: readonly { rule: { tool?: unknown; action: string }; from: string }[]): string[] =>
  rules.map(({ rule, from }) => `${from} ${rule.action} ${String(rule.tool)}`);

/** Only on Windows can the location of a managed file be set. */
const managedEnvironment = ({ home }: Setting) => ({
  HOME: home,
  USERPROFILE: home,
  APPDATA: `${home}/app`,
  PROGRAMDATA: `${home}/pd`,
});

/** With a managed file. */
const loadManaged = (setting: Setting, more: object = {}) =>
  loadConfig({
    cwd: setting.project,
    home: setting.home,
    platform: 'win32',
    environment: managedEnvironment(setting),
    trust: { isTrusted: async () => true },
    ...more,
  });

describe('rules in files', () => {
  it('apply from the highest precedence to the lowest, those of a project last', async () => {
    const setting = await createSetting();
    const rule = (tool: string, action = 'ask') => ({
      rules: [
        { action, tool },
        { action, tool: `${tool}2` },
      ],
    });
    await setting.write('pd/turnbuckle/managed-mcp.json', rule('managed', 'allow'));
    await setting.write('app/turnbuckle/mcp.json', rule('user', 'allow'));
    await setting.write(setting.projectFile, rule('project', 'deny'));
    await setting.write(setting.localFile, rule('local'));
    const one = await setting.write('one.json', rule('one'));
    const two = await setting.write('two.json', rule('two', 'deny'));
    const { rules, problems } = await loadManaged(setting, { files: [one, two] });
    expect(problems).toEqual([]);
    expect(told(rules)).toEqual([
      'managed allow managed',
      'managed allow managed2',
      'flags deny two',
      'flags deny two2',
      'flags ask one',
      'flags ask one2',
      'user allow user',
      'user allow user2',
      'local ask local',
      'local ask local2',
      'project deny project',
      'project deny project2',
    ]);
  });

  it('have their file and line', async () => {
    const setting = await createSetting();
    await setting.write(
      setting.userFile,
      '{\n  "rules": [\n    { "action": "ask" },\n\n    { "action": "deny" }\n  ]\n}',
    );
    const { rules } = await setting.load();
    expect(rules.map(({ file, line, position }) => [file, line, position])).toEqual([
      [setting.userFile, 3, 0],
      [setting.userFile, 5, 1],
    ]);
  });

  it('of a project may not allow: such a rule is reported with its place, the rest is kept', async () => {
    const setting = await createSetting();
    await setting.write(
      setting.projectFile,
      '{ "rules": [\n{ "action": "deny", "tool": "a" },\n{ "action": "allow", "tool": "b" },\n{ "action": "ask", "tool": "c" }] }',
    );
    await setting.write(setting.localFile, { rules: [{ action: 'allow', tool: 'd' }] });
    const { rules, problems } = await setting.load();
    expect(told(rules)).toEqual(['project deny a', 'project ask c']);
    expect(problems.map(({ message }) => message)).toEqual([
      `${setting.projectFile}:3:3: rules[1].action: a project rule can only ask or deny, not allow (this rule is ignored).`,
      expect.stringContaining('a project rule can only ask or deny'),
    ]);
  });

  it.each([
    [{ action: 'deny', sever: 'x' }, 'rules[0].sever: unknown key "sever" (did you mean "server"?)', 'ask'],
    [{ action: 'dny', server: 'x' }, 'rules[0].action', 'ask'],
    [{ server: 'x' }, 'rules[0].action', 'ask'],
    ['deny', 'rules[0]', 'ask'],
    [
      { action: 'deny', arguments: { path: { regex: '.*' } } },
      'rules[0].arguments.path: expected a glob',
      'ask',
    ],
    [{ action: 'deny', arguments: { path: {} } }, 'rules[0].arguments.path: expected a glob', 'ask'],
    [{ action: 'deny', arguments: { 'a..b': 'x' } }, 'expected an argument path', 'ask'],
    [{ action: 'deny', annotations: { readonly: true } }, 'unknown key "readonly"', 'ask'],
    [{ action: 'deny', server: [] }, 'rules[0].server', 'ask'],
    [{ action: 'allow', sever: 'x' }, 'rules[0].sever', undefined],
    [{ action: 'allow', tool: 5 }, 'rules[0].tool', undefined],
  ])('that are invalid allow nothing: %j', async (rule, problem, guard) => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { rules: [rule, { action: 'allow', tool: 'kept' }] });
    const { rules, problems } = await setting.load();
    expect(problems[0]?.message).toContain(problem);
    expect(told(rules)).toEqual([
      ...(guard === undefined ? [] : [`user ${guard} undefined`]),
      'user allow kept',
    ]);
  });

  it('that are invalid deny everything in a managed file', async () => {
    const setting = await createSetting();
    await setting.write('pd/turnbuckle/managed-mcp.json', { rules: [{ action: 'deny', tol: 'x' }] });
    expect(told((await loadManaged(setting)).rules)).toEqual(['managed deny undefined']);
  });

  it.each([{ rules: {} }, { rules: 'deny' }, { rule: [{ action: 'deny', tool: 'x' }] }, { Rules: [] }])(
    'that are not a list, or under a misspelt key, make every call ask: %j',
    async (file) => {
      const setting = await createSetting();
      await setting.write(setting.userFile, file);
      const { rules, problems } = await setting.load();
      expect(problems).toHaveLength(1);
      expect(told(rules)).toEqual(['user ask undefined']);
    },
  );

  it('under a misspelt key are named by its line, and nothing says that the rest is not affected', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, '{\n  "servers": {},\n  "rulez": []\n}');
    const { rules, problems } = await setting.load();
    expect(rules.map(({ line }) => line)).toEqual([3]);
    expect(problems.map(({ message, hint }) => [message, hint])).toEqual([
      [
        expect.stringMatching(/^\S+:3:3: rulez: .*requires approval, including your own\)\.$/),
        'Correct the file at this position.',
      ],
    ]);
  });

  it('stay in effect while their file cannot be read', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { rules: [{ action: 'deny', tool: 'x' }] });
    const { runtime, config, reload } = await setting.open();
    await setting.write(setting.userFile, '{ "rules": [');
    await reload();
    expect(told(config().rules)).toEqual(['user deny x']);
    await setting.write(setting.userFile, {
      rules: [{ action: 'allow', tool: 'y' }],
      toolApprovalRequired: false,
    });
    await reload();
    expect(told(runtime.rules)).toEqual(['user allow y']);
    const caller = { id: 'a', capabilities: ['mcp_integration'] };
    expect(runtime.decide({ server: 's', tool: 'z', caller })).toMatchObject({ action: 'allow' });
    await setting.write(setting.userFile, '{}');
    await reload();
    expect(runtime.decide({ server: 's', tool: 'z', caller })).toMatchObject({ action: 'ask' });
  });

  it('rank below the program’s own, and both below the administrator’s', async () => {
    const setting = await createSetting();
    await setting.write('pd/turnbuckle/managed-mcp.json', { rules: [{ action: 'deny', tool: 'managed' }] });
    await setting.write('app/turnbuckle/mcp.json', { rules: [{ action: 'deny', tool: 'user' }] });
    const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
    Object.defineProperty(process, 'platform', { ...platform, value: 'win32' });
    onTestFinished(() => void Object.defineProperty(process, 'platform', platform));
    const { runtime } = await setting.open({
      environment: managedEnvironment(setting),
      rules: [{ action: 'ask', tool: 'own' }],
    });
    expect(told(runtime.rules)).toEqual(['managed deny managed', 'options ask own', 'user deny user']);
  });

  it('match the JSON Schema', async () => {
    const validator = Compile(await jsonSchema());
    const setting = await createSetting();
    const good = [
      { action: 'allow', server: 'a', tool: ['b*', 'c'], kind: 'tool', caller: 'x', trusted: true },
      { action: 'deny', scope: ['project', 'local'], annotations: { destructive: true }, reason: 'r' },
      { action: 'ask', arguments: { path: '/a/**', 'b[*].c': { equals: 1 }, d: { oneOf: ['x', null] } } },
      { action: 'ask', arguments: { e: { startsWith: 'x' }, f: { greaterThan: 1, lessThan: 2 } } },
      { action: 'ask', arguments: { '["x.y"]': { glob: 'z' }, g: { lessThan: 3 } } },
      { action: 'deny', flags: ['instructions', 'unscanned'], secrets: true },
    ];
    const bad = [
      { action: 'x' },
      { action: 'ask', unknown: 1 },
      { action: 'ask', kind: 'file' },
      { action: 'ask', arguments: { 'a[': 'x' } },
      { action: 'ask', arguments: { a: { regex: 'x' } } },
      { action: 'ask', arguments: { a: {} } },
      { action: 'ask', arguments: { a: { equals: 1, glob: 'x' } } },
      { action: 'ask', flags: ['odd'] },
      { action: 'ask', secrets: false },
    ];
    const more = { labels: { 'a*': ['private', 'outbound'], b: [] }, redactResults: true };
    const file = {
      rules: good,
      pins: 'all',
      flows: 'deny',
      servers: { one: { command: 'x', ...more }, two: { command: 'x', labels: ['untrusted'] } },
    };
    expect(validator.Errors(file)).toEqual([true, []]);
    await setting.write(setting.userFile, file);
    const loaded = await setting.load();
    expect(loaded).toMatchObject({ problems: [], settings: { pins: 'all', flows: 'deny' } });
    expect(loaded.servers.get('one')).toMatchObject({ problem: undefined, config: more });
    expect(loaded.servers.get('two')).toMatchObject({ problem: undefined });
    for (const rule of bad) {
      expect(validator.Check({ rules: [rule] }), JSON.stringify(rule)).toBe(false);
      await setting.write(setting.userFile, { rules: [rule] });
      expect((await setting.load()).problems, JSON.stringify(rule)).not.toEqual([]);
    }
  });

  it('and the setting for pins cannot be relaxed by a project', async () => {
    const setting = await createSetting();
    await setting.write(setting.projectFile, { pins: 'off' });
    const { settings, problems } = await setting.load();
    expect(settings.pins).toBeUndefined();
    expect(problems[0]?.message).toContain(`"pins" cannot be set in a project file`);
  });
});
