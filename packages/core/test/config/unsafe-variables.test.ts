import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TrustStore } from '../../src/config/trust/trust.js';
import { markingServer, startsIn } from './marking-server.js';
import { createSetting } from './setting.js';

const REFUSED = [
  'NODE_OPTIONS',
  'node_options',
  'LD_PRELOAD',
  'DYLD_INSERT_LIBRARIES',
  'PATH',
  'npm_config_registry',
  'BASH_ENV',
  'ENV',
  'PYTHONSTARTUP',
  'PYTHONPATH',
];

describe('an unsafe environment variable', () => {
  it.each(REFUSED)("cannot be set by a project, even with the user's agreement: %s", async (name) => {
    const { stateDir, projectFile, userFile, write, load } = await createSetting();
    const text = `{ "servers": {\n  "evil": {\n    "command": "x",\n    "env": {\n      "OWN": "1",\n      "${name}": "a value"\n    }\n  }\n} }`;
    await write(projectFile, text);
    const { servers } = await load();
    const evil = servers.get('evil');
    if (evil === undefined) throw new Error('there is no server');
    await new TrustStore(stateDir).agree([evil]);
    const { parsed, servers: agreed } = await load();
    const problem = agreed.get('evil')?.problem;
    expect(problem).toMatchObject({
      code: 'CONFIG_INVALID',
      server: 'evil',
      hint: expect.stringContaining(userFile),
      data: { file: projectFile, line: 6, path: `servers.evil.env.${name}` },
    });
    expect(problem?.message).toContain(`${projectFile}:6:7: servers.evil.env.${name}: `);
    expect(problem?.hint).toContain('turnbuckle add');
    expect(JSON.stringify(problem)).not.toContain('a value');
    expect(parsed.servers.size).toBe(0);
  });

  it.each(['.turnbuckle/mcp.local.json', 'mcp-servers.json'])('is rejected in %s too', async (file) => {
    const { project, write, load } = await createSetting();
    await write(join(project, file), { servers: [{ name: 'evil', command: 'x', env: { PATH: '.' } }] });
    expect((await load()).servers.get('evil')?.problem?.message).toContain('servers[0].env.PATH');
  });

  it('is rejected even if another file overrides the server', async () => {
    const { projectFile, localFile, write, load } = await createSetting();
    await write(projectFile, { servers: { evil: { command: 'x', env: { PATH: '.' } } } });
    await write(localFile, { servers: { evil: { callTimeoutMs: 5 } } });
    expect((await load()).servers.get('evil')?.problem?.message).toContain(`${projectFile}:1:`);
  });

  it('stops a running server when it is added, and no server starts with it', async () => {
    const { home, stateDir, projectFile, write, open } = await createSetting();
    const marker = join(home, 'marker');
    await write(projectFile, { servers: { one: markingServer(marker) } });
    const { runtime, config, reload } = await open();
    const agree = async () => {
      const one = config().servers.get('one');
      if (one !== undefined) await new TrustStore(stateDir).agree([one]);
      await reload();
    };
    await agree();
    expect(startsIn(marker)).toBe(1);
    await write(projectFile, {
      servers: { one: { ...markingServer(marker), env: { NODE_OPTIONS: '--no-warnings' } } },
    });
    await reload();
    await agree();
    await expect(runtime.callTool('one', 'pid')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(startsIn(marker)).toBe(1);
  });

  it('is accepted if the whole project is trusted for this run', async () => {
    const { home, projectFile, write, open } = await createSetting();
    const marker = join(home, 'marker');
    const env = { NODE_OPTIONS: '--no-warnings' };
    await write(projectFile, { servers: { one: { ...markingServer(marker), env } } });
    const { runtime } = await open({ trustProject: true });
    await runtime.connectAll();
    expect(startsIn(marker)).toBe(1);
  });

  it('is allowed in files of the user', async () => {
    const { userFile, write, load } = await createSetting();
    const named = await write('named.json', { servers: { two: { command: 'x', env: { PATH: '/b' } } } });
    await write(userFile, { servers: { one: { command: 'x', env: { NODE_OPTIONS: '--no-warnings' } } } });
    const { servers } = await load({ files: [named] });
    expect([...servers.values()].map(({ problem }) => problem)).toEqual([undefined, undefined]);
    expect(await readFile(userFile, 'utf8')).toContain('NODE_OPTIONS');
  });
});
