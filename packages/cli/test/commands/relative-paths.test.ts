/** What was typed in one directory is not started in another: there `.` would be somebody's whole home. */
import { chmod, mkdir } from 'node:fs/promises';
import { fixture } from '@turnbuckle/testing';
import { relativeWords } from 'turnbuckle';
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
  ])('%j keeps the directory where it was typed, and says so', async (words) => {
    const { code, stderr } = await run('add', 'x', '--', ...words);
    expect(code).toBe(0);
    expect(stderr).toContain(`It runs in ${home.project}`);
    expect(await written()).toMatchObject({ x: { cwd: home.project } });
  });

  it.each([
    [['npx', '-y', '@scope/pkg', '/abs/dir', '--verbose']],
    [['node', '/abs/server.mjs', 'https://example.invalid/.', '${workspaceFolder}']],
    [['pkg', 'not-there.txt', '...', 'a.b']],
    [['{"command":"pkg","sandbox":"strict"}']],
    [['{"command":"pkg","args":["."],"cwd":"/abs"}']],
    [['https://example.invalid/./x']],
  ])('%j keeps none', async (words) => {
    const { code, stderr } = await run('add', 'x', '--', ...words);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('It runs in')]);
    const { x } = (await written()) as { x: { cwd?: string } };
    expect(x.cwd ?? '/abs').toBe('/abs');
  });

  it('keeps the file of a project portable: from its directory, and only where it is another one', async () => {
    await run('add', 'here', '--scope', 'project', '--', './mini.sh');
    const below = home.file('project/below/deeper');
    await mkdir(below, { recursive: true });
    const words = ['add', 'below', '--scope', 'project', '--', './other.sh'];
    expect((await turnbuckle(words, { home, cwd: below })).stderr).toContain('It runs in below/deeper');
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

it('an error names the directory that relative paths were meant from', async () => {
  const missing = { command: './mini.sh' };
  const ending = { command: 'sh', args: ['./mini.sh'] };
  await home.write('.config/turnbuckle/mcp.json', { servers: { missing, ending } });
  await daemonForTest([], { home, cwd: home.path });
  expect((await run('ping', 'missing')).stderr).toContain(`"./mini.sh" was not found in ${home.path}.`);
  expect((await run('ping', 'ending')).stderr).toContain(`started in ${home.path}, where its relative paths`);
});

it('doctor warns of entries that mean another file wherever they are started', async () => {
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
    `! loose "." in its entry is meant from where it is started: here ${home.project}, `,
  );
  expect(words).toContain(`with the daemon ${home.path}`);
  const { checks } = await json<{ checks: Array<{ name: string; what: string; next?: string }> }>(
    ['doctor'],
    { home },
  );
  const warned = checks.filter(({ next }) => next?.includes('"cwd"'));
  expect(warned.map(({ name }) => name)).toEqual(['folder', 'loose']);
});

it('import warns of them: nobody knows where the other tool started it', async () => {
  const mcpServers = {
    loose: { command: 'npx', args: ['pkg', '.'] },
    held: { command: 'npx', args: ['/a'] },
  };
  const file = await home.write('other.json', { mcpServers });
  const { code, stderr } = await run('import', '--from', file, '--yes');
  expect(code).toBe(0);
  expect(stderr.match(/"\." is meant from where it is started: say in "cwd"/g)).toHaveLength(1);
  const { stderr: own } = await run('import', '--from', file, '--yes', '--scope', 'local');
  expect(own).not.toContain('is meant from');
});

it('knows relative words by their form alone', () => {
  expect(relativeWords({ command: 'bin/x', args: ['a/b', '-', '--', '.', ''], env: { A: '../b' } })).toEqual([
    'bin/x',
    '.',
    '../b',
  ]);
  expect(relativeWords({ command: '/bin/x', args: 7, env: [], url: './x' })).toEqual([]);
});

it('the template of init leads to no directory that depends on where it is started', async () => {
  await run('init');
  expect(await home.read('.config/turnbuckle/mcp.json')).not.toMatch(/"\.{1,2}"|"\.\.?\//);
});
