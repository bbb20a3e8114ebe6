import { join } from 'node:path';
import { fixture } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { findLayers, type LayerContext, possibleProjectFiles } from '../../src/config/layers/layers.js';
import { createSetting, type Setting } from './setting.js';

const PLACE: LayerContext = {
  cwd: '/home/me/work/app',
  home: '/home/me',
  platform: 'linux',
  environment: {},
  exists: (path) => path === '/home/me/work/.turnbuckle/mcp.json',
};
const files = (place: Partial<LayerContext>): string[] =>
  findLayers({ ...PLACE, ...place }).map(({ scope, file }) => `${scope} ${file}`);

// requirement F1
it('finds the layers from the lowest precedence to the highest', () => {
  const environment = { MCP_CONFIG_PATH: 'named.json' };
  expect(files({ environment, files: ['/x//a/../one.json', 'two.json'] })).toEqual([
    'user /home/me/.config/turnbuckle/mcp.json',
    'project /home/me/work/.turnbuckle/mcp.json',
    'project /home/me/work/app/mcp-servers.json',
    'local /home/me/work/.turnbuckle/mcp.local.json',
    'environment /home/me/work/app/named.json',
    'flags /x/one.json',
    'flags /home/me/work/app/two.json',
    'managed /etc/turnbuckle/managed-mcp.json',
  ]);
});

it('gives each layer the base directory of its paths, and requires explicitly named files', () => {
  const layers = findLayers({ ...PLACE, files: ['one.json'] });
  expect(layers.map(({ directory, required }) => [directory, required])).toEqual([
    ['/home/me/work/app', false],
    ['/home/me/work', false],
    ['/home/me/work/app', false],
    ['/home/me/work', false],
    ['/home/me/work/app', true],
    ['/home/me/work/app', false],
  ]);
});

it.each([
  ['linux', {}, '/home/me/.config/turnbuckle/mcp.json', '/etc/turnbuckle/managed-mcp.json'],
  ['linux', { XDG_CONFIG_HOME: '/x' }, '/x/turnbuckle/mcp.json', '/etc/turnbuckle/managed-mcp.json'],
  [
    'linux',
    { XDG_CONFIG_HOME: '' },
    '/home/me/.config/turnbuckle/mcp.json',
    '/etc/turnbuckle/managed-mcp.json',
  ],
  [
    'linux',
    { XDG_CONFIG_HOME: 'relative' },
    '/home/me/.config/turnbuckle/mcp.json',
    '/etc/turnbuckle/managed-mcp.json',
  ],
  [
    'darwin',
    {},
    '/home/me/.config/turnbuckle/mcp.json',
    '/Library/Application Support/turnbuckle/managed-mcp.json',
  ],
  [
    'win32',
    { APPDATA: '/app', PROGRAMDATA: '/pd' },
    '/app/turnbuckle/mcp.json',
    '/pd/turnbuckle/managed-mcp.json',
  ],
] as const)('knows the file locations on %s with %j', (platform, environment, user, managed) => {
  const layers = findLayers({ ...PLACE, platform, environment });
  expect([layers.at(0)?.file, layers.at(-1)?.file]).toEqual([user, managed]);
});

it('walks up to the home directory and no further', () => {
  const seen: string[] = [];
  const exists = (path: string): boolean => seen.push(path) < 0;
  expect(files({ exists })).not.toContainEqual(expect.stringContaining('.turnbuckle'));
  expect(seen.at(-1)).toBe('/home/me/.turnbuckle/mcp.local.json');
  expect(seen).toHaveLength(6);
  seen.length = 0;
  files({ exists, cwd: '/srv/app' });
  expect(seen.at(-1)).toBe('/.turnbuckle/mcp.local.json');
});

it('takes the nearest project, even if it has only a local file', () => {
  const exists = (path: string): boolean =>
    path === '/home/me/work/app/.turnbuckle/mcp.local.json' || PLACE.exists(path);
  expect(files({ exists })).toContain('project /home/me/work/app/.turnbuckle/mcp.json');
});

it('knows which files of a project may be created later', () => {
  const exists = (path: string): boolean => path === '/home/me/work/.turnbuckle';
  expect(possibleProjectFiles({ ...PLACE, exists })).toEqual([
    '/home/me/work/app/.turnbuckle/mcp.json',
    '/home/me/work/app/.turnbuckle/mcp.local.json',
    '/home/me/work/.turnbuckle/mcp.json',
    '/home/me/work/.turnbuckle/mcp.local.json',
  ]);
});

