/** opencode: commands are lists; version 2 moved the servers one level down and turned the switch around. */
import type { Client, LocatedEntry } from '../client.js';
import type { Dialect } from '../dialect.js';
import { BRACE_STYLE } from '../entries/placeholder-styles.js';
import { type Entry, isEntry, omitKeys, ownValue, ownValueAt } from '../formats/plain-value.js';
import { locateEntries } from '../locate-entries.js';

const callbackUri = (port: number): string => `http://127.0.0.1:${port}/mcp/oauth/callback`;

const v1Dialect: Dialect = {
  container: ['mcp'],
  style: BRACE_STYLE,
  typeKey: 'type',
  transports: { stdio: 'local', http: 'remote' },
  keys: { env: 'environment', cwd: 'cwd' },
  timeouts: [{ key: 'timeout', unit: 'ms', to: 'connectTimeoutMs' }],
  oauth: {
    keys: {
      clientId: 'oauth.clientId',
      clientSecret: 'oauth.clientSecret',
      redirectUri: 'oauth.redirectUri',
      scopes: 'oauth.scope',
    },
    scopesAs: 'text',
    port: { key: 'oauth.callbackPort', uri: callbackUri },
    off: { key: 'oauth', value: false },
  },
  switchKey: 'enabled',
  finalizeEntry: (entry) => joinCommand(entry),
};

const v2Dialect: Dialect = {
  ...v1Dialect,
  container: ['mcp', 'servers'],
  timeouts: [
    { key: 'timeout.startup', unit: 'ms', to: 'connectTimeoutMs' },
    { key: 'timeout.request', unit: 'ms', to: 'callTimeoutMs' },
  ],
  oauth: {
    keys: {
      clientId: 'oauth.client_id',
      clientSecret: 'oauth.client_secret',
      redirectUri: 'oauth.redirect_uri',
      scopes: 'oauth.scope',
    },
    scopesAs: 'text',
    port: { key: 'oauth.callback_port', uri: callbackUri },
    off: { key: 'oauth', value: false },
  },
  switchKey: 'disabled',
  ownedKeys: ['timeout'],
  normalizeEntry(entry) {
    if (!isEntry(entry.timeout)) return entry;
    const parts = Object.entries(entry.timeout).map(([key, value]) => [`timeout.${key}`, value]);
    return { ...omitKeys(entry, 'timeout'), ...Object.fromEntries(parts) };
  },
  finalizeEntry(entry) {
    const { 'timeout.startup': startup, 'timeout.request': request, ...rest } = joinCommand(entry);
    const timeout = {
      ...(startup === undefined ? {} : { startup }),
      ...(request === undefined ? {} : { request }),
    };
    return Object.keys(timeout).length === 0 ? rest : { ...rest, timeout };
  },
};

export const opencode: Client = {
  id: 'opencode',
  label: 'opencode',
  format: 'json',
  candidates: (at) => {
    const files = ['opencode.json', 'opencode.jsonc'];
    return [
      ...files.map((file) => at.project(file)),
      ...files.map((file) => at.project('.opencode', file)),
      ...at.fromEnvironment('OPENCODE_CONFIG'),
      ...files.flatMap((file) => at.fromEnvironment('OPENCODE_CONFIG_DIR', file)),
      ...files.map((file) => at.config('opencode', file)),
    ];
  },
  dialect: v1Dialect,
  dialectOf,
  locate: (root) =>
    locateEntries(root, dialectOf(root)).map((entry) => ({ ...entry, ...toolSwitches(root, entry.name) })),
};

/** A server could be called "servers" in version 1, so its look counts too. */
function dialectOf(root: unknown): Dialect {
  const servers = ownValueAt(root, ['mcp', 'servers']);
  const isServer =
    typeof ownValue(servers, 'type') === 'string' || ownValue(servers, 'enabled') !== undefined;
  return isEntry(servers) && !isServer ? v2Dialect : v1Dialect;
}

/** `tools` at the top of the file switches tools by `server_tool`, with `*` for any text. */
function toolSwitches(root: unknown, server: string): Pick<LocatedEntry, 'excludeTools' | 'notes'> {
  const prefix = `${server}_`;
  const switches = ownValue(root, 'tools');
  const all = Object.entries(isEntry(switches) ? switches : {});
  const exact = all.filter(([name, on]) => on === false && name.startsWith(prefix) && !/[*?]/.test(name));
  const patterns = all.flatMap(([name, on]) => {
    const fixed = name.split(/[*?]/)[0] ?? '';
    const concerned = fixed !== name && (fixed.startsWith(prefix) || prefix.startsWith(fixed));
    return concerned ? [`${name}: ${on === true}`] : [];
  });
  return {
    excludeTools: exact.map(([name]) => name.slice(prefix.length)),
    notes:
      patterns.length === 0
        ? []
        : [`not imported: patterns that enable or disable tools (${patterns.join(', ')})`],
  };
}

function joinCommand({ command, args, ...rest }: Entry): Record<string, unknown> {
  return command === undefined ? rest : { command: [command, ...(Array.isArray(args) ? args : [])], ...rest };
}
