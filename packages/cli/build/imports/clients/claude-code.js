import { entriesOf } from '../locate.js';
import { SHELL_STYLE } from '../placeholder-styles.js';
import { isEntry, own, ownAt, textsIn } from '../plain-value.js';

const dialect = {
  container: ['mcpServers'],
  style: SHELL_STYLE,
  typeKey: 'type',
  transports: { stdio: 'stdio', http: 'http', sse: 'sse' },
  timeouts: [{ key: 'timeout', unit: 'ms', to: 'callTimeoutMs' }],
  before: readToolPolicies,
};
const MANAGED = {
  darwin: '/Library/Application Support/ClaudeCode',
  win32: 'C:\\Program Files\\ClaudeCode',
  linux: '/etc/claude-code',
};
export const claudeCode = {
  id: 'claude-code',
  label: 'Claude Code',
  format: 'json',
  candidates: (at) => [
    at.managed(MANAGED, 'managed-mcp.json'),
    at.managed(MANAGED, 'managed-settings.json'),
    { ...at.project('.claude', 'settings.local.json'), scope: 'local' },
    at.project('.claude', 'settings.json'),
    ...at.given('CLAUDE_CONFIG_DIR', '.claude.json'),
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
export const claudeAgents = {
  id: 'claude-agents',
  label: 'sub-agents of Claude Code',
  format: 'frontmatter',
  candidates: (at) => [
    { ...at.project('.claude', 'agents'), each: { ending: '.md' } },
    { ...at.home('.claude', 'agents'), each: { ending: '.md' } },
  ],
  dialect,
  locate: (root) => {
    const servers = own(root, 'mcpServers');
    if (!Array.isArray(servers)) return entriesOf(servers, 'mcpServers');
    return servers.flatMap((item) =>
      typeof item === 'string'
        ? [{ name: item, value: item, refused: 'only refers to a server that is described elsewhere' }]
        : entriesOf(item, 'mcpServers'),
    );
  },
};
function locate(root, options) {
  const projects = own(root, 'projects');
  const folders = Object.entries(isEntry(projects) ? projects : {});
  const wanted = folders.filter(([path]) => options.project === undefined || options.project === path);
  // The switches of a folder concern servers of every scope, but only in that folder.
  const off = new Set(
    options.project === undefined ? [] : textsIn(ownAt(projects, [options.project, 'disabledMcpServers'])),
  );
  const local = wanted.flatMap(([project, settings]) => {
    const disabled = new Set(textsIn(own(settings, 'disabledMcpServers')));
    return entriesOf(own(settings, 'mcpServers'), `projects.${project}.mcpServers`).map((entry) => ({
      ...entry,
      scope: 'local',
      project,
      ...(disabled.has(entry.name) ? { offBy: 'disabledMcpServers' } : {}),
    }));
  });
  const managed = entriesOf(own(root, 'managedMcpServers'), 'managedMcpServers').map((entry) => ({
    ...entry,
    scope: 'managed',
  }));
  const listed = entriesOf(own(root, 'mcpServers'), 'mcpServers').map((entry) => ({
    ...entry,
    ...(off.has(entry.name) ? { offBy: 'disabledMcpServers' } : {}),
    ...(options.scope === 'project' ? approval(entry.name, options.approvals) : {}),
  }));
  return [...local, ...listed, ...managed].map((entry) => ({
    ...entry,
    ...policy(entry, options.approvals),
  }));
}
function approval(name, approvals) {
  if (approvals?.disabled.includes(name)) return { trust: 'rejected', offBy: 'disabledMcpjsonServers' };
  return { trust: approvals?.all || approvals?.enabled.includes(name) ? 'approved' : 'ask' };
}
function policy({ name, scope }, approvals) {
  if (approvals?.denied.includes(name)) return { refused: 'is on the list deniedMcpServers' };
  if (scope === 'managed' || approvals?.allowed === undefined || approvals.allowed.includes(name)) return {};
  return { refused: 'is not on the list allowedMcpServers' };
}
function approvalsIn(root, project) {
  const places = [root, ...(project === undefined ? [] : [ownAt(root, ['projects', project])])];
  const all = (key) => places.flatMap((place) => textsIn(own(place, key)));
  const allowed = own(root, 'allowedMcpServers');
  const result = {
    all: places.some((place) => own(place, 'enableAllProjectMcpServers') === true),
    enabled: all('enabledMcpjsonServers'),
    disabled: all('disabledMcpjsonServers'),
    denied: namesIn(own(root, 'deniedMcpServers')),
    ...(Array.isArray(allowed) ? { allowed: namesIn(allowed) } : {}),
  };
  const empty = !result.all && result.allowed === undefined;
  return empty && result.enabled.length + result.disabled.length + result.denied.length === 0
    ? undefined
    : result;
}
/** Rules by command or address are not names and stay with the client. */
function namesIn(rules) {
  return Array.isArray(rules)
    ? rules.map((rule) => own(rule, 'serverName')).filter((name) => typeof name === 'string')
    : [];
}
/** The agent SDK gives each tool a policy; a tool that is always denied is one that is left out. */
function readToolPolicies(entry) {
  if (entry.type === 'sdk') return 'lives in the program that made it';
  if (!Array.isArray(entry.tools)) return entry;
  const denied = entry.tools
    .filter((tool) => own(tool, 'permission_policy') === 'always_deny')
    .map((tool) => own(tool, 'name'))
    .filter((name) => typeof name === 'string');
  return denied.length === 0 ? entry : { ...entry, excludeTools: denied };
}
//# sourceMappingURL=claude-code.js.map
