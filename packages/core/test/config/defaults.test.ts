import { fixture } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { jsonSchema } from 'turnbuckle/host';
import { Compile } from 'typebox/schema';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fillIn } from '../../src/config/fill-in.js';
import { loadConfig } from '../../src/config/load.js';
import { LIMITS_SCHEMA } from '../../src/config/schema/limits-schema.js';
import { DEFAULT_LIMITS } from '../../src/servers/limits.js';
import { createSetting, type Setting } from './setting.js';

/** Loads with a managed file of this test: only on Windows can its location be set. */
async function loadManaged(setting: Setting, { user, managed }: { user: unknown; managed: unknown }) {
  await setting.write('app/turnbuckle/mcp.json', user);
  await setting.write('pd/turnbuckle/managed-mcp.json', managed);
  return loadConfig({
    cwd: setting.project,
    home: setting.home,
    platform: 'win32',
    environment: { APPDATA: `${setting.home}/app`, PROGRAMDATA: `${setting.home}/pd` },
    trust: { isTrusted: async () => true },
  });
}

// requirement F1
describe('defaults', () => {
  it('apply to every server that does not set the key, in whatever file', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, {
      defaults: { callTimeoutMs: 5, connectTimeoutMs: 6, share: 'agent', reconnect: { tries: 1, jitter: 0 } },
      servers: {
        plain: { command: 'x' },
        own: { command: 'npx', callTimeoutMs: 7, reconnect: { tries: 2 } },
      },
    });
    await setting.write(setting.projectFile, {
      servers: { theirs: { url: 'https://h' }, own: { maxCallMs: 8 }, plain: { callTimeoutMs: 4 } },
    });
    const { parsed, problems, servers } = await setting.load({ trustProject: true });
    expect([problems, parsed.problems.size]).toEqual([[], 0]);
    const common = { connectTimeoutMs: 6, share: 'agent', maxCallMs: 600_000 };
    expect(parsed.servers.get('plain')).toMatchObject({ ...common, callTimeoutMs: 4 });
    expect(parsed.servers.get('theirs')).toMatchObject({
      ...common,
      callTimeoutMs: 5,
      reconnect: { tries: 1, jitter: 0 },
    });
    expect(parsed.servers.get('own')).toMatchObject({
      ...common,
      callTimeoutMs: 7,
      maxCallMs: 8,
      reconnect: { tries: 2, jitter: 0 },
    });
    expect(servers.get('theirs')?.entry).toEqual({ url: 'https://h' });
  });

  it('of the administrator win over those of the user, key by key; a server wins over both', async () => {
    const setting = await createSetting();
    const { parsed, settings } = await loadManaged(setting, {
      user: {
        defaults: { callTimeoutMs: 1, pingMs: 2, reconnect: { tries: 3, maxMs: 4 } },
        servers: { one: { command: 'x', maxCallMs: 5 } },
      },
      managed: { defaults: { callTimeoutMs: 10, maxCallMs: 20, reconnect: { tries: 30 } } },
    });
    const defaults = { callTimeoutMs: 10, pingMs: 2, maxCallMs: 20, reconnect: { tries: 30, maxMs: 4 } };
    expect(settings.defaults).toEqual(defaults);
    expect(parsed.servers.get('one')).toMatchObject({ ...defaults, maxCallMs: 5 });
  });

  it('of a program win over those of the files', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, {
      defaults: { callTimeoutMs: 1, pingMs: 2 },
      servers: { one: { command: 'x' } },
    });
    const { runtime, config } = await setting.open({ defaults: { callTimeoutMs: 3 } });
    expect(runtime.serverStatus('one').config).toMatchObject({ callTimeoutMs: 3, pingMs: 2 });
    expect(config().settingOrigins.get('defaults')).toMatchObject({ file: 'the host program' });
  });

  it('stay in effect when placeholders are filled in', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, {
      defaults: { connectTimeoutMs: 5, share: 'session', reconnect: { tries: 7 } },
      servers: { one: { command: '${X}', reconnect: { jitter: 0 } } },
    });
    const origin = (await setting.load()).servers.get('one');
    if (origin?.config === undefined) throw new Error('the server is missing');
    const filled = await fillIn(origin.config, origin, {
      environment: { X: 'program' },
      home: setting.home,
      secretCommand: undefined,
      vault: () => Promise.reject(new Error('not used')),
      learn: () => {},
      askInput: undefined,
    });
    expect(filled).toEqual({ ...origin.config, command: 'program', mayAsk: filled.mayAsk });
    expect(filled).toMatchObject({
      connectTimeoutMs: 5,
      share: 'session',
      reconnect: { tries: 7, jitter: 0 },
    });
  });

  it('restart the servers that a change affects', async () => {
    const setting = await createSetting();
    const write = (defaults: object) =>
      setting.write(setting.userFile, {
        defaults,
        servers: { free: fixture('echo'), set: { ...fixture('echo'), callTimeoutMs: 30_000 } },
      });
    await write({ callTimeoutMs: 50 });
    const { runtime, reload } = await setting.open();
    await runtime.connectAll();
    const call = (ms: number) => runtime.callTool('free', 'sleep', { ms, everyMs: 60_000 });
    await expect(call(60_000)).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    await write({ callTimeoutMs: 20_000 });
    expect(await reload()).toMatchObject({ added: [], removed: [], changed: ['free'] });
    expect(await call(100)).toMatchObject({ content: [{ type: 'text' }] });
  });

  it.each([
    ['unknownKey', 1, 'unknown key "unknownKey"'],
    ['enabled', false, 'unknown key "enabled"'],
    ['trusted', true, 'unknown key "trusted"'],
    ['mayAsk', ['roots'], 'unknown key "mayAsk"'],
    ['requires', [], 'unknown key "requires"'],
    ['command', 'x', 'unknown key "command"'],
    ['callTimeoutMs', 0, 'callTimeoutMs'],
    ['start', 'soon', 'expected "eager" or "lazy"'],
  ])('with %s: %j are a problem, and the other keys apply', async (key, value, text) => {
    const setting = await createSetting();
    await setting.write(setting.userFile, {
      defaults: { [key]: value, pingMs: 5 },
      servers: { one: { command: 'x' } },
    });
    const { parsed, problems } = await setting.load();
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain('defaults');
    expect(problems[0]?.message).toContain(text);
    expect(problems[0]?.message).toContain(`"${key}" is ignored`);
    expect(parsed.servers.get('one')).toMatchObject({ pingMs: 5, callTimeoutMs: 60_000 });
    await expect(createRuntime({ defaults: { [key]: value } as never })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('Invalid defaults: defaults'),
    });
  });

  it.each([
    [{ callTimeoutMs: 20_000, requires: [] }, 20_000, 'The rest of the configuration is not affected.'],
    [{ callTimeoutMs: 0 }, 50, 'The previous value of "defaults.callTimeoutMs" is still in effect.'],
  ])('that become %j leave each valid key in effect, and say so', async (defaults, callTimeoutMs, hint) => {
    const setting = await createSetting();
    const write = (value: object) =>
      setting.write(setting.userFile, { defaults: value, servers: { one: { command: 'x' } } });
    await write({ callTimeoutMs: 50, pingMs: 1 });
    const { runtime, reload } = await setting.open();
    await write({ ...defaults, pingMs: 5 });
    const { config } = await reload();
    expect(runtime.serverStatus('one').config).toMatchObject({ callTimeoutMs, pingMs: 5 });
    expect(config.problems.map((one) => one.hint)).toEqual([expect.stringContaining(hint)]);
    // The next reload keeps it too.
    await write({ ...defaults, pingMs: 6 });
    await reload();
    expect(runtime.serverStatus('one').config).toMatchObject({ callTimeoutMs, pingMs: 6 });
  });

  it.each([['defaults'], ['limits']])('a project cannot set %s', async (key) => {
    const setting = await createSetting();
    await setting.write(setting.projectFile, { [key]: {} });
    const { problems, settings } = await setting.load();
    expect(problems[0]?.message).toContain(`"${key}" cannot be set in a project file`);
    expect(settings).toEqual({});
  });

  it('work in a program without files, also for servers that are set later', async () => {
    const runtime = await createRuntime({
      defaults: { callTimeoutMs: 5 },
      servers: {
        one: { command: 'x', callTimeoutMs: undefined as never },
        two: { command: 'x', callTimeoutMs: 6 },
      },
    });
    onTestFinished(() => runtime.close());
    const timeouts = () => runtime.status().map(({ config }) => config?.callTimeoutMs);
    expect(timeouts()).toEqual([5, 6]);
    await runtime.setServers([{ name: 'three', command: 'x', start: 'lazy' }]);
    expect(timeouts()).toEqual([5]);
  });
});

