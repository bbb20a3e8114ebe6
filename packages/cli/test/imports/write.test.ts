import { describe, expect, it } from 'vitest';
import { readClientConfig, writeClientConfig } from '../../src/imports/index.js';
import { readFixture } from './read-fixture.js';

const added = { name: 'added', config: { command: 'node', args: ['added.js'], env: { TOKEN: `\${TOKEN}` } } };

describe('writing into an existing file', () => {
  it('keeps comments, order and other servers in JSON', () => {
    const before = `{
  // mine
  "mcpServers": {
    "one": {
      "command": "node", // runs it
      "args": ["one.js"],
      "autoApprove": ["read"],
    },
    /* somebody's */
    "two": { "url": "https://two.example.com/mcp" },
  },
  "other": [1, 2,],
}
`;
    const { text, problems } = writeClientConfig('cursor', before, [
      { name: 'one', config: { type: 'stdio', command: 'node', args: ['changed.js'] } },
      added,
    ]);
    expect(problems).toEqual([]);
    expect(text).toBe(`{
  // mine
  "mcpServers": {
    "one": {
      "command": "node", // runs it
      "args": ["changed.js"],
      "autoApprove": ["read"],
    },
    /* somebody's */
    "two": { "url": "https://two.example.com/mcp" },
    "added": { "command": "node", "args": ["added.js"], "env": { "TOKEN": "\${env:TOKEN}" } },
  },
  "other": [1, 2,],
}
`);
  });

  it('keeps the byte order mark, line ends and tabs', () => {
    const before = '\uFEFF{\r\n\t"mcpServers": {}\r\n}\r\n';
    const { text = '' } = writeClientConfig('kiro', before, [added]);
    expect(text.startsWith('\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"added"')).toBe(true);
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
  });

  it('keeps comments and other tables of TOML', () => {
    const before = `# top
model = "m" # the model

[mcp_servers.one] # one
command = "node"

[mcp_servers.one.env]
A = "[not.a.table]"
B = """
[mcp_servers.fake]
"""

# about two
[mcp_servers."two.dots"]
url = "https://two.example.com/mcp"

[profiles.fast]
model = "n"
`;
    const { text, problems } = writeClientConfig('codex', before, [
      { name: 'one', config: { command: 'python', args: ['one.py'] } },
      {
        name: 'web',
        config: { url: 'https://web.example.com/mcp', headers: { Authorization: `Bearer \${T}` } },
      },
    ]);
    expect(problems).toEqual([]);
    expect(text).toBe(`# top
model = "m" # the model

[mcp_servers.one]
command = "python"
args = [ "one.py" ]

# about two
[mcp_servers."two.dots"]
url = "https://two.example.com/mcp"

[profiles.fast]
model = "n"

[mcp_servers.web]
bearer_token_env_var = "T"
url = "https://web.example.com/mcp"
`);
  });

  it('reports when the comments of a TOML file cannot be kept, and loses no value', () => {
    const before = '# gone\nratio = 1.0\ncount = 3\nmcp_servers = { one = { command = "node" } }\n';
    const { text = '', problems } = writeClientConfig('codex', before, [added]);
    expect(problems.join()).toContain('comments');
    expect(text).toContain('ratio = 1.0');
    expect(text).toContain('count = 3\n');
    expect(readClientConfig('codex', text).servers.map(({ name }) => name)).toEqual(['one', 'added']);
  });

  it('replaces one table of a TOML list', () => {
    const { text = '', problems } = writeClientConfig('vibe', readFixture('vibe.toml'), [
      { name: 'web', config: { url: 'https://changed.example.com/mcp' } },
    ]);
    expect(problems).toEqual([]);
    expect(text.match(/\[\[mcp_servers\]\]/g)).toHaveLength(5);
    expect(readClientConfig('vibe', text).servers[1]?.config.url).toBe('https://changed.example.com/mcp');
  });

  it('replaces a table of credentials that Mistral Vibe does not accept beside headers', () => {
    const before = readFixture('vibe.toml');
    const config = { url: 'https://key.example.com/mcp', headers: { 'X-Key': `\${OTHER}` } };
    for (const name of ['key', 'tracker']) {
      const { text = '' } = writeClientConfig('vibe', before, [{ name, config }]);
      const section = text.slice(text.indexOf(`name = "${name}"`)).split('[[')[0] ?? '';
      expect(section).toContain('api_key_env = "OTHER"');
      expect(section).not.toContain('auth');
    }
  });

  it('keeps the settings inside a sign-in that Turnbuckle does not have', () => {
    const before = readFixture('gemini.json');
    const auth = { type: 'oauth', clientId: 'changed' };
    const config = { type: 'http', url: 'https://tracker.example.com/mcp', auth };
    const { text = '' } = writeClientConfig('gemini', before, [{ name: 'tracker', config }]);
    expect(JSON.parse(text).mcpServers.tracker.oauth).toEqual({
      audiences: ['https://tracker.example.com'],
      enabled: true,
      clientId: 'changed',
    });
  });

  it('does not take a server out of a sandbox unless it says so', () => {
    const before = readFixture('vscode.json');
    const boxed = { type: 'stdio', command: 'node', args: ['boxed.js'] };
    const write = (config: object) => {
      const { text = '' } = writeClientConfig('vscode', before, [{ name: 'boxed', config: { ...config } }]);
      return JSON.parse(text).servers.boxed.sandboxEnabled;
    };
    expect(write(boxed)).toBe(true);
    expect(write({ ...boxed, sandbox: false })).toBeUndefined();
  });

  it('keeps comments and order of YAML', () => {
    const { text = '', problems } = writeClientConfig('goose', readFixture('goose.yaml'), [
      { name: 'files', config: { command: 'deno', args: ['run'] } },
      added,
    ]);
    expect(problems).toEqual([]);
    expect(text).toContain('GOOSE_PROVIDER: anthropic # the model');
    expect(text).toContain('  # our own\n  files:\n');
    expect(text).toContain('env_keys:\n      - TOKEN');
    expect(text).toMatch(/ {2}added:\n {4}name: added\n/);
  });

  it('follows the version of the opencode file', () => {
    const second = writeClientConfig('opencode', readFixture('opencode-second.jsonc'), [
      { name: 'off', config: { command: 'node', args: ['off.js'], enabled: false } },
      added,
    ]);
    expect(JSON.parse(second.text ?? '').mcp.servers.added).toEqual({
      type: 'local',
      command: ['node', 'added.js'],
      environment: { TOKEN: '{env:TOKEN}' },
    });
    const first = writeClientConfig('opencode', undefined, [added]);
    expect(JSON.parse(first.text ?? '').mcp.added.enabled).toBe(true);
  });

  it('declares the inputs that VS Code will ask for', () => {
    const config = {
      type: 'http',
      url: 'https://x.example.com/mcp',
      headers: { A: `\${input:token}`, B: `\${input:web-token}` },
    };
    const { text = '' } = writeClientConfig('vscode', readFixture('vscode.json'), [{ name: 'x', config }]);
    expect(readClientConfig('vscode', text).inputs.map(({ id, password }) => [id, password])).toEqual([
      ['web-token', true],
      ['region', undefined],
      ['token', true],
    ]);
  });

  it('enables and disables Gemini servers in its lists', () => {
    const { text = '' } = writeClientConfig('gemini', readFixture('gemini.json'), [
      { name: 'files', config: { command: 'node', enabled: false } },
      { name: 'off', config: { command: 'node' } },
      { name: 'unlisted', config: { command: 'node' } },
    ]);
    const { mcp } = JSON.parse(text);
    expect(mcp.excluded).toEqual(['files']);
    expect(mcp.allowed).toContain('unlisted');
  });

  it('writes for one folder of Claude Code', () => {
    const { text = '' } = writeClientConfig(
      { client: 'claude-code', project: '/srv/site' },
      readFixture('claude-code.json'),
      [added],
    );
    const { projects, mcpServers } = JSON.parse(text);
    expect(Object.keys(projects['/srv/site'].mcpServers)).toEqual(['local-one', 'added']);
    expect(mcpServers.added).toBeUndefined();
  });
});