/** Writes a file for each layer, from the lowest precedence to the highest. */
async function writeLayers(setting: Setting): Promise<string[]> {
  const { home, project, write } = setting;
  const paths = [
    setting.userFile,
    setting.projectFile,
    join(project, 'mcp-servers.json'),
    setting.localFile,
    join(home, 'environment.json'),
    join(home, 'first.json'),
    join(home, 'second.json'),
  ];
  for (const [index, path] of paths.entries()) {
    // Server `from-3` is in the files 0 to 3: file 3 has to win.
    const servers = paths.flatMap((_, last) =>
      index <= last ? [[`from-${last}`, { command: `command-${index}` }]] : [],
    );
    await write(path, { servers: Object.fromEntries(servers) });
  }
  return paths;
}

it('lets the file of higher precedence win, and reports what it shadows, highest precedence first', async () => {
  const setting = await createSetting();
  const paths = await writeLayers(setting);
  const config = await setting.load({
    environment: { ...setting.environment, MCP_CONFIG_PATH: paths[4] },
    files: paths.slice(5),
    trustProject: true,
  });
  const scopes = ['user', 'project', 'project', 'local', 'environment', 'flags', 'flags'];
  const publicScopes = ['user', 'project', 'project', 'local', 'user', 'user', 'user'];
  for (const [index, path] of paths.entries()) {
    const server = config.servers.get(`from-${index}`);
    expect(server?.origin).toMatchObject({ scope: scopes[index], file: path, line: 1 });
    expect(server?.config).toMatchObject({ command: `command-${index}`, scope: publicScopes[index] });
    expect(server?.shadowed.map(({ file }) => file)).toEqual(paths.slice(0, index).reverse());
    expect(server?.problem).toBeUndefined();
  }
  expect(config.problems).toEqual([]);
});

it('ranks servers of the program above all of these files, with the working directory as their directory', async () => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', { servers: { one: { command: 'file' } } });
  const extra = new Map([['one', { command: 'extra', args: ['${workspaceFolder}'] }]]);
  const server = (await setting.load({ files: [file], extra })).servers.get('one');
  expect(server).toMatchObject({
    config: { command: 'extra', scope: 'user' },
    origin: { scope: 'flags' },
    shadowed: [{ file }],
    directory: setting.project,
  });
});

it('finds the project from a directory below it', async () => {
  const setting = await createSetting();
  await setting.write(setting.projectFile, { servers: { one: { command: 'x' } } });
  const { servers } = await setting.load({ cwd: join(setting.project, 'a', 'b'), trustProject: true });
  expect(servers.get('one')).toMatchObject({ directory: setting.project, config: { scope: 'project' } });
});

it.each([
  ['a map', { servers: { one: { command: 'x' }, two: { command: 'y' } } }],
  ['mcpServers', { mcpServers: { one: { command: 'x' }, two: { command: 'y' } } }],
  ['both', { servers: { one: { command: 'x' } }, mcpServers: { two: { command: 'y' } } }],
  [
    'a list',
    {
      servers: [
        { name: 'one', command: 'x' },
        { id: 'two', command: 'y' },
      ],
    },
  ],
])('reads servers as %s', async (_, content) => {
  const setting = await createSetting();
  await setting.write(setting.userFile, content);
  const { parsed, problems } = await setting.load();
  expect([...parsed.servers].map(([name, config]) => [name, 'command' in config && config.command])).toEqual([
    ['one', 'x'],
    ['two', 'y'],
  ]);
  expect(problems).toEqual([]);
});

it('gives a hosted server in a list its name in addition to its id', async () => {
  const setting = await createSetting();
  const hosted = { name: 'mine', type: 'proxy', baseUrl: 'https://host.example', id: 'abc' };
  await setting.write(setting.userFile, { servers: [hosted] });
  const { parsed } = await setting.load();
  expect(parsed.servers.get('mine')).toMatchObject({ id: 'abc', scope: 'claudeai' });
});

it('adjusts a server of a file with lower precedence without replacing it', async () => {
  const setting = await createSetting();
  const { userFile, localFile, write } = setting;
  await write(userFile, { servers: { one: { command: 'x', args: ['a'] }, two: { command: 'y' } } });
  await write(localFile, {
    servers: {
      one: { enabled: false, callTimeoutMs: 5 },
      two: { excludeTools: ['rm'] },
      new: { enabled: false },
    },
  });
  const { servers } = await setting.load();
  expect(servers.get('one')).toMatchObject({
    config: { command: 'x', args: ['a'], enabled: false, callTimeoutMs: 5, scope: 'user' },
    origin: { scope: 'user', file: userFile },
    shadowed: [],
    problem: undefined,
  });
  expect(servers.get('two')?.config).toMatchObject({ excludeTools: ['rm'], enabled: true });
  expect(servers.get('new')?.problem?.message).toContain(`${localFile}:1:`);
});

