import { fixture } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { createSetting } from './setting.js';

const ON = ['true', '1', 'on', 'TRUE', ' On '];
const OFF = ['false', '0', 'off', 'FALSE', 'Off'];

// requirement F5
describe.each([
  ['MCP_AUTO_DISCOVERY', 'autoDiscoveryEnabled'],
  ['MCP_TOOL_APPROVAL', 'toolApprovalRequired'],
] as const)('%s', (variable, key) => {
  const origin = { scope: 'environment', file: `the environment variable ${variable}`, line: 0, column: 0 };

  it.each([...ON.map((word) => [word, true] as const), ...OFF.map((word) => [word, false] as const)])(
    'is set to %j: overrides the files, with its origin',
    async (word, value) => {
      const setting = await createSetting();
      await setting.write(setting.userFile, { [key]: !value });
      const environment = { ...setting.environment, [variable]: word };
      const { settings, settingOrigins, problems } = await setting.load({ environment });
      expect(settings).toEqual({ [key]: value });
      expect(Object.fromEntries(settingOrigins)).toEqual({ [key]: origin });
      expect(problems).toEqual([]);
    },
  );

  it.each([undefined, '', ' '])('has no effect when it is %j', async (word) => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { [key]: false });
    const { settings, problems } = await setting.load({
      environment: { ...setting.environment, [variable]: word },
    });
    expect(settings).toEqual({ [key]: false });
    expect(problems).toEqual([]);
  });

  it.each(['maybe', '2', 'tru', `x${'y'.repeat(1_000)}`, '\u001b[2J'])(
    'is a problem when it is %j',
    async (word) => {
      const setting = await createSetting();
      const { problems } = await setting.load({ environment: { ...setting.environment, [variable]: word } });
      expect(problems).toMatchObject([{ code: 'CONFIG_INVALID', data: { variable } }]);
      expect(problems[0]?.message).toMatch(
        new RegExp(`^Invalid value ".{1,60}" for environment variable ${variable}: expected "true", `),
      );
    },
  );

  it('is overridden by the administrator', async () => {
    const setting = await createSetting();
    const file = await setting.write('pd/turnbuckle/managed-mcp.json', { [key]: true });
    const { settings, settingOrigins } = await loadConfig({
      cwd: setting.project,
      home: setting.home,
      platform: 'win32',
      environment: { APPDATA: `${setting.home}/app`, PROGRAMDATA: `${setting.home}/pd`, [variable]: 'off' },
      trust: { isTrusted: async () => true },
    });
    expect(settings).toEqual({ [key]: true });
    expect(settingOrigins.get(key)).toEqual({ scope: 'managed', file, line: 1, column: 2 });
  });
});

it('an invalid MCP_AUTO_DISCOVERY keeps the value from the files', async () => {
  const setting = await createSetting();
  await setting.write(setting.userFile, { autoDiscoveryEnabled: true });
  const environment = { ...setting.environment, MCP_AUTO_DISCOVERY: 'yes' };
  expect((await setting.load({ environment })).settings).toEqual({ autoDiscoveryEnabled: true });
});

it.each([
  ['off', undefined],
  ['no', undefined],
  ['on', 'APPROVAL_NEEDED'],
  ['what', 'APPROVAL_NEEDED'],
  [undefined, 'APPROVAL_NEEDED'],
])('agent calls require approval unless MCP_TOOL_APPROVAL says otherwise: %s', async (word, code) => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', { servers: { one: fixture('echo') } });
  const environment = { ...setting.environment, MCP_TOOL_APPROVAL: word };
  const { runtime } = await setting.open({ files: [file], environment });
  await runtime.connectAll();
  const caller = { id: 'agent', capabilities: ['mcp:one'] };
  const { failure } = await runtime.execute('mcp__one__pid', {}, { caller });
  expect(failure?.code).toBe(code);
});
