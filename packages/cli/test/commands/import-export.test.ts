import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHome, type Home, json, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeEach(async () => {
  home = await createHome();
});

const run = (...words: string[]) => turnbuckle(words, { home });

describe('import', () => {
  beforeEach(async () => {
    await home.write('.cursor/mcp.json', {
      mcpServers: { files: { command: 'npx', args: ['-y', 'files'], env: { KEY: '${env:FILES_KEY}' } } },
    });
    await home.write('project/.vscode/mcp.json', {
      inputs: [{ type: 'promptString', id: 'token', description: 'Token', password: true }],
      servers: {
        docs: {
          type: 'http',
          url: 'https://example.invalid/mcp',
          headers: { Authorization: 'Bearer ${input:token}' },
        },
      },
    });
  });

  it('shows the change and refuses in a pipe', async () => {
    const { code, stdout, stderr } = await run('import');
    expect({ code, stdout }).toEqual({ code: 20, stdout: '' });
    expect(stderr).toContain(`files from cursor (${home.file('.cursor/mcp.json')}): new`);
    expect(stderr).toMatch(/^\+ +"files": \{$/m);
    expect(stderr).toContain('--yes');
    expect(existsSync(home.config)).toBe(false);
  });

  it('writes with --yes, keeps placeholders, and finds nothing new the second time', async () => {
    const { code, stdout } = await run('import', '--yes');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Imported 1 server into ${home.config}\n` });
    const { servers, inputs } = JSON.parse(await readFile(home.config, 'utf8'));
    expect(Object.keys(servers)).toEqual(['files']);
    expect(servers.files).toMatchObject({
      command: 'npx',
      args: ['-y', 'files'],
      env: { KEY: '${FILES_KEY}' },
    });
    expect(inputs).toBeUndefined();
    expect((await run('import')).stderr).toContain('Nothing new');
    expect(await json(['import'], { home })).toEqual({ imported: [] });
  });

  it('imports the servers of a project only into a file of the project, where they need trust', async () => {
    expect((await run('import', 'vscode', '--yes')).stderr).toContain('--scope local');
    expect(existsSync(home.config)).toBe(false);
    expect((await run('import', 'vscode', '--yes', '--scope', 'local')).code).toBe(0);
    const local = home.file('project/.turnbuckle/mcp.local.json');
    expect(JSON.parse(await readFile(local, 'utf8'))).toMatchObject({
      servers: {
        docs: { url: 'https://example.invalid/mcp', headers: { Authorization: 'Bearer ${input:token}' } },
      },
      inputs: [{ id: 'token', password: true }],
    });
    expect((await run('ping', 'docs')).code).toBe(15);
  });

  it('imports only from the named client', async () => {
    expect(await json(['import', 'cursor', '--yes'], { home })).toMatchObject({
      imported: [{ name: 'files', from: { client: 'cursor' } }],
      file: home.config,
    });
    const unknown = await run('import', 'netscape');
    expect(unknown.code).toBe(13);
    expect(unknown.stderr).toContain('cursor');
  });

  it('says which secrets it copies in plain text, and where they would be better', async () => {
    const file = await home.write('old.json', {
      mcpServers: {
        web: { url: 'https://example.invalid/mcp', headers: { Authorization: 'Bearer abc-very-secret' } },
        env: { command: 'x', env: { LOG_LEVEL: 'debug', API_TOKEN: 'abc-very-secret' } },
        args: { command: 'x', args: ['--api-key', 'abc-very-secret'] },
        good: { command: 'x', env: { API_TOKEN: '${API_TOKEN}', LOG: 'debug' } },
      },
    });
    const { stderr } = await run('import', '--from', file, '--yes');
    const warned = stderr.split('\n').filter((line) => line.includes('copied in plain text'));
    expect(warned).toEqual([
      '  warning A secret is copied in plain text: headers.Authorization',
      '  warning A secret is copied in plain text: env.API_TOKEN',
      '  warning A secret is copied in plain text: args',
    ]);
    expect(stderr).toContain('replace it with ${secret:web} and run: turnbuckle secrets set web');
    expect(stderr).not.toContain('abc-very-secret');
    expect(await readFile(home.config, 'utf8')).toContain('abc-very-secret');
  });

  it.each([
    ['{ "mcpServers": oops }', /old\.json cannot be used: .+/],
    ['', /old\.json/],
    ['{}', /old\.json cannot be used: no servers were recognised/],
    ['{ "mcpServers": {} }', /No servers in .*old\.json/],
    ['[1, 2]', /old\.json/],
  ])('refuses a named file without servers: %s', async (text, message) => {
    const file = await home.write('old.json', text);
    const { code, stderr } = await run('import', '--from', file, '--yes');
    expect(code).toBe(10);
    expect(stderr).toMatch(/^error CONFIG_INVALID /m);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('Import from a file: turnbuckle import');
    expect(existsSync(home.config)).toBe(false);
  });

  it('reads any file with --from', async () => {
    const file = await home.write('old.json', { mcpServers: { old: { command: 'old' } } });
    expect((await run('import', '--from', file, '--yes')).code).toBe(0);
    expect(Object.keys(JSON.parse(await readFile(home.config, 'utf8')).servers)).toEqual(['old']);
    expect(await run('import', '--from', 'nowhere.json')).toMatchObject({ code: 10 });
    const broken = await home.write(
      'broken.json',
      '{ "mcpServers": {\n  "a": { "command": "x" "args": [] } } }',
    );
    expect((await run('import', '--from', broken)).stderr).toContain(
      'cannot be read as JSON (line 2, column 25: expected a comma',
    );
  });

  it.each([
    ['a map under another name', '{"mcpServers": {"own": {"command": "own"}}}'],
    ['a list', '{"servers": [{"name": "own", "command": "own"}]}'],
  ])('keeps the form of a file that has %s', async (_what, text) => {
    await home.write('.config/turnbuckle/mcp.json', text);
    expect((await run('import', 'cursor', '--yes')).code).toBe(0);
    const { servers } = await json<{ servers: Array<{ name: string }> }>(['config'], { home });
    expect(servers.map(({ name }) => name)).toEqual(['own', 'files']);
    const written = JSON.parse(await readFile(home.config, 'utf8'));
    expect('servers' in written && 'mcpServers' in written).toBe(false);
  });

  it('can be undone byte for byte, once', async () => {
    const before = '\ufeff{\r\n  // mine\r\n  "servers": {  },\r\n}';
    await home.write('.config/turnbuckle/mcp.json', before);
    expect((await run('import', '--yes')).code).toBe(0);
    expect(await readFile(home.config, 'utf8')).not.toBe(before);
    expect((await run('import', '--undo')).stdout).toBe(`${home.config} restored.\n`);
    expect(await readFile(home.config, 'utf8')).toBe(before);
    expect((await run('import', '--undo')).stderr).toContain(
      'Nothing to undo, because no import is recorded.',
    );
  });

  it('removes the file on undo if there was none', async () => {
    await run('import', '--yes');
    expect(await json(['import', '--undo'], { home })).toEqual({ undone: home.config });
    expect(existsSync(home.config)).toBe(false);
  });

  it('is not undone over a later edit', async () => {
    await run('import', '--yes');
    await appendFile(home.config, '\n// mine');
    const { code, stderr } = await run('import', '--undo');
    expect(code).toBe(10);
    expect(stderr).toContain('has changed since');
    expect(await readFile(home.config, 'utf8')).toContain('// mine');
  });
});

it('import explains --from when it finds nothing', async () => {
  const { code, stderr } = await run('import');
  expect(code).toBe(0);
  expect(stderr).toContain('--from <file>');
});

describe('export', () => {
  beforeEach(async () => {
    await home.write('.config/turnbuckle/mcp.json', {
      servers: {
        files: { command: 'npx', args: ['-y', 'files'], env: { KEY: '${FILES_KEY}' } },
        docs: { url: 'https://example.invalid/mcp' },
      },
    });
  });

  it('prints what it would write', async () => {
    const { code, stdout } = await run('export', 'files', '--to', 'cursor', '--file', '-');
    expect(code).toBe(0);
    const { mcpServers } = JSON.parse(stdout);
    expect(Object.keys(mcpServers)).toEqual(['files']);
    expect(mcpServers.files).toMatchObject({ command: 'npx', args: ['-y', 'files'] });
    expect(mcpServers.files.env.KEY).toMatch(/^\$\{(env:)?FILES_KEY\}$/);
    expect((await run('export', '--to', 'codex', '--file', '-')).stdout).toContain('[mcp_servers.files]');
    expect(await json(['export', '--to', 'codex', '--file', '-'], { home })).toMatchObject({
      client: 'codex',
      text: expect.stringContaining('[mcp_servers.docs]'),
    });
  });

  it('fails in a pipe, adds to the file with --yes, and can be undone', async () => {
    const before = '{\n  "mcpServers": { "theirs": { "command": "theirs" } }\n}\n';
    const file = await home.write('.cursor/mcp.json', before);
    const refused = await run('export', '--to', 'cursor');
    expect(refused.code).toBe(20);
    expect(refused.stderr).toMatch(/^\+ .*"files"/m);
    expect(await readFile(file, 'utf8')).toBe(before);

    const done = await run('export', '--to', 'cursor', '--yes');
    expect(done).toMatchObject({ code: 0, stdout: `Wrote 2 servers to ${file}\n` });
    expect(Object.keys(JSON.parse(await readFile(file, 'utf8')).mcpServers)).toEqual([
      'theirs',
      'files',
      'docs',
    ]);
    expect((await run('export', '--to', 'cursor', '--yes')).stderr).toContain('is already up to date');

    expect((await run('export', '--undo')).code).toBe(0);
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it.each([
    [['--to', 'netscape'], 13, /Available clients: /],
    [['--to', 'curser'], 13, /Did you mean "cursor"\?/],
    [['--to', 'cursor'], 10, /--file/],
    [['nope', '--to', 'cursor', '--file', '-'], 11, /Configured servers: files, docs/],
    [['--undo'], 10, /no export is recorded/],
  ])('%j is refused with a next step', async (words, exit, text) => {
    const { code, stdout, stderr } = await run('export', ...words);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toMatch(text);
  });
});

// requirement F2
describe('a sign-in', () => {
  const SECRET = 'q8-literal-client-secret';

  it('is imported with a warning about its secret, exported with what is lost, and never shown', async () => {
    await home.write('.cursor/mcp.json', {
      mcpServers: {
        issues: {
          url: 'https://example.invalid/mcp',
          auth: { CLIENT_ID: 'abc', CLIENT_SECRET: SECRET, scopes: ['issues:read'] },
        },
      },
    });
    const preview = await run('import', 'cursor');
    expect(preview.stderr).toContain('A secret is copied in plain text: auth.clientSecret\n');
    expect(preview.stderr).toMatch(/^\+ +"clientSecret": "\[redacted\]"/m);
    expect((await run('import', 'cursor', '--yes')).code).toBe(0);
    expect(JSON.parse(await readFile(home.config, 'utf8')).servers.issues.auth).toEqual({
      type: 'oauth',
      clientId: 'abc',
      clientSecret: SECRET,
      scopes: ['issues:read'],
    });
    const gemini = home.file('gemini.json');
    const exported = await run('export', 'issues', '--to', 'gemini', '--file', gemini);
    expect(exported.stderr).toMatch(/^\+ +"clientSecret": "\[redacted\]"/m);
    const toVsCode = await run('export', 'issues', '--to', 'vscode', '--file', '-');
    expect(toVsCode.stderr).toContain('issues: VS Code does not support auth.clientSecret, auth.scopes');
    const shown = [preview, exported, toVsCode].flatMap(({ stdout, stderr }) => [stdout, stderr]);
    expect(shown.join('')).not.toContain(SECRET);
  });
});
