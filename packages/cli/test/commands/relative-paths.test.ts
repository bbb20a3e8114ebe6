/** A server that was added in one directory does not start in another: there `.` could be a whole home directory. */
import { chmod, mkdir } from 'node:fs/promises';
import { fixture } from '@turnbuckle/testing';
import { findRelativePaths } from 'turnbuckle/host';
import { beforeEach, describe, expect, it } from 'vitest';
import { daemonForTest } from '../daemon/running-daemon.js';
import { createHome, type Home, json, turnbuckle } from './turnbuckle.js';

let home: Home;
let script: string;
beforeEach(async () => {
  home = await createHome();
  const { command, args } = fixture('echo');
  script = `#!/bin/sh\nls "\${1:-.}" >&2\nexec '${command}' ${args.map((word) => `'${word}'`).join(' ')}\n`;
  await chmod(await home.write('project/mini.sh', script), 0o755);
});

const run = (...words: string[]) => turnbuckle(words, { home });
const written = async (file = '.config/turnbuckle/mcp.json'): Promise<unknown> =>
  JSON.parse(await home.read(file)).servers;

describe('add', () => {
  it.each([
    [['./mini.sh']],
    [['../project/mini.sh']],
    [['npx', '-y', 'pkg', '.']],
    [['npx', '-y', 'pkg', '..']],
    [['node', 'mini.sh']],
    [['pkg', '--root=.']],
    [['pkg', '--root=mini.sh']],
    [['sh', '-c', 'cd .. && ./x']],
    [['{"command":"pkg","env":{"ROOT":"./data"}}']],
    [['{"command":"pkg","sandbox":{"write":["data"]}}']],
    [['{"command":"pkg","sandbox":true}']],
    [['{"command":"pkg","cwd":"."}']],
  ])('%j stores the current directory, and says so', async (words) => {
    const { code, stderr } = await run('add', 'x', '--', ...words);
    expect(code).toBe(0);
    expect(stderr).toContain(`The server runs in ${home.project}`);
    expect(await written()).toMatchObject({ x: { cwd: home.project } });
  });

  it.each([
    [['npx', '-y', '@scope/pkg', '/abs/dir', '--verbose']],
    [['node', '/abs/server.mjs', 'https://example.invalid/.', '${workspaceFolder}']],
    [['pkg', 'not-there.txt', '...', 'a.b']],
    [['{"command":"pkg","sandbox":"strict"}']],
    [['{"command":"pkg","args":["."],"cwd":"/abs"}']],
    [['https://example.invalid/./x']],
  ])('%j stores no directory', async (words) => {
    const { code, stderr } = await run('add', 'x', '--', ...words);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('The server runs in')]);
    const { x } = (await written()) as { x: { cwd?: string } };
    expect(x.cwd ?? '/abs').toBe('/abs');
  });

  it('stores a path relative to the project in a project file, and only when it differs', async () => {
    await run('add', 'here', '--scope', 'project', '--', './mini.sh');
    const below = home.file('project/below/deeper');
    await mkdir(below, { recursive: true });
    const words = ['add', 'below', '--scope', 'project', '--', './other.sh'];
    expect((await turnbuckle(words, { home, cwd: below })).stderr).toContain(
      'The server runs in below/deeper',
    );
    expect(await written('project/.turnbuckle/mcp.json')).toEqual({
      here: { command: './mini.sh' },
      below: { command: './other.sh', cwd: 'below/deeper' },
    });
  });

  it('is started there by a daemon that was started elsewhere', async () => {
    await run('add', 'mini', '--', './mini.sh', '.');
    await daemonForTest([], { home, cwd: home.path });
    expect((await run('ping', 'mini')).code).toBe(0);
    const { stdout, stderr } = await run('logs', 'mini', '--seconds', '0.1');
    expect(stdout + stderr).toContain('mini.sh');
    expect(stdout + stderr).not.toContain('project');
  });
});

it('an error names the directory that relative paths resolve in', async () => {
  const missing = { command: './mini.sh' };
  const ending = { command: 'sh', args: ['./mini.sh'] };
  await home.write('.config/turnbuckle/mcp.json', { servers: { missing, ending } });
  await daemonForTest([], { home, cwd: home.path });
  expect((await run('ping', 'missing')).stderr).toContain(`"./mini.sh" was not found in ${home.path}.`);
  expect((await run('ping', 'ending')).stderr).toContain(
    `relative paths in its command are resolved from ${home.path}`,
  );
});

it('doctor warns about entries whose relative paths depend on the working directory', async () => {
  const good = fixture('echo');
  const servers = {
    loose: { ...good, env: { ROOT: '.' } },
    folder: { ...good, env: { ROOT: '${workspaceFolder}' } },
    held: { ...good, env: { ROOT: '.' }, cwd: home.project },
    good,
  };
  await home.write('.config/turnbuckle/mcp.json', { servers });
  await daemonForTest([], { home, cwd: home.path });
  const { code, stdout } = await run('doctor');
  expect(code).toBe(0);
  const words = stdout.replace(/\s+/g, ' ');
  expect(words).toContain(
    `! loose "." is relative to the directory in which the server starts. This command starts it in ${home.project}, `,
  );
  expect(words).toContain(`the daemon starts it in ${home.path}`);
  const { checks } = await json<{ checks: Array<{ name: string; what: string; next?: string }> }>(
    ['doctor'],
    { home },
  );
  const warned = checks.filter(({ next }) => next?.includes('"cwd"'));
  expect(warned.map(({ name }) => name)).toEqual(['folder', 'loose']);
});

it('import warns about relative paths: the working directory in the other tool is unknown', async () => {
  const mcpServers = {
    loose: { command: 'npx', args: ['pkg', '.'] },
    held: { command: 'npx', args: ['/a'] },
  };
  const file = await home.write('other.json', { mcpServers });
  const { code, stderr } = await run('import', '--from', file, '--yes');
  expect(code).toBe(0);
  expect(stderr.match(/"\." is a relative path\. Set "cwd"/g)).toHaveLength(1);
  const { stderr: own } = await run('import', '--from', file, '--yes', '--scope', 'local');
  expect(own).not.toContain('is a relative path');
});

it('recognises relative paths by their form alone', () => {
  expect(
    findRelativePaths({ command: 'bin/x', args: ['a/b', '-', '--', '.', ''], env: { A: '../b' } }),
  ).toEqual(['bin/x', '.', '../b']);
  expect(findRelativePaths({ command: '/bin/x', args: 7, env: [], url: './x' })).toEqual([]);
});

it('the template of init contains no relative path', async () => {
  await run('init');
  expect(await home.read('.config/turnbuckle/mcp.json')).not.toMatch(/"\.{1,2}"|"\.\.?\//);
});
