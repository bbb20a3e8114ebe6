// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are texts here
import { describe, expect, it } from 'vitest';
import { type ImportResult, readClientConfig, readUnknownConfig } from '../../src/imports/index.js';
import { readFixture } from './read-fixture.js';

const SUB_AGENT = `---
name: reviewer
mcpServers:
  - files
  - inline:
      type: stdio
      command: node
---
You read code.
`;

const named = ({ servers }: ImportResult, name: string) => servers.find((server) => server.name === name);

describe('Claude Code', () => {
  it('returns the servers of every folder when no folder is given', () => {
    const result = readClientConfig('claude-code', readFixture('claude-code.json'), { scope: 'user' });
    expect(named(result, 'local-one')).toMatchObject({ scope: 'local', project: '/srv/site' });
    expect(named(result, 'other-one')?.config).toEqual({
      type: 'websocket',
      url: 'wss://other.example.com/mcp',
    });
    expect(named(result, 'files')?.scope).toBe('user');
    expect(named(result, 'off')?.config.enabled).toBeUndefined();
  });

  it('requires approval for every server of a shared file unless the user has decided', () => {
    const { approvals } = readClientConfig('claude-code', readFixture('claude-code.json'), {
      project: '/srv/site',
    });
    const text = readFixture('claude-project.json');
    const states = (result: ImportResult) =>
      result.servers.map(({ name, trust, config }) => [name, trust, config.enabled]);
    expect(
      states(readClientConfig('claude-code', text, { scope: 'project', ...(approvals && { approvals }) })),
    ).toEqual([
      ['shared', 'approved', undefined],
      ['unwanted', 'rejected', false],
      ['unseen', 'ask', undefined],
    ]);
    expect(
      states(readClientConfig('claude-code', text, { scope: 'project' })).map(([, trust]) => trust),
    ).toEqual(['ask', 'ask', 'ask']);
  });

  it('does not let a project approve itself', () => {
    const text =
      '{"enableAllProjectMcpServers": true, "enabledMcpjsonServers": ["x"], "disabledMcpjsonServers": ["y"]}';
    expect(readClientConfig('claude-code', text, { scope: 'project' }).approvals).toEqual({
      all: false,
      enabled: [],
      disabled: ['y'],
      denied: [],
    });
  });

  it('reads settings: approvals, policies, managed servers', () => {
    const result = readClientConfig('claude-code', readFixture('claude-settings.json'));
    expect(named(result, 'company')?.scope).toBe('managed');
    expect(result.approvals).toEqual({
      all: false,
      enabled: ['shared'],
      disabled: ['unwanted'],
      denied: ['banned'],
    });
    const banned = '{"mcpServers": {"banned": {"command": "node"}, "fine": {"command": "node"}}}';
    const { servers, skipped } = readClientConfig('claude-code', banned, {
      ...(result.approvals && { approvals: result.approvals }),
    });
    expect(servers.map(({ name }) => name)).toEqual(['fine']);
    expect(skipped[0]?.reason).toContain('deniedMcpServers');
  });

  it('reads the servers in the frontmatter of a sub-agent', () => {
    const { servers, skipped } = readClientConfig('claude-agents', SUB_AGENT);
    expect(servers.map(({ name }) => name)).toEqual(['inline']);
    expect(skipped).toMatchObject([{ name: 'files' }]);
  });
});

it('imports the inputs of VS Code', () => {
  expect(readClientConfig('vscode', readFixture('vscode.json')).inputs).toEqual([
    { id: 'web-token', description: 'Token for the web server', password: true },
    { id: 'region', default: 'eu', options: ['eu', 'us'] },
  ]);
});

it('distinguishes a server named "servers" from the second version of the opencode format', () => {
  const text = '{"mcp": {"servers": {"type": "local", "command": ["node"]}}}';
  expect(readClientConfig('opencode', text).servers.map(({ name }) => name)).toEqual(['servers']);
});

