import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRuntime, type ServerInput } from 'turnbuckle';
import { jsonSchema } from 'turnbuckle/host';
import { Compile } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { createSetting } from '../config/setting.js';
import { attempt, confined, createStage, stageProgram } from './stage.js';

const GOOD: readonly unknown[] = [
  true,
  false,
  'strict',
  'standard',
  'offline',
  {},
  { read: [], write: [] },
  { preset: 'strict', read: ['~/notes', '${workspaceFolder}/x', '.'], write: ['/var/data'], network: false },
  { home: 'empty', memoryMb: 512, processes: 64, cpuSeconds: 600 },
];

const BAD: Record<string, unknown> = {
  'a string that is not a preset': 'off',
  'a number': 1,
  'an unknown key': { wirte: ['x'] },
  'an unknown preset': { preset: 'loose' },
  'a path that is not a list': { read: '/' },
  'a list of hosts for the network': { network: [] },
  'a string for the network': { network: 'none' },
  'a path with a line break': { read: ['/a\n--bind'] },
  'a path with a NUL': { write: ['/a\u0000--bind\u0000/\u0000/'] },
  'a path with half a surrogate pair': { write: ['/a\ud800'] },
  'an empty path': { write: [''] },
  'too little memory': { memoryMb: 1 },
  'no memory': { memoryMb: 0 },
  'a negative number of processes': { processes: -1 },
  'half a process': { processes: 10.5 },
};

async function codeOf(entry: unknown): Promise<{ code: string | undefined; message: string }> {
  const runtime = await createRuntime({ servers: { one: entry as ServerInput } });
  const { error } = runtime.serverStatus('one');
  await runtime.close();
  return { code: error?.code, message: error?.message ?? '' };
}

describe('the key `sandbox`', () => {
  const validator = Compile(jsonSchema());

  it.each(GOOD.map((sandbox) => [JSON.stringify(sandbox), sandbox]))('may be %s', async (_, sandbox) => {
    expect(await codeOf({ command: 'x', sandbox })).toEqual({ code: undefined, message: '' });
    expect(validator.Check({ servers: { one: { command: 'x', sandbox } } })).toBe(true);
  });

  it.each(Object.entries(BAD))('may not be %s', async (_, sandbox) => {
    const { code, message } = await codeOf({ command: 'x', sandbox });
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain('servers.one.sandbox');
  });

  it('names the invalid setting', async () => {
    expect((await codeOf({ command: 'x', sandbox: { network: [] } })).message).toContain(
      'sandbox: network: expected true or false',
    );
    expect((await codeOf({ command: 'x', sandbox: { wirte: [] } })).message).toContain('sandbox.wirte');
  });

  it.each([
    { url: 'https://h/mcp' },
    { type: 'sse', url: 'https://h' },
    { type: 'websocket', url: 'wss://h' },
    { baseUrl: 'https://h', id: 'x' },
  ])('is only for servers that are programs: %j', async (entry) => {
    const { code, message } = await codeOf({ ...entry, sandbox: true });
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain('sandbox');
  });
});

