/** Codex: tables in TOML; values from the environment have keys of their own instead of placeholders. */
import { createHash } from 'node:crypto';
import type { Client } from '../client.js';
import type { Dialect, ExtrasContext, MutableDraft } from '../dialect.js';
import type { FieldReader } from '../entries/field-reader.js';
import type { ServerDraft } from '../entries/imported-server.js';
import { NO_PLACEHOLDERS } from '../entries/placeholder-styles.js';
import { escapeText, type Segment } from '../entries/placeholders.js';
import { isEntry, omitKeys } from '../formats/plain-value.js';

const WHOLE_PLACEHOLDER = /^\$\{(?:env:)?([A-Za-z_]\w*)\}$/;
const BEARER = /^Bearer \$\{(?:env:)?([A-Za-z_]\w*)\}$/;

const dialect: Dialect = {
  container: ['mcp_servers'],
  style: NO_PLACEHOLDERS,
  transports: { stdio: '', http: '' },
  keys: {
    cwd: 'cwd',
    headers: 'http_headers',
    includeTools: 'enabled_tools',
    excludeTools: 'disabled_tools',
  },
  timeouts: [
    { key: 'startup_timeout_sec', unit: 's', to: 'connectTimeoutMs' },
    { key: 'startup_timeout_ms', unit: 'ms', to: 'connectTimeoutMs' },
    { key: 'tool_timeout_sec', unit: 's', to: 'callTimeoutMs' },
  ],
  oauth: {
    keys: { clientId: 'oauth.client_id', scopes: 'scopes' },
    port: { key: 'oauth.callback_port', uri: callbackUri },
  },
  switchKey: 'enabled',
  ownedKeys: ['env_http_headers', 'bearer_token_env_var', 'env_vars'],
  normalizeEntry: (entry) =>
    entry.bearer_token === undefined
      ? entry
      : 'it has a literal bearer_token, which Codex rejects; set bearer_token_env_var to the name of an environment variable',
  readExtras: readEnvironmentKeys,
  writeExtras: writeEnvironmentKeys,
  // Codex takes a server as on when nothing is said.
  finalizeEntry: (entry, { enabled }) =>
    enabled === false ? { ...entry } : { ...omitKeys(entry, 'enabled') },
};

export const codex: Client = {
  id: 'codex',
  label: 'Codex',
  format: 'toml',
  candidates: (at) => [
    at.project('.codex', 'config.toml'),
    ...at.fromEnvironment('CODEX_HOME', 'config.toml'),
    at.home('.codex', 'config.toml'),
  ],
  dialect,
};

/** Codex tells its servers apart by a part of the path. */
function callbackUri(port: number, serverUrl: string): string {
  const url = URL.canParse(serverUrl) ? new URL(serverUrl) : undefined;
  if (url === undefined) return `http://127.0.0.1:${port}/callback`;
  url.hash = '';
  const id = createHash('sha256').update(url.href).digest().subarray(0, 9).toString('base64url');
  return `http://127.0.0.1:${port}/callback/${id}`;
}

function readEnvironmentKeys(
  draft: MutableDraft,
  fields: FieldReader,
  { notes, print }: ExtrasContext,
): void {
  if (draft.type === 'stdio') {
    const names = inherited(fields.any('env_vars'), notes);
    if (names.length > 0) draft.inheritEnv = names.map(escapeText);
    return;
  }
  const fromEnv = Object.entries(fields.textMap('env_http_headers') ?? {});
  const bearer = fields.text(BEARER_KEY);
  const headers = [
    ...Object.entries(draft.headers ?? {}),
    ...fromEnv.map(([header, name]) => [header, print([{ kind: 'env', name }], 'env_http_headers')] as const),
    ...(bearer === undefined ? [] : [['Authorization', print(bearerOf(bearer), BEARER_KEY)] as const]),
  ];
  draft.headers = Object.fromEntries(headers);
}

const BEARER_KEY = 'bearer_token_env_var';

const bearerOf = (name: string): Segment[] => [
  { kind: 'literal', text: 'Bearer ' },
  { kind: 'env', name },
];

function inherited(listed: unknown, notes: string[]): string[] {
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((item: unknown) => {
    const name = isEntry(item) ? item.name : item;
    if (typeof name !== 'string') return [];
    if (isEntry(item) && item.source === 'remote')
      notes.push(
        `Codex reads the variable ${name} from the remote machine, but Turnbuckle reads it from this machine`,
      );
    return [name];
  });
}

function writeEnvironmentKeys(
  draft: ServerDraft,
  entry: Record<string, unknown>,
  notes: string[],
): ServerDraft {
  if (draft.type === 'stdio') return writeProcessEnvironment(draft, entry, notes);
  const literal: [string, string][] = [];
  const fromEnv: [string, string][] = [];
  for (const [header, value] of Object.entries(draft.headers ?? {})) {
    const bearer = header === 'Authorization' ? BEARER.exec(value)?.[1] : undefined;
    const whole = WHOLE_PLACEHOLDER.exec(value)?.[1];
    if (bearer !== undefined) entry.bearer_token_env_var = bearer;
    else if (whole !== undefined && !isFolder(whole)) fromEnv.push([header, whole]);
    else literal.push([header, value]);
  }
  if (fromEnv.length > 0) entry.env_http_headers = Object.fromEntries(fromEnv);
  const { headers: _, ...rest } = draft;
  return literal.length === 0 ? rest : { ...rest, headers: Object.fromEntries(literal) };
}

function writeProcessEnvironment(
  draft: ServerDraft,
  entry: Record<string, unknown>,
  notes: string[],
): ServerDraft {
  const { env = {}, inheritEnv = [], ...rest } = draft;
  const passed = Object.entries(env).filter(
    ([name, value]) => WHOLE_PLACEHOLDER.exec(value)?.[1] === name && !isFolder(name),
  );
  const names = passed.map(([name]) => name);
  for (const name of names) notes.push(`Codex reads the variable ${name} from its own environment`);
  if (names.length + inheritEnv.length > 0) entry.env_vars = [...new Set([...inheritEnv, ...names])];
  const literal = Object.entries(env).filter(([name]) => !names.includes(name));
  return literal.length === 0 ? rest : { ...rest, env: Object.fromEntries(literal) };
}

const isFolder = (name: string): boolean => name === 'workspaceFolder' || name === 'userHome';