describe('unusual entries', () => {
  const read = (entry: unknown) => readUnknownConfig(JSON.stringify({ mcpServers: { x: entry } }));

  it.each<[string, unknown, object]>([
    [
      'numbers in variables',
      { command: 'a', env: { PORT: 3000, ON: true, NONE: null } },
      { env: { PORT: '3000', ON: 'true' } },
    ],
    ['a command as a list', { command: ['a', 'b'], args: ['c'] }, { command: 'a', args: ['b', 'c'] }],
    ['a WebSocket URL', { url: 'wss://x.example.com' }, { type: 'websocket' }],
    ['a URL from a variable', { url: '${MCP_URL}' }, { type: 'http', url: '${MCP_URL}' }],
    [
      'another spelling of a transport',
      { type: 'Streamable_HTTP', url: 'https://x.example.com' },
      { type: 'http' },
    ],
  ])('%s', (_, entry, expected) => {
    expect(read(entry).servers[0]?.config).toMatchObject(expected);
  });

  it.each<[string, unknown, string]>([
    ['no command and no URL', { args: ['x'] }, 'neither a command nor a URL'],
    ['an unknown type', { type: 'carrier-pigeon', url: 'https://x.example.com' }, 'carrier-pigeon'],
    ['a URL with another scheme', { url: 'ftp://x.example.com' }, 'http'],
    ['an invalid URL', { url: 'http://' }, 'its URL is invalid'],
    [
      'wrong types',
      { command: 'a', args: 'b', env: [1] },
      '"args" is not a list of strings; "env" is not a map of strings',
    ],
    ['a string', 'node server.js', 'not a map'],
  ])('%s: the entry is skipped with a reason', (_, entry, reason) => {
    expect(read(entry).skipped[0]?.reason).toContain(reason);
  });

  it('never repeats a value that may be secret in notes or reasons', () => {
    const entry = {
      url: 'https://x.example.com',
      auth: { secret: 'hidden' },
      oauth: 'hidden',
      headers: { A: '$${hidden' },
    };
    const result = read(entry);
    expect(JSON.stringify([result.servers[0]?.notes, result.skipped])).not.toContain('hidden');
    expect(result.servers[0]?.extra).toEqual({ auth: { secret: 'hidden' }, oauth: 'hidden' });
  });
});

describe('a file whose client is unknown', () => {
  const server = { command: 'node', args: ['x.js'] };

  it.each<[string, unknown, string[]]>([
    ['a bare map', { x: server, $schema: 'https://…' }, ['x']],
    ['mcpServers', { mcpServers: { x: server } }, ['x']],
    ['servers', { servers: { x: server } }, ['x']],
    ['mcp', { mcp: { x: server } }, ['x']],
    ['mcp.servers', { mcp: { servers: { x: server } } }, ['x']],
    ['context_servers', { context_servers: { x: { command: { path: 'node', args: ['x.js'] } } } }, ['x']],
    ['a list in mcpServers', { mcpServers: [{ name: 'x', ...server }] }, ['x']],
    ['a bare list', [{ name: 'x', ...server }], ['x']],
    ['opencode', { mcp: { x: { type: 'local', command: ['node', 'x.js'] } } }, ['x']],
  ])('%s is recognised', (_, root, names) => {
    const { servers, problems } = readUnknownConfig(JSON.stringify(root));
    expect(problems).toEqual([]);
    expect(servers.map(({ name }) => name)).toEqual(names);
    expect(servers[0]?.config).toEqual({ type: 'stdio', ...server });
  });

  it('is reported when no servers are recognised', () => {
    expect(readUnknownConfig('{"name": "a package"}').problems).toHaveLength(1);
  });
});

describe('JSON5', () => {
  it('is read', () => {
    const text = String.raw`// mine
{ mcpServers: { files: { command: 'C:\\x', args: ['it\'s', "b // no comment", 'https://x"y',], /* no */ } } }`;
    expect(readClientConfig('cursor', text).servers[0]?.config).toEqual({
      type: 'stdio',
      command: 'C:\\x',
      args: ["it's", 'b // no comment', 'https://x"y'],
    });
  });

  it.each(["{ a: 'b }", '{ a: /* b }', '{ a: `b` }', "{ a: '\\x41' }"])(
    'is refused when it is broken: %s',
    (text) => {
      expect(readClientConfig('cursor', text).problems).toHaveLength(1);
    },
  );
});
