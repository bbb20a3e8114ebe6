import { existsSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHome, type Home, json, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeEach(async () => {
  home = await createHome();
});

const run = (...words: string[]) => turnbuckle(words, { home });
const written = async (file = '.config/turnbuckle/mcp.json'): Promise<unknown> =>
  JSON.parse(await home.read(file)).servers;

describe('add', () => {
  it('writes a command with its own options unchanged', async () => {
    const { code, stdout, stderr } = await run(
      'add',
      'files',
      '-e',
      'A=b=c',
      '--',
      'npx',
      '-y',
      'pkg',
      '--json',
      '-h',
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Added files to ${home.config}\n` });
    expect(stderr).toContain('turnbuckle tools files');
    expect(await written()).toEqual({
      files: { command: 'npx', args: ['-y', 'pkg', '--json', '-h'], env: { A: 'b=c' } },
    });
  });

  it('writes a URL with headers and transport, and a JSON entry', async () => {
    await run('add', 'docs', 'https://example.invalid/sse', '-t', 'sse', '-H', 'Authorization: Bearer ${T}');
    await run('add', 'db', '{"command":"db","env":{"URL":"${DB}"}}', '--env', 'MORE=1');
    expect(await written()).toEqual({
      docs: { type: 'sse', url: 'https://example.invalid/sse', headers: { Authorization: 'Bearer ${T}' } },
      db: { command: 'db', env: { URL: '${DB}', MORE: '1' } },
    });
  });

  it.each([
    ['project', 'project/.turnbuckle/mcp.json'],
    ['local', 'project/.turnbuckle/mcp.local.json'],
  ])('writes to the %s file of this directory and says that the server needs trust', async (scope, file) => {
    const { code, stderr } = await run('add', 'x', '--scope', scope, '--', 'true');
    expect(code).toBe(0);
    expect(stderr).toContain('turnbuckle trust x');
    expect(await written(file)).toEqual({ x: { command: 'true' } });
    expect(existsSync(home.file('project/mcp-servers.json'))).toBe(false);
  });

  it('refuses a name that is taken, and replaces it with --force', async () => {
    await run('add', 'x', '--', 'one', 'argument');
    const again = await run('add', 'x', '--', 'two');
    expect(again.code).toBe(12);
    expect(again.stderr).toContain('NAME_TAKEN');
    expect(again.stderr).toContain('--force');
    expect((await run('add', 'x', '--force', '--', 'two')).code).toBe(0);
    expect(await written()).toEqual({ x: { command: 'two' } });
  });

  it.each([
    [['x', '{"comand":"y"}'], 10, /comand.*command/],
    [['x', '{"command":"y","env":{"A":1}}'], 10, /env\.A/],
    [['x', '-t', 'pigeon', 'https://example.invalid'], 10, /pigeon/],
    [['x', '-H', 'A: b', '--', 'cmd'], 10, /headers/],
    [['native', '--', 'cmd'], 10, /native/],
    [['x', '{broken'], 13, /JSON at line 1, column 2: unexpected word/],
    [['x', '{"command": "y",\n "args": [1 2]}'], 13, /line 2, column 13: expected a comma/],
    [['x', '{"command": "y",}'], 13, /line 1, column 17: /],
    [['x', 'localhost:9999/mcp'], 13, /looks like a URL[\s\S]*add <name> http:\/\/localhost:9999\/mcp\)/],
    [['x', 'http//foo/mcp'], 13, /looks like a URL[\s\S]*http:\/\/foo\/mcp[\s\S]*-- http\/\/foo\/mcp/],
    [['x', 'https:/foo.example/mcp'], 13, /looks like a URL[\s\S]*https:\/\/foo\.example\/mcp/],
    [['x', 'mcp.example.com/mcp'], 13, /looks like a URL[\s\S]*https:\/\/mcp\.example\.com\/mcp/],
    [['x', '127.0.0.1:80'], 13, /looks like a URL[\s\S]*http:\/\/127\.0\.0\.1:80/],
    [['x', 'https://example.invalid', 'more'], 13, /Unexpected argument "more"/],
    [['x', 'ftp://example.invalid'], 13, /https:\/\/, http:\/\/, wss:\/\/ or ws:\/\//],
    [['x', 'npx -y pkg'], 13, /turnbuckle add <name> -- npx -y pkg/],
    [['x', '-e', 'NOVALUE', '--', 'cmd'], 13, /NOVALUE/],
    [['x', '-H', 'novalue', 'https://example.invalid'], 13, /novalue/],
    [['x', '--scope', 'galaxy', '--', 'cmd'], 13, /galaxy.*"user", "project" or "local"/],
  ])('%j is refused before anything is written', async (words, exit, reason) => {
    const { code, stdout, stderr } = await run('add', ...words);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toMatch(reason);
    expect(stderr.trimEnd().split('\n').length).toBeGreaterThan(1);
    expect(existsSync(home.config)).toBe(false);
    expect(existsSync(home.file('project/.turnbuckle'))).toBe(false);
  });

  it.each([['localhost:9999/mcp'], ['http//foo/mcp'], ['example.com/run']])(
    'accepts %s after -- as a command',
    async (command) => {
      expect((await run('add', 'x', '--', command)).code).toBe(0);
      expect(await written()).toMatchObject({ x: { command } });
    },
  );

  it.each([
    ['npx'],
    ['./server.sh'],
    ['tools/server.js'],
    ['python3.12'],
    ['C:\\tools\\server.exe'],
    ['@scope/server'],
  ])('accepts %s as a command', async (command) => {
    expect((await run('add', 'x', command)).code).toBe(0);
    expect(await written()).toMatchObject({ x: { command } });
  });

  it.each([
    [['-e', `T=sk-live-${'a1B2'.repeat(8)}`, '--', 'cmd'], 'env.T'],
    [['-e', 'GITHUB_TOKEN=hunter2', '--', 'cmd'], 'env.GITHUB_TOKEN'],
    [['https://example.invalid', '-H', 'Authorization: Bearer hunter2'], 'headers.Authorization'],
    [['{"command":"cmd","env":{"API_KEY":"hunter2"}}'], 'env.API_KEY'],
    [['{"url":"https://example.invalid","auth":{"type":"bearer","token":"hunter2"}}'], 'auth.token\n'],
    [
      ['{"command":"cmd","credentials":{"ada":{"env":{"API_KEY":"hunter2","LEVEL":"1"}}}}'],
      'credentials.ada.env.API_KEY\n',
    ],
  ])('warns about a secret in plain text: %j', async (words, place) => {
    const { code, stderr } = await run('add', 'sec', ...words);
    expect(code).toBe(0);
    expect(stderr).toContain(`warning A secret is written in plain text: ${place}`);
    expect(stderr).toContain('turnbuckle secrets set sec');
    expect(stderr).not.toMatch(/hunter2|a1B2/);
  });

  it.each([
    [['-e', 'T=${secret:sec}', '--', 'cmd']],
    [['-e', 'GITHUB_TOKEN=${GITHUB_TOKEN}', '--', 'cmd']],
    [['https://example.invalid', '-H', 'Authorization: Bearer ${T}']],
    [['-e', 'MODE=fast', '--', 'cmd']],
  ])('does not warn without a secret: %j', async (words) => {
    expect((await run('add', 'sec', ...words)).stderr).not.toContain('plain text');
  });

  it('prints JSON without the secrets', async () => {
    const answer = await json(['add', 'x', '-e', 'KEY=hunter2', 'cmd'], { home });
    expect(answer).toEqual({
      added: 'x',
      file: home.config,
      config: { command: 'cmd', env: { KEY: '[redacted]' } },
    });
  });

  it('accepts a name or program with spaces, and quotes it in the next step', async () => {
    const program = await home.write('my programs/serve', '');
    const { code, stderr } = await run('add', "it's mine", program);
    expect(code).toBe(0);
    expect(stderr).toContain(`turnbuckle tools 'it'\\''s mine'`);
  });

  it('says when a file with higher precedence has a server of that name', async () => {
    await home.write('project/.turnbuckle/mcp.json', { servers: { x: { command: 'theirs' } } });
    expect((await run('add', 'x', '--', 'mine')).stderr).toContain(
      'The new server is not used in this directory',
    );
  });
});

describe('remove', () => {
  it('removes servers from their files, and keeps the rest with its comments', async () => {
    await home.write(
      '.config/turnbuckle/mcp.json',
      '{\n  // mine\n  "servers": {\n    "a": { "command": "a" },\n    "b": { "command": "b" } // stays\n  }\n}\n',
    );
    const { code, stdout } = await run('rm', 'a', 'a');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Removed a from ${home.config}\n` });
    const text = await home.read('.config/turnbuckle/mcp.json');
    expect(text).toMatch(/\/\/ mine[\s\S]*"b".*\/\/ stays/);
    expect(text).not.toContain('"a"');
    expect(await json(['remove', 'b'], { home })).toEqual({ removed: [{ name: 'b', file: home.config }] });
  });

  it('refuses an unknown name and suggests known ones', async () => {
    await run('add', 'files', '--', 'x');
    const close = await run('remove', 'fils');
    expect(close.code).toBe(11);
    expect(close.stderr).toContain('Did you mean "files"?');
    expect((await run('remove', 'zzzzzz')).stderr).toContain('Configured servers: files');
  });
});

describe('disable and enable', () => {
  it('change the file that is in effect', async () => {
    await run('add', 'x', '--', 'cmd');
    expect((await run('disable', 'x')).stdout).toContain('x is disabled in');
    expect(await written()).toEqual({ x: { command: 'cmd', enabled: false } });
    expect((await run('disable', 'x')).stdout).toContain('x is already disabled in');
    expect(await json(['enable', 'x'], { home })).toEqual({ enabled: [{ name: 'x', file: home.config }] });
    expect(await json(['list', '--no-connect'], { home })).toMatchObject([{ name: 'x', status: 'pending' }]);
  });

  it('change a server for this project only, and undo that', async () => {
    await run('add', 'x', '--', 'cmd');
    const local = home.file('project/.turnbuckle/mcp.local.json');
    expect((await run('disable', 'x', '--scope', 'local')).stdout).toContain(local);
    expect(await written('project/.turnbuckle/mcp.local.json')).toEqual({ x: { enabled: false } });
    expect(await json(['list', '--no-connect'], { home })).toMatchObject([{ name: 'x', status: 'disabled' }]);
    expect((await run('enable', 'x')).stdout).toContain(local);
    expect(await json(['list', '--no-connect'], { home })).toMatchObject([{ name: 'x', status: 'pending' }]);
  });

  it('leave no settings that become an error when the server is removed', async () => {
    await run('add', 'x', '--', 'cmd');
    await run('disable', 'x', '--scope', 'local');
    await run('enable', 'x');
    const { stdout, stderr } = await run('remove', 'x');
    expect(stdout).toBe(`Removed x from ${home.config}\n`);
    expect(stderr).toContain(
      `Also removed this server's settings from ${home.file('project/.turnbuckle/mcp.local.json')}.`,
    );
    expect(await written('project/.turnbuckle/mcp.local.json')).toEqual({});
    expect(await json(['list'], { home })).toEqual([]);
    expect((await run('config')).code).toBe(0);
  });

  it('keep their settings for another server of that name, and in a project file', async () => {
    await run('add', 'x', '--', 'cmd');
    await run('add', 'x', '--scope', 'project', '--', 'other');
    await run('disable', 'x', '--scope', 'local');
    expect((await run('remove', 'x', '--scope', 'project')).stderr).toContain(
      `${home.config} also defines a server with this name`,
    );
    expect(await written('project/.turnbuckle/mcp.local.json')).toEqual({ x: { enabled: false } });
    await home.write('project/.turnbuckle/mcp.json', { servers: { x: { enabled: false } } });
    expect((await run('remove', 'x')).stderr).toContain('belongs to the project');
    expect(await written('project/.turnbuckle/mcp.json')).toEqual({ x: { enabled: false } });
    const { stderr } = await run('list');
    expect(stderr).toContain('overrides settings for server "x", but no file defines that server');
    expect(stderr).toContain('turnbuckle remove x');
    const who = await turnbuckle(['whoami', '--json'], { home });
    expect([who.code, JSON.parse(who.stdout)]).toEqual([0, []]);
    expect((await run('whoami', 'x')).code).toBe(10);
  });

  it('enable a server in each file that disables it, and refuse a file of the project alone', async () => {
    await run('add', 'x', '--', 'cmd');
    const local = home.file('project/.turnbuckle/mcp.local.json');
    await run('disable', 'x');
    const refused = await run('enable', 'x', '--scope', 'local');
    expect(refused.code).toBe(13);
    expect(refused.stderr).toContain(`is disabled in ${home.config}. A project's file cannot enable it.`);
    expect(existsSync(local)).toBe(false);
    await run('disable', 'x', '--scope', 'local');
    expect(await json(['enable', 'x'], { home })).toEqual({
      enabled: [
        { name: 'x', file: home.config },
        { name: 'x', file: local },
      ],
    });
    expect(await json(['list', '--no-connect'], { home })).toMatchObject([{ name: 'x', status: 'pending' }]);
  });

  it('refuse a file with lower precedence than the server’s own', async () => {
    await run('add', 'x', '--scope', 'project', '--', 'cmd');
    const { code, stderr } = await run('disable', 'x', '--scope', 'user');
    expect(code).toBe(13);
    expect(stderr).toContain('takes precedence over');
    expect(existsSync(home.config)).toBe(false);
  });

  it('refuse an unknown name', async () => {
    expect((await run('enable', 'nope')).code).toBe(11);
    expect((await run('disable', 'nope')).stderr).toContain('turnbuckle add');
  });
});
