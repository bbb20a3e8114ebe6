/** Files of an unnamed client: the container key or the shape of the entries determines the dialect. */
import type { Client, LocatedEntry } from './client.js';
import { codex } from './clients/codex.js';
import { editorSandbox } from './clients/editor-sandbox.js';
import { goose } from './clients/goose.js';
import { opencode } from './clients/opencode.js';
import { vibe } from './clients/vibe.js';
import { readInputs, withSandboxRules } from './clients/vscode.js';
import { zed } from './clients/zed.js';
import type { Dialect } from './dialect.js';
import { KEY_VARIANTS } from './dialect.js';
import { FILE_STYLE } from './entries/placeholder-styles.js';
import { isEntry, ownValue, ownValueAt } from './formats/plain-value.js';
import { entriesOf, locateEntries } from './locate-entries.js';

const dialect: Dialect = {
  container: ['mcpServers'],
  style: FILE_STYLE,
  typeKey: 'type',
  transports: { stdio: 'stdio', http: 'http', sse: 'sse', websocket: 'websocket' },
  keys: {
    cwd: 'cwd',
    description: 'description',
    includeTools: 'includeTools',
    excludeTools: 'excludeTools',
  },
  oauth: {
    keys: {
      clientId: ['oauth.clientId', 'oauth.client_id', 'auth.clientId', 'auth.CLIENT_ID', 'auth.client_id'],
      clientSecret: [
        'oauth.clientSecret',
        'oauth.client_secret',
        'auth.clientSecret',
        'auth.CLIENT_SECRET',
        'auth.client_secret',
      ],
      redirectUri: ['oauth.redirectUri', 'oauth.redirect_uri', 'auth.redirectUri'],
      authUrl: ['oauth.authorizationUrl', 'auth.authUrl'],
      tokenUrl: ['oauth.tokenUrl', 'auth.tokenUrl'],
      issuer: ['oauth.issuer', 'auth.issuer'],
      scopes: ['oauth.scopes', 'oauth.scope', 'auth.scopes'],
    },
    on: { key: 'auth.type', value: 'oauth' },
  },
  sandbox: editorSandbox,
  switchKey: 'disabled',
};

/** Reads what nobody else claims; writes the form that most clients understand. */
export const generic: Client = {
  id: 'generic',
  label: 'the file',
  format: 'json',
  candidates: () => [],
  dialect,
  inputs: readInputs,
};

/** Containers that are no map of one known client. */
const CONTAINERS = [
  ['mcpServers'],
  ['mcp', 'servers'],
  ['mcp', 'mcpServers'],
  ['servers'],
  ['amp.mcpServers'],
  ['managedMcpServers'],
] as const;

export interface DetectedDialect {
  readonly dialect: Dialect;
  readonly entries: readonly LocatedEntry[];
}

/** Undefined when nothing in the document looks like servers. */
export function detectDialect(root: unknown): DetectedDialect | undefined {
  const special = specialDialect(root);
  if (special !== undefined) return { dialect: special, entries: locateEntries(root, special) };
  for (const path of CONTAINERS) {
    const found = ownValueAt(root, path);
    if (isEntry(found) || Array.isArray(found))
      return { dialect, entries: withSandboxRules(root, entriesOf(found, path.join('.'))) };
  }
  const mcp = ownValue(root, 'mcp');
  if (isEntry(mcp)) return { dialect, entries: entriesOf(mcp, 'mcp') };
  if (Array.isArray(root) && root.some(looksLikeServer))
    return { dialect, entries: entriesOf(root, 'servers') };
  if (!isEntry(root) || !Object.values(root).some(looksLikeServer)) return undefined;
  // Settings beside the servers of a bare map are not servers that failed.
  return { dialect, entries: entriesOf(root, 'servers').filter(({ value }) => isEntry(value)) };
}

function specialDialect(root: unknown): Dialect | undefined {
  if (ownValue(root, 'context_servers') !== undefined) return zed.dialect;
  if (isEntry(ownValue(root, 'mcp_servers'))) return codex.dialect;
  if (Array.isArray(ownValue(root, 'mcp_servers'))) return vibe.dialect;
  if (ownValue(root, 'extensions') !== undefined) return goose.dialect;
  const mcp = ownValue(root, 'mcp');
  const entries = isEntry(mcp) ? Object.values(ownValue(mcp, 'servers') ?? mcp) : [];
  const words = entries.map((entry) => ownValue(entry, 'type'));
  return words.includes('local') || words.includes('remote') ? opencode.dialectOf?.(root) : undefined;
}

function looksLikeServer(value: unknown): boolean {
  return [...KEY_VARIANTS.command, ...KEY_VARIANTS.url].some((key) => {
    const item = ownValue(value, key);
    return typeof item === 'string' || Array.isArray(item);
  });
}