// requirement C10
describe('limits', () => {
  it('can be set for everything that a program can set, around the default', () => {
    const { shape } = LIMITS_SCHEMA;
    expect(Object.keys(shape).sort()).toEqual(Object.keys(DEFAULT_LIMITS).sort());
    expect(LIMITS_SCHEMA.safeParse(DEFAULT_LIMITS).success).toBe(true);
  });

  it.each(Object.keys(DEFAULT_LIMITS))('%s has to be a whole number within bounds', async (key) => {
    const setting = await createSetting();
    for (const value of [-1, 0.5, Number.MAX_SAFE_INTEGER, '5', null]) {
      await setting.write(setting.userFile, { limits: { maxPages: 7, [key]: value } });
      const { problems, settings } = await setting.load();
      expect(problems).toHaveLength(1);
      expect(problems[0]?.message).toContain(`limits.${key}: `);
      expect(settings.limits).toEqual(key === 'maxPages' ? {} : { maxPages: 7 });
    }
  });

  it('of a file are in effect, those of a program win, and those of the administrator win over all', async () => {
    const setting = await createSetting();
    const servers = { a: { command: 'x' }, b: { command: 'x' }, c: { command: 'x' } };
    await setting.write(setting.userFile, { limits: { maxServers: 1 }, servers });
    const failed = async (limits?: { maxServers: number }) => {
      const { runtime } = await setting.open({ limits });
      return runtime.status().filter(({ error }) => error?.code === 'SERVER_LIMIT').length;
    };
    expect(await failed()).toBe(2);
    expect(await failed({ maxServers: 2 })).toBe(1);
    const { settings } = await loadManaged(setting, {
      user: { limits: { maxServers: 1, maxPages: 2 } },
      managed: { limits: { maxServers: 3 } },
    });
    expect(settings.limits).toEqual({ maxServers: 3, maxPages: 2 });
  });

  it('that change take effect at the next start, and the reload says so', async () => {
    const setting = await createSetting();
    const servers = { a: { ...fixture('echo'), start: 'lazy' }, b: { ...fixture('echo'), start: 'lazy' } };
    await setting.write(setting.userFile, { limits: { maxServers: 1 }, servers });
    const { reload, runtime } = await setting.open();
    await setting.write(setting.userFile, { limits: { maxServers: 5 }, servers });
    const { config, errors } = await reload();
    expect(Object.keys(errors)).toEqual(['b']);
    expect(config.problems.map(({ message }) => message)).toEqual([
      'The limits in the configuration have changed, but the previous limits are still in effect.',
    ]);
    expect(config.problems[0]?.hint).toBe('The new limits take effect when the program is started again.');
    const daemon = await setting.open({ service: 'daemon' });
    await setting.write(setting.userFile, { limits: { maxServers: 6 }, servers });
    expect((await daemon.reload()).config.problems[0]?.hint).toContain('run: turnbuckle serve restart');
    await setting.write(setting.userFile, { limits: { maxServers: 1 }, servers });
    expect((await reload()).config.problems).toEqual([]);
    expect(runtime.serverStatus('b').error?.code).toBe('SERVER_LIMIT');
    const next = await setting.open();
    expect(next.config().problems).toEqual([]);
  });
});

it('are both in the JSON Schema', () => {
  const validator = Compile(jsonSchema());
  expect(validator.Check({ defaults: { callTimeoutMs: 5, listTtlMs: 0 }, limits: { maxServers: 3 } })).toBe(
    true,
  );
  expect(validator.Check({ defaults: { command: 'x' } })).toBe(false);
  expect(validator.Check({ limits: { maxServers: 0 } })).toBe(false);
});