it('lets a project restrict a server of its user, never extend it', async () => {
  const setting = await createSetting();
  const { userFile, projectFile, write } = setting;
  const guarded = { command: 'x', includeTools: ['a', 'b'], excludeTools: ['rm'], requires: ['admin'] };
  await write(userFile, { servers: { one: guarded } });
  await write(projectFile, {
    servers: { one: { includeTools: ['b', 'c'], excludeTools: ['ls'], requires: [] } },
  });
  expect((await setting.load()).parsed.servers.get('one')).toMatchObject({
    includeTools: ['b'],
    excludeTools: ['rm', 'ls'],
    requires: ['admin'],
  });
  const file = await write('mine.json', { servers: { one: { excludeTools: [], requires: [] } } });
  expect((await setting.load({ files: [file] })).parsed.servers.get('one')).toMatchObject({
    excludeTools: [],
    requires: [],
  });
});

it('reports the right file if an adjusted server is invalid', async () => {
  const setting = await createSetting();
  const { userFile, localFile, write } = setting;
  await write(userFile, '{ "servers": {\n  "one": { "command": 5 },\n  "two": { "command": "x" } } }');
  await write(localFile, '{ "servers": {\n "one": { "enabled": true },\n "two": { "enabled": "no" } } }');
  const { servers } = await setting.load();
  expect(servers.get('one')?.problem?.message).toContain(`${userFile}:2:12: servers.one.command: `);
  expect(servers.get('two')?.problem?.message).toContain(`${localFile}:3:11: servers.two.enabled: `);
});

it('replaces a server as a whole if the command is set again', async () => {
  const setting = await createSetting();
  await setting.write(setting.userFile, {
    servers: { one: { command: 'x', args: ['a'], callTimeoutMs: 5 } },
  });
  const file = await setting.write('mine.json', { servers: { one: { command: 'y' } } });
  const { config } = (await setting.load({ files: [file] })).servers.get('one') ?? {};
  expect(config).toMatchObject({ command: 'y', args: [], callTimeoutMs: 60_000 });
});

it('takes each setting from the file of highest precedence that has it, and reports which', async () => {
  const setting = await createSetting();
  const { userFile, projectFile, write } = setting;
  await write(userFile, { naming: 'server_tool', describePrefix: true, toolApprovalRequired: false });
  await write(projectFile, { naming: 'mcp_server_tool', $schema: './x.json' });
  const { settings, settingOrigins, problems } = await setting.load();
  expect(settings).toEqual({ naming: 'mcp_server_tool', describePrefix: true, toolApprovalRequired: false });
  expect([...settingOrigins].map(([key, { scope, file }]) => [key, scope, file])).toEqual([
    ['naming', 'project', projectFile],
    ['describePrefix', 'user', userFile],
    ['toolApprovalRequired', 'user', userFile],
  ]);
  expect(problems).toEqual([]);
});

it('reports the line and column of each server and setting', async () => {
  const setting = await createSetting();
  await setting.write(
    setting.userFile,
    [
      '\uFEFF// mine',
      '{ "$schema": "./x.json", "naming": "server_tool",',
      '  "servers": {',
      '    "one": { "command": "x" } },',
      '',
      '  /* also */ "describePrefix": true }',
    ].join('\r\n'),
  );
  const { servers, settingOrigins } = await setting.load();
  const at = (line: number, column: number) => ({ scope: 'user', file: setting.userFile, line, column });
  expect(servers.get('one')?.origin).toEqual(at(4, 5));
  expect(Object.fromEntries(settingOrigins)).toEqual({ naming: at(2, 26), describePrefix: at(6, 14) });
});

it('resolves ${workspaceFolder} to the project in its own files, and to the working directory in others', async () => {
  const setting = await createSetting();
  const { project, write } = setting;
  const cwd = join(project, 'deep', 'inside');
  const told = { ...fixture('echo'), env: { FOLDER: '${workspaceFolder}' } };
  await write(join(cwd, 'x'), '');
  await write(setting.userFile, { servers: { user: told } });
  await write(setting.projectFile, { servers: { project: told, user: { callTimeoutMs: 50_000 } } });
  await write(setting.localFile, { servers: { local: told } });
  await write(join(cwd, 'mcp-servers.json'), { servers: { beside: told } });
  const file = await write('named.json', { servers: { named: told } });
  const { runtime } = await setting.open({ cwd, files: [file], trustProject: true });
  const folders = ['user', 'project', 'local', 'beside', 'named'].map(async (name) => {
    const [part] = (await runtime.callTool(name, 'env')).content;
    return [name, JSON.parse(part?.type === 'text' ? part.text : '').FOLDER];
  });
  expect(Object.fromEntries(await Promise.all(folders))).toEqual({
    user: cwd,
    project,
    local: project,
    beside: cwd,
    named: cwd,
  });
});

