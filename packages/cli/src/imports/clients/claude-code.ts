/**
 * Claude Code: one file holds the user's servers and those of single folders; shared files of a project need a
 * person's approval, which is kept elsewhere.
 */
import type { Client, LocatedEntry, ReadOptions } from '../client.js';
import type { Dialect } from '../dialect.js';
import type { Approvals } from '../entries/imported-server.js';
import { SHELL_STYLE } from '../entries/placeholder-styles.js';
import { type Entry, isEntry, ownValue, ownValueAt, stringsIn } from '../formats/plain-value.js';
import { entriesOf } from '../locate-entries.js';

const dialect: Dialect = {
  container: ['mcpServers'],
  style: SHELL_STYLE,
  typeKey: 'type',
  transports: { stdio: 'stdio', http: 'http', sse: 'sse' },
  timeouts: [{ key: 'timeout', unit: 'ms', to: 'callTimeoutMs' }],
  // The client keeps a secret in its own store, never in a file.
  oauth: {
    keys: { clientId: 'oauth.clientId', issuer: 'oauth.issuer', scopes: 'oauth.scopes' },
    ownedKeys: ['oauth.authServerMetadataUrl'],
    scopesAs: 'text',
    port: { key: 'oauth.callbackPort', uri: (port) => `http://localhost:${port}/callback` },
  },
  normalizeEntry(entry, notes) {
    const read = readToolPolicies(entry);
    return typeof read === 'string' ? read : withIssuer(read, notes);
  },
  finalizeEntry: withMetadataUrl,
};

const MANAGED = {
  darwin: '/Library/Application Support/ClaudeCode',
  win32: 'C:\\Program Files\\ClaudeCode',
  linux: '/etc/claude-code',
} as const;

export const claudeCode: Client = {
  id: 'claude-code',
  label: 'Claude Code',
  format: 'json',
  candidates: (at) => [
    at.managed(MANAGED, 'managed-mcp.json'),
    at.managed(MANAGED, 'managed-settings.json'),
    { ...at.project('.claude', 'settings.local.json'), scope: 'local' },
    at.project('.claude', 'settings.json'),
    ...at.fromEnvironment('CLAUDE_CONFIG_DIR', '.claude.json'),
    at.home('.claude.json'),
    at.home('.claude', 'settings.json'),
    at.project('.mcp.json'),
  ],
  dialect,
  locate,
  approvals: approvalsIn,
  projectContainer: (project) => ['projects', project, 'mcpServers'],
};

/** Sub-agents carry servers in the head of their file: a name refers to one, a map is one. */
export const claudeAgents: Client = {
  id: 'claude-agents',
  label: 'Claude Code sub-agents',
  format: 'frontmatter',
  candidates: (at) => [
    { ...at.project('.claude', 'agents'), each: { ending: '.md' } },
    { ...at.home('.claude', 'agents'), each: { ending: '.md' } },
  ],
  dialect,
  locate: (root) => {
    const servers = ownValue(root, 'mcpServers');
    if (!Array.isArray(servers)) return entriesOf(servers, 'mcpServers');
    return servers.flatMap((item: unknown) =>
      typeof item === 'string'
        ? [{ name: item, value: item, refused: 'it only refers to a server that is defined elsewhere' }]
        : entriesOf(item, 'mcpServers'),
    );
  },
};

function locate(root: unknown, options: ReadOptions): LocatedEntry[] {
  const projects = ownValue(root, 'projects');
  const folders = Object.entries(isEntry(projects) ? projects : {});
  const wanted = folders.filter(([path]) => options.project === undefined || options.project === path);
  // The switches of a folder concern servers of every scope, but only in that folder.
  const off = new Set(
    options.project === undefined
      ? []
      : stringsIn(ownValueAt(projects, [options.project, 'disabledMcpServers'])),
  );
  const local = wanted.flatMap(([project, settings]) => {
    const disabled = new Set(stringsIn(ownValue(settings, 'disabledMcpServers')));
    return entriesOf(ownValue(settings, 'mcpServers'), `projects.${project}.mcpServers`).map((entry) => ({
      ...entry,
      scope: 'local' as const,
      project,
      ...(disabled.has(entry.name) ? { offBy: 'disabledMcpServers' } : {}),
    }));
  });
  const managed = entriesOf(ownValue(root, 'managedMcpServers'), 'managedMcpServers').map((entry) => ({
    ...entry,
    scope: 'managed' as const,
  }));
  const listed = entriesOf(ownValue(root, 'mcpServers'), 'mcpServers').map((entry) => ({
    ...entry,
    ...(off.has(entry.name) ? { offBy: 'disabledMcpServers' } : {}),
    ...(options.scope === 'project' ? approval(entry.name, options.approvals) : {}),
  }));
  return [...local, ...listed, ...managed].map((entry) => ({
    ...entry,
    ...policy(entry, options.approvals),
  }));
}