describe('input that cannot be written', () => {
  it.each([
    ['a broken file', 'cursor', '{ "mcpServers": {', 'JSON'],
    ['a list', 'cursor', '[1]', 'map'],
    ['a container of another kind', 'cursor', '{ "mcpServers": "none" }', 'not a map'],
    ['a map where a list belongs', 'continue', 'mcpServers: {}', 'not a list'],
    [
      'a server twice in the file',
      'cursor',
      '{"mcpServers": {"added": {"a": 1}, "added": {"b": 2}}}',
      'cannot be edited safely',
    ],
    ['an unknown client', 'nobody', '{}', 'unknown client'],
    [
      'frontmatter',
      'claude-agents',
      '---\nname: x\n---\n',
      'Turnbuckle cannot write servers into Claude Code sub-agents',
    ],
  ])('%s gives a problem and no text', (_, client, text, word) => {
    const result = writeClientConfig(client, text, [added]);
    expect(result.text).toBeUndefined();
    expect(result.problems.join()).toContain(word);
  });

  it('skips servers that the client does not support', () => {
    const { text, skipped } = writeClientConfig('claude-desktop', '{}', [
      { name: 'web', config: { type: 'http', url: 'https://web.example.com/mcp' } },
      { name: 'off', config: { command: 'node', enabled: false } },
      { name: 'hosted', config: { type: 'proxy', baseUrl: 'https://x.example.com', id: 'a' } },
      { name: '__proto__', config: { command: 'node' } },
    ]);
    expect(text).toBe('{}');
    expect(skipped.map(({ name }) => name)).toEqual(['web', 'off', 'hosted', '__proto__']);
  });

  it('reports lost settings, but never a value', () => {
    const config = {
      command: 'node',
      cwd: '/srv',
      maxInFlight: 3,
      reconnect: { tries: 2 },
      env: { A: `pre-hidden\${secret:a}`, B: `$\${literal} hidden` },
      callTimeoutMs: 5,
    };
    const { notes } = writeClientConfig('claude-code', undefined, [{ name: 'x', config }]);
    const joined = notes.map(({ note }) => note).join('\n');
    for (const word of ['cwd', 'maxInFlight', 'reconnect', `\${secret:a}`]) expect(joined).toContain(word);
    expect(joined).toContain('dollar signs');
    expect(joined).not.toContain('hidden');
  });
});