it.each(['trusted', 'inheritEnv', 'scope'])('a server of a project cannot set %s', async (key) => {
  const setting = await createSetting();
  const value = { trusted: true, inheritEnv: ['AWS_SECRET'], scope: 'user' }[key];
  for (const file of [setting.projectFile, join(setting.project, 'mcp-servers.json'), setting.localFile]) {
    await setting.write(
      file,
      `{\n "servers": { "one": { "command": "x", "${key}": ${JSON.stringify(value)} } } }`,
    );
    const { servers, parsed } = await setting.load({ trustProject: true });
    expect(servers.get('one')?.problem?.message).toBe(
      `${file}:2:40: servers.one.${key}: "${key}" cannot be set in a project file.`,
    );
    expect(parsed.servers.size).toBe(0);
  }
  await setting.write(setting.userFile, { servers: { mine: { command: 'x', [key]: value } } });
  expect((await setting.load()).parsed.servers.get('mine')).toMatchObject({ [key]: value });
});

it.each([
  ['secretCommand', ['cat', '{name}']],
  ['forbid', ['*']],
  ['allowOnly', []],
])('a project cannot set %s', async (key, value) => {
  const setting = await createSetting();
  const { projectFile } = setting;
  await setting.write(projectFile, { [key]: value, servers: { one: { command: 'x' } } });
  const { settings, problems, parsed } = await setting.load({ trustProject: true });
  expect(settings).toEqual({});
  expect(problems.map(({ message }) => message)).toEqual([
    `${projectFile}:1:2: ${key}: "${key}" cannot be set in a project file.`,
  ]);
  expect(parsed.servers.has('one')).toBe(true);
});

// requirement P4
describe('a switch that guards agents', () => {
  const LOWERED = [
    ['toolApprovalRequired', false],
    ['autoDiscoveryEnabled', true],
  ] as const;
  /** Other programs write it to their files, so it is no error. */
  const ALL = [...LOWERED, ['subAgentEnabled', true]] as const;

  it.each(LOWERED)('a project cannot set %s to %s', async (key, value) => {
    const setting = await createSetting();
    for (const file of [setting.projectFile, join(setting.project, 'mcp-servers.json'), setting.localFile]) {
      await setting.write(file, { [key]: value, servers: { one: { command: 'x' } } });
      const { settings, problems, parsed } = await setting.load({ trustProject: true });
      expect(settings).toEqual({});
      expect(problems.map(({ message }) => message)).toEqual([
        `${file}:1:2: ${key}: a project file can set this only to ${!value}, because ${value} is less safe; to use ${value}, set it in your user file (turnbuckle config shows its path).`,
      ]);
      expect(parsed.servers.has('one')).toBe(true);
      await setting.write(file, {});
    }
  });

  it.each(ALL)('a project cannot lower %s where the file of the user says otherwise', async (key, value) => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { [key]: !value });
    for (const file of [setting.projectFile, setting.localFile]) await setting.write(file, { [key]: value });
    const { settings, settingOrigins, problems } = await setting.load({ trustProject: true });
    expect(settings).toEqual({ [key]: !value });
    expect(settingOrigins.get(key)).toMatchObject({ scope: 'user', file: setting.userFile });
    expect(problems).toHaveLength(key === 'subAgentEnabled' ? 0 : 2);
  });

  it.each(ALL)('a project can raise %s where the file of the user says %s', async (key, value) => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { [key]: value });
    expect((await setting.load()).settings).toEqual({ [key]: value });
    await setting.write(setting.projectFile, { [key]: !value });
    const { settings, settingOrigins, problems } = await setting.load();
    expect(problems).toEqual([]);
    expect(settings).toEqual({ [key]: !value });
    expect(settingOrigins.get(key)).toMatchObject({ scope: 'project', file: setting.projectFile });
  });

  it.each(LOWERED)('%s has to be a boolean in a project, too', async (key) => {
    const setting = await createSetting();
    await setting.write(setting.projectFile, { [key]: 'yes' });
    expect((await setting.load()).problems[0]?.message).toContain('expected true or false, found a string');
  });

  it('raised by a project, the calls of agents need approval again', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, {
      toolApprovalRequired: false,
      servers: { echo: fixture('echo') },
    });
    const { runtime, reload } = await setting.open();
    await runtime.connectAll();
    const caller = { id: 'agent', capabilities: ['mcp_integration'] };
    const action = () => runtime.decide({ server: 'echo', tool: 'echo', caller }).action;
    expect(action()).toBe('allow');
    await setting.write(setting.projectFile, { toolApprovalRequired: true });
    await reload();
    expect(action()).toBe('ask');
    await expect(runtime.callTool('echo', 'echo', { text: 'x' }, { caller })).rejects.toMatchObject({
      code: 'APPROVAL_NEEDED',
    });
    // What became invalid keeps its value.
    await setting.write(setting.projectFile, { toolApprovalRequired: false });
    await reload();
    expect(action()).toBe('ask');
    await setting.write(setting.projectFile, {});
    await reload();
    expect(action()).toBe('allow');
  });
});