function approval(name: string, approvals: Approvals | undefined): Pick<LocatedEntry, 'trust' | 'offBy'> {
  if (approvals?.disabled.includes(name)) return { trust: 'rejected', offBy: 'disabledMcpjsonServers' };
  return { trust: approvals?.all || approvals?.enabled.includes(name) ? 'approved' : 'ask' };
}

function policy(
  { name, scope }: LocatedEntry,
  approvals: Approvals | undefined,
): Pick<LocatedEntry, 'refused'> {
  if (approvals?.denied.includes(name)) return { refused: 'it is listed in deniedMcpServers' };
  if (scope === 'managed' || approvals?.allowed === undefined || approvals.allowed.includes(name)) return {};
  return { refused: 'it is not listed in allowedMcpServers' };
}

function approvalsIn(root: unknown, project: string | undefined): Approvals | undefined {
  const places = [root, ...(project === undefined ? [] : [ownValueAt(root, ['projects', project])])];
  const all = (key: string): string[] => places.flatMap((place) => stringsIn(ownValue(place, key)));
  const allowed = ownValue(root, 'allowedMcpServers');
  const result: Approvals = {
    all: places.some((place) => ownValue(place, 'enableAllProjectMcpServers') === true),
    enabled: all('enabledMcpjsonServers'),
    disabled: all('disabledMcpjsonServers'),
    denied: namesIn(ownValue(root, 'deniedMcpServers')),
    ...(Array.isArray(allowed) ? { allowed: namesIn(allowed) } : {}),
  };
  const empty = !result.all && result.allowed === undefined;
  return empty && result.enabled.length + result.disabled.length + result.denied.length === 0
    ? undefined
    : result;
}

/** Rules by command or address are not names and stay with the client. */
function namesIn(rules: unknown): string[] {
  return Array.isArray(rules)
    ? rules.map((rule) => ownValue(rule, 'serverName')).filter((name) => typeof name === 'string')
    : [];
}

const METADATA_PATH = '/.well-known/oauth-authorization-server';
const OPENID_PATH = '/.well-known/openid-configuration';

/** The address of an issuer's metadata begins or ends with a fixed path. */
function withIssuer(entry: Entry, notes: string[]): Entry {
  const { authServerMetadataUrl: address, ...oauth } = isEntry(entry.oauth) ? entry.oauth : {};
  if (typeof address !== 'string' || !URL.canParse(address) || address.includes('${')) return entry;
  const { origin, pathname, search } = new URL(address);
  const isOpenId = pathname.endsWith(OPENID_PATH);
  const isOther = pathname !== METADATA_PATH && !pathname.startsWith(`${METADATA_PATH}/`);
  if (search !== '' || (isOther && !isOpenId)) return entry;
  if (isOpenId)
    notes.push(
      'oauth.authServerMetadataUrl is imported as the issuer; Turnbuckle discovers the metadata URL from it',
    );
  const path = isOpenId ? pathname.slice(0, -OPENID_PATH.length) : pathname.slice(METADATA_PATH.length);
  return { ...entry, oauth: { ...oauth, issuer: `${origin}${path}` } };
}

function withMetadataUrl(entry: Entry): Record<string, unknown> {
  const { issuer, ...oauth } = isEntry(entry.oauth) ? entry.oauth : {};
  if (typeof issuer !== 'string' || !URL.canParse(issuer)) return { ...entry };
  const { origin, pathname } = new URL(issuer);
  const path = pathname === '/' ? '' : pathname;
  return { ...entry, oauth: { ...oauth, authServerMetadataUrl: `${origin}${METADATA_PATH}${path}` } };
}

/** The agent SDK gives each tool a policy; a tool that is always denied is one that is left out. */
function readToolPolicies(entry: Entry): Entry | string {
  if (entry.type === 'sdk') return 'it exists only inside the program that created it';
  if (!Array.isArray(entry.tools)) return entry;
  const denied = entry.tools
    .filter((tool) => ownValue(tool, 'permission_policy') === 'always_deny')
    .map((tool) => ownValue(tool, 'name'))
    .filter((name) => typeof name === 'string');
  return denied.length === 0 ? entry : { ...entry, excludeTools: denied };
}
