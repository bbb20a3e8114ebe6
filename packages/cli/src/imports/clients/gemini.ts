/** Gemini CLI and Antigravity: addresses are named after their transport, switches are lists of names. */
import type { Client, LocatedEntry, SettingsContext } from '../client.js';
import type { Dialect } from '../dialect.js';
import { DOLLAR_STYLE } from '../entries/placeholder-styles.js';
import type { FileEdit } from '../formats/file-edit.js';
import { type Entry, omitKeys, ownValue, ownValueAt, stringsIn } from '../formats/plain-value.js';
import { locateEntries } from '../locate-entries.js';

const dialect: Dialect = {
  container: ['mcpServers'],
  style: DOLLAR_STYLE,
  transports: { stdio: '', http: '', sse: '' },
  keys: {
    cwd: 'cwd',
    description: 'description',
    includeTools: 'includeTools',
    excludeTools: 'excludeTools',
  },
  timeouts: [{ key: 'timeout', unit: 'ms', to: 'callTimeoutMs' }],
  oauth: {
    keys: {
      clientId: 'oauth.clientId',
      clientSecret: 'oauth.clientSecret',
      authUrl: 'oauth.authorizationUrl',
      tokenUrl: 'oauth.tokenUrl',
      redirectUri: 'oauth.redirectUri',
      scopes: 'oauth.scopes',
    },
    on: { key: 'oauth.enabled', value: true },
  },
  normalizeEntry: (entry, notes) =>
    // What the client does when nothing is said.
    typedByAddress(
      entry.authProviderType === 'dynamic_discovery' ? omitKeys(entry, 'authProviderType') : entry,
      notes,
    ),
  finalizeEntry({ url, ...rest }, { type }) {
    if (url === undefined) return rest;
    return type === 'http' ? { httpUrl: url, ...rest } : { url, ...rest };
  },
};

const SYSTEM = {
  darwin: '/Library/Application Support/GeminiCli',
  win32: 'C:\\ProgramData\\gemini-cli',
  linux: '/etc/gemini-cli',
} as const;

export const gemini: Client = {
  id: 'gemini',
  label: 'Gemini CLI',
  format: 'json',
  candidates: (at) => [
    at.managed(SYSTEM, 'settings.json'),
    at.project('.gemini', 'settings.json'),
    at.home('.gemini', 'settings.json'),
  ],
  dialect,
  locate: (root) =>
    locateEntries(root, dialect).map((entry) => ({ ...entry, ...switchedOff(root, entry.name) })),
  settings: switchLists,
  hasSwitchesInSettings: true,
};

export const antigravity: Client = {
  id: 'antigravity',
  label: 'Antigravity',
  format: 'json',
  candidates: (at) => [at.home('.gemini', 'antigravity', 'mcp_config.json')],
  dialect: {
    container: ['mcpServers'],
    style: DOLLAR_STYLE,
    transports: { stdio: '', http: '' },
    keys: { cwd: 'cwd', url: 'serverUrl', excludeTools: 'disabledTools' },
    timeouts: [{ key: 'timeout', unit: 'ms', to: 'callTimeoutMs' }],
    switchKey: 'disabled',
  },
};

/** `httpUrl` is Streamable HTTP and wins; a `url` without a type is SSE. */
function typedByAddress(entry: Entry, notes: string[]): Entry {
  if (entry.httpUrl !== undefined && entry.command === undefined) {
    if (entry.url !== undefined) notes.push('not imported: url, because httpUrl is set too');
    return { ...omitKeys(entry, 'url'), type: 'http' };
  }
  return entry.url !== undefined && entry.type === undefined && entry.command === undefined
    ? { ...entry, type: 'sse' }
    : entry;
}

function switchedOff(root: unknown, name: string): Pick<LocatedEntry, 'offBy'> {
  const excluded = [
    ...stringsIn(ownValueAt(root, ['mcp', 'excluded'])),
    ...stringsIn(ownValue(root, 'excludeMCPServers')),
  ];
  if (excluded.includes(name)) return { offBy: 'mcp.excluded' };
  const allowed = ownValueAt(root, ['mcp', 'allowed']) ?? ownValue(root, 'allowMCPServers');
  return Array.isArray(allowed) && !allowed.includes(name)
    ? { offBy: 'mcp.allowed, which does not list this server' }
    : {};
}

function switchLists(root: unknown, { servers }: SettingsContext): FileEdit['settings'] {
  const on = servers.filter(({ enabled }) => enabled).map(({ name }) => name);
  const off = servers.filter(({ enabled }) => !enabled).map(({ name }) => name);
  const before = stringsIn(ownValueAt(root, ['mcp', 'excluded']));
  const excluded = [...before.filter((name) => !on.includes(name) && !off.includes(name)), ...off];
  const allowed = ownValueAt(root, ['mcp', 'allowed']);
  const missing = Array.isArray(allowed) ? on.filter((name) => !allowed.includes(name)) : [];
  return [
    ...(excluded.join('\0') === before.join('\0') ? [] : [{ path: ['mcp', 'excluded'], value: excluded }]),
    ...(missing.length === 0
      ? []
      : [{ path: ['mcp', 'allowed'], value: [...stringsIn(allowed), ...missing] }]),
  ];
}