describe('paths of a sandbox', () => {
  confined('that look like options are paths', async () => {
    const { open, project } = await createStage();
    const names = ['--bind', '--share-net', '-', '--'];
    for (const name of names) await mkdir(join(project, name));
    const runtime = await open({ preset: 'strict', read: ['server.mjs', ...names] });
    expect(await attempt(runtime, 'list', { path: project })).toEqual({
      done: ['server.mjs', ...names].sort(),
    });
    expect(await attempt(runtime, 'list', { path: '/home' })).toEqual({ failed: 'ENOENT' });
    expect(runtime.serverStatus('probe').sandbox).toMatchObject({ network: false });
  });

  confined.each(['read', 'write'] as const)('that do not exist are an error: %s', async (key) => {
    const { open, project } = await createStage();
    const { status, error } = (await open({ [key]: ['server.mjs', 'absent'] })).serverStatus('probe');
    expect(status).toBe('failed');
    expect(error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`${join(project, 'absent')} (sandbox.${key}) does not exist`),
    });
  });

  confined('a NUL in a variable does not become an argument of bubblewrap', async () => {
    const { open } = await createStage();
    const runtime = await open('strict', { env: { X: 'a\u0000--bind\u0000/\u0000/host' } });
    expect(runtime.serverStatus('probe')).toMatchObject({
      status: 'failed',
      pid: undefined,
      error: { code: 'CONFIG_INVALID' },
    });
  });

  confined('hold placeholders, and are relative to the project', async () => {
    const { project, write, open } = await createSetting();
    await stageProgram(project);
    await mkdir(join(project, 'data'));
    await mkdir(join(project, 'more'));
    await write(join(project, '.turnbuckle/mcp.json'), {
      servers: {
        probe: {
          command: process.execPath,
          args: ['server.mjs'],
          sandbox: { read: ['server.mjs', '${PLACE}'], write: ['${workspaceFolder}/data'] },
        },
      },
    });
    const environment = { HOME: join(project, '..'), PATH: process.env.PATH, PLACE: 'more' };
    const { runtime } = await open({ trustProject: true, environment });
    await runtime.connectAll();
    expect(runtime.serverStatus('probe')).toMatchObject({
      status: 'connected',
      sandbox: {
        read: [join(project, 'server.mjs'), join(project, 'more')],
        write: [join(project, 'data')],
      },
    });
    expect(await attempt(runtime, 'write', { path: join(project, 'data', 'x') })).toEqual({ done: null });
    expect(await attempt(runtime, 'write', { path: join(project, 'more', 'x') })).toEqual({
      failed: 'EROFS',
    });
  });
});

describe('the program of a server in a sandbox', () => {
  confined('that does not exist is reported', async () => {
    const { open, server } = await createStage();
    const runtime = await open(undefined);
    await runtime.setServers({ probe: { ...server(true), command: 'no-such-program-here' } });
    expect(runtime.serverStatus('probe').error?.code).toBe('COMMAND_NOT_FOUND');
  });

  confined(
    'may be in a Node.js installation in the home directory, of which only the needed part is shown',
    async () => {
      const { open, server, home } = await createStage();
      const version = join(home, '.versions', 'v1');
      await mkdir(join(version, 'lib', 'node_modules', 'tool'), { recursive: true });
      await mkdir(join(version, 'bin'));
      await writeFile(join(version, 'secret'), 'x');
      await symlink(process.execPath, join(version, 'bin', 'node'));
      await stageProgram(join(version, 'lib', 'node_modules', 'tool'));
      await chmod(join(version, 'lib', 'node_modules', 'tool', 'server.mjs'), 0o755);
      await symlink('../lib/node_modules/tool/server.mjs', join(version, 'bin', 'tool'));
      const environment = { PATH: `${join(version, 'bin')}:${process.env.PATH}` };
      const runtime = await open(undefined, { environment });
      await runtime.setServers({ probe: { ...server(true), command: 'tool', args: [] } });
      expect(runtime.serverStatus('probe').error).toBeUndefined();
      expect(await attempt(runtime, 'list', { path: version })).toEqual({ done: ['bin', 'lib'] });
    },
  );

  confined('may be a link in a visible directory, or in a Python environment elsewhere', async () => {
    const { open, server, project, outside } = await createStage();
    const runtime = await open(undefined);
    for (const directory of [join(project, '.venv'), join(outside, 'venv')]) {
      await mkdir(join(directory, 'bin'), { recursive: true });
      await writeFile(join(directory, 'pyvenv.cfg'), '');
      await symlink(process.execPath, join(directory, 'bin', 'program'));
      await runtime.setServers({ probe: { ...server(true), command: join(directory, 'bin', 'program') } });
      expect(runtime.serverStatus('probe').error).toBeUndefined();
    }
  });

  confined('needs access to the files among its arguments', async () => {
    const { open, server, outside } = await createStage();
    const runtime = await open(undefined);
    const args = ['server.mjs', join(outside, 'file')];
    await runtime.setServers({ probe: { ...server(true), args } });
    expect(runtime.serverStatus('probe').error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(join(outside, 'file')),
      hint: expect.stringContaining('"read"'),
    });
    await runtime.setServers({ probe: { ...server({ read: ['.', outside] }), args } });
    expect(runtime.serverStatus('probe').status).toBe('connected');
  });
});
