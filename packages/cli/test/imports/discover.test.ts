import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPathBuilder, type Machine } from '../../src/imports/client-paths.js';
import { CLIENTS, discover, mergeImports, readDiscovered } from '../../src/imports/index.js';
import { readFixture } from './read-fixture.js';

let root: string;
let place: Machine;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'turnbuckle-discover-'));
  place = { platform: 'linux', home: join(root, 'home'), cwd: join(root, 'site'), env: {} };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string): string {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

/** Ignores files of the machine outside the test folder. */
const found = (extra: Partial<Machine> = {}) =>
  discover({ ...place, ...extra }).filter(({ path }) => path.startsWith(root));

describe('discover', () => {
  it('finds files of every scope, and lists a shared file once', () => {
    put('site/.mcp.json', '{}');
    put('home/.claude.json', '{}');
    put('home/.config/goose/config.yaml', '');
    put('home/.config/Code/User/profiles/abc/mcp.json', '{}');
    put('site/.continue/mcpServers/one.yaml', '');
    put('site/.claude/settings.local.json', '{}');
    put('home/.config/claude/claude_desktop_config.json', '{}');
    expect(
      found().map(({ client, scope, path, alsoFor }) => [client, scope, path.slice(root.length), ...alsoFor]),
    ).toEqual([
      ['claude-code', 'local', '/site/.claude/settings.local.json'],
      ['claude-code', 'user', '/home/.claude.json'],
      ['claude-code', 'project', '/site/.mcp.json', 'vscode', 'copilot'],
      ['claude-desktop', 'user', '/home/.config/claude/claude_desktop_config.json'],
      ['vscode', 'user', '/home/.config/Code/User/profiles/abc/mcp.json'],
      ['goose', 'user', '/home/.config/goose/config.yaml'],
      ['continue', 'project', '/site/.continue/mcpServers/one.yaml'],
    ]);
  });

  it('uses the environment variables that set a file location', () => {
    const files = [
      'codex/config.toml',
      'claude/.claude.json',
      'copilot/mcp-config.json',
      'oc.json',
      'ocd/opencode.jsonc',
      'one.json',
      'onedir/mcp.json',
      'xdg/zed/settings.json',
    ];
    for (const file of files) put(file, '');
    const at = (path: string): string => join(root, path);
    const env = {
      CODEX_HOME: at('codex'),
      CLAUDE_CONFIG_DIR: at('claude'),
      COPILOT_HOME: at('copilot'),
      OPENCODE_CONFIG: at('oc.json'),
      OPENCODE_CONFIG_DIR: at('ocd'),
      ONE_MCP_CONFIG: at('one.json'),
      ONE_MCP_CONFIG_DIR: at('onedir'),
      XDG_CONFIG_HOME: at('xdg'),
    };
    expect(
      found({ env })
        .map(({ path }) => path.slice(root.length + 1))
        .sort(),
    ).toEqual([...files].sort());
  });

  it('rejects a link that leaves its folder and a file that is too large, and ignores a directory', () => {
    const outside = put('secret.json', '{"mcpServers": {"stolen": {"command": "node"}}}');
    put('site/keep', '');
    symlinkSync(outside, join(root, 'site/.mcp.json'));
    put('home/dotfiles/cursor.json', '{"mcpServers": {}}');
    mkdirSync(join(root, 'home/.cursor'));
    symlinkSync(join(root, 'home/dotfiles/cursor.json'), join(root, 'home/.cursor/mcp.json'));
    mkdirSync(join(root, 'home/.kiro/settings/mcp.json'), { recursive: true });
    truncateSync(put('home/.claude.json', '{}'), 6 * 1024 * 1024);
    const files = found();
    expect(files.map(({ client, problem }) => [client, problem?.split(' ', 4).join(' ')])).toEqual([
      ['claude-code', 'the file is larger'],
      ['claude-code', 'the file is outside'],
      ['cursor', undefined],
    ]);
    expect(files.map((file) => readDiscovered(file).servers)).toEqual([[], [], []]);
    expect(
      readDiscovered({ client: 'cursor', scope: 'user', path: join(root, 'gone'), alsoFor: [] }).problems,
    ).toHaveLength(1);
  });

  it('reads through another file system', () => {
    const files = {
      size: (path: string) => (path === 'C:\\me\\AppData\\Roaming\\Zed\\settings.json' ? 1 : undefined),
      real: (path: string) => path,
      names: () => [],
    };
    const windows: Machine = { platform: 'win32', home: 'C:\\me', cwd: 'C:\\site', env: {} };
    expect(discover({ ...windows, files }).map(({ client }) => client)).toEqual(['zed']);
  });
});

describe('paths', () => {
  const paths = (id: string, platform: NodeJS.Platform): string[] => {
    const home = platform === 'win32' ? 'C:\\me' : '/me';
    const client = CLIENTS.find((each) => each.id === id);
    const at = createPathBuilder({
      platform,
      home,
      cwd: platform === 'win32' ? 'C:\\site' : '/site',
      env: {},
    });
    return (client?.candidates(at) ?? []).map(({ path }) => path);
  };

  it.each<[string, NodeJS.Platform, string]>([
    ['claude-desktop', 'darwin', '/me/Library/Application Support/Claude/claude_desktop_config.json'],
    ['claude-desktop', 'linux', '/me/.config/Claude/claude_desktop_config.json'],
    ['claude-desktop', 'linux', '/me/.config/claude/claude_desktop_config.json'],
    ['claude-desktop', 'win32', 'C:\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json'],
    ['claude-code', 'linux', '/etc/claude-code/managed-mcp.json'],
    ['cursor', 'darwin', '/me/.cursor/mcp.json'],
    ['vscode', 'darwin', '/me/Library/Application Support/Code/User/mcp.json'],
    ['vscode', 'win32', 'C:\\me\\AppData\\Roaming\\Code - Insiders\\User\\mcp.json'],
    ['vscode', 'linux', '/me/.vscode-server/data/User/mcp.json'],
    ['goose', 'win32', 'C:\\me\\AppData\\Roaming\\Block\\goose\\config\\config.yaml'],
    ['zed', 'darwin', '/me/.config/zed/settings.json'],
    ['windsurf', 'linux', '/me/.codeium/windsurf-next/mcp_config.json'],
    ['gemini', 'linux', '/etc/gemini-cli/settings.json'],
    ['antigravity', 'linux', '/me/.gemini/antigravity/mcp_config.json'],
    [
      'cline',
      'linux',
      '/me/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    ],
    ['trae', 'darwin', '/me/Library/Application Support/Trae/User/mcp.json'],
    ['lm-studio', 'linux', '/me/.cache/lm-studio/mcp.json'],
    ['amp', 'linux', '/me/.config/amp/settings.json'],
    ['crush', 'linux', '/site/.crush.json'],
    ['factory', 'linux', '/me/.factory/mcp.json'],
    ['kimi', 'linux', '/me/.kimi/mcp.json'],
    ['qoder', 'linux', '/me/.qoder/mcp.json'],
    ['vibe', 'linux', '/me/.vibe/config.toml'],
    ['kiro', 'win32', 'C:\\site\\.kiro\\settings\\mcp.json'],
    ['continue', 'linux', '/me/.continue/config.yaml'],
    ['1mcp', 'linux', '/site/.1mcprc'],
    ['mcpproxy', 'linux', '/me/.mcpproxy/mcp_config.json'],
    ['mcphub', 'linux', '/site/mcp_settings.json'],
    ['mcporter', 'linux', '/site/config/mcporter.json'],
    ['mcporter', 'linux', '/me/.mcporter/mcporter.jsonc'],
  ])('%s on %s', (id, platform, path) => {
    expect(paths(id, platform)).toContain(path);
  });
});

it('merges the found servers: the first wins, and the others are listed as shadowed', () => {
  put('home/.cursor/mcp.json', readFixture('cursor.jsonc'));
  put('home/.kiro/settings/mcp.json', readFixture('kiro.json'));
  put('home/.kimi/mcp.json', readFixture('kimi.json'));
  const sources = found().map((file) => ({
    client: file.client,
    path: file.path,
    servers: readDiscovered(file).servers,
  }));
  const merged = mergeImports(sources);
  const files = merged.find(({ name }) => name === 'files');
  expect(files?.from.client).toBe('cursor');
  expect(files?.shadowed.map(({ client, same }) => [client, same])).toEqual([
    ['kiro', false],
    ['kimi', true],
  ]);
});
