import { ENV_PREFIX_STYLE, KEYRING_STYLE, SHELL_STYLE } from '../placeholder-styles.js';
import { isEntry, own, without } from '../plain-value.js';

const shared = {
  container: ['mcpServers'],
  style: SHELL_STYLE,
  typeKey: 'type',
  transports: { stdio: 'stdio', http: 'streamable-http', sse: 'sse' },
  switchKey: 'disabled',
};
export const oneMcp = {
  id: '1mcp',
  label: '1MCP',
  format: 'json',
  candidates: (at) => [
    ...at.given('ONE_MCP_CONFIG'),
    ...at.given('ONE_MCP_CONFIG_DIR', 'mcp.json'),
    at.config('1mcp', 'mcp.json'),
    // Chooses among servers and holds none; it is listed so that nobody looks for them there.
    at.project('.1mcprc'),
  ],
  dialect: {
    ...shared,
    keys: { cwd: 'cwd', excludeTools: 'disabledTools' },
    timeouts: [
      { key: 'connectionTimeout', unit: 'ms', to: 'connectTimeoutMs' },
      { key: 'requestTimeout', unit: 'ms', to: 'callTimeoutMs' },
      { key: 'timeout', unit: 'ms', to: 'callTimeoutMs' },
    ],
  },
};
export const mcpProxyGo = {
  id: 'mcpproxy',
  label: 'mcpproxy',
  format: 'json',
  candidates: (at) => [at.home('.mcpproxy', 'mcp_config.json')],
  dialect: {
    ...shared,
    list: true,
    style: KEYRING_STYLE,
    typeKey: 'protocol',
    transports: { stdio: 'stdio', http: 'streamable-http', sse: 'sse' },
    keys: { cwd: 'working_dir' },
    switchKey: 'enabled',
    before(entry, notes) {
      const rest = without(entry, 'quarantined');
      if (entry.quarantined !== true) return rest;
      notes.push('was in quarantine there, so it is switched off here');
      return { ...rest, enabled: false };
    },
  },
};
export const mcpHub = {
  id: 'mcphub',
  label: 'MCPHub',
  format: 'json',
  candidates: (at) => [at.project('mcp_settings.json')],
  dialect: { ...shared, switchKey: 'enabled', before: hubTools },
};
/** Tools are a map by name with a switch each. */
function hubTools(entry, notes) {
  if (!isEntry(entry.tools)) return entry;
  const described = Object.values(entry.tools).some((tool) => own(tool, 'description') !== undefined);
  if (described) notes.push('not carried over: descriptions of tools that were changed there');
  const off = Object.entries(entry.tools).filter(([, tool]) => own(tool, 'enabled') === false);
  return { ...without(entry, 'tools'), excludeTools: off.map(([name]) => name) };
}
export const mcporter = {
  id: 'mcporter',
  label: 'mcporter',
  format: 'json',
  candidates: (at) => [
    ...['mcporter.json', 'mcporter.jsonc'].map((file) => at.project('config', file)),
    ...at.given('MCPORTER_CONFIG'),
    ...['mcporter.json', 'mcporter.jsonc'].map((file) => at.home('.mcporter', file)),
  ],
  dialect: {
    container: ['mcpServers'],
    alsoIn: [['servers'], ['mcp']],
    style: ENV_PREFIX_STYLE,
    typeKey: 'transport',
    transports: { stdio: '', http: '', sse: 'sse' },
    keys: {
      url: 'baseUrl',
      cwd: 'cwd',
      description: 'description',
      includeTools: 'allowedTools',
      excludeTools: 'blockedTools',
    },
    owns: ['bearerToken', 'bearerTokenEnv'],
    finish,
  },
};
function finish(draft, fields) {
  if (draft.type === 'stdio') return;
  const literal = fields.text('bearerToken');
  const variable = fields.text('bearerTokenEnv');
  const token = variable === undefined ? literal : `\${${variable}}`;
  if (token === undefined) return;
  draft.headers = Object.fromEntries([
    ...Object.entries(draft.headers ?? {}),
    ['Authorization', `Bearer ${token}`],
  ]);
}
//# sourceMappingURL=aggregators.js.map
