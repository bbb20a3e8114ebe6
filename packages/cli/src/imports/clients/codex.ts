/** Codex: tables in TOML; values from the environment have keys of their own instead of placeholders. */
import type { Client } from '../client.js';
import type { Dialect, LooseDraft } from '../dialect.js';
import type { Fields } from '../fields.js';
import type { ServerDraft } from '../imported-server.js';
import { NO_PLACEHOLDERS } from '../placeholder-styles.js';
import { isEntry, without } from '../plain-value.js';

const WHOLE = /^\$\{(?:env:)?([A-Za-z_]\w*)\}$/;
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
  switchKey: 'enabled',
  owns: ['env_http_headers', 'bearer_token_env_var', 'env_vars'],
  before: (entry) =>
    entry.bearer_token === undefined
      ? entry
      : 'has a literal bearer_token, which Codex refuses; name a variable in bearer_token_env_var',
  finish,
  prepare,
  // Codex takes a server as on when nothing is said.
  after: (entry, { enabled }) => (enabled === false ? { ...entry } : { ...without(entry, 'enabled') }),
};

export const codex: Client = {
  id: 'codex',
  label: 'Codex',
  format: 'toml',
  candidates: (at) => [
    at.project('.codex', 'config.toml'),
    ...at.given('CODEX_HOME', 'config.toml'),
    at.home('.codex', 'config.toml'),
  ],
  dialect,
};

function finish(draft: LooseDraft, fields: Fields, notes: string[]): void {
  if (draft.type === 'stdio') {
    const names = inherited(fields.any('env_vars'), notes);
    if (names.length > 0) draft.inheritEnv = names;
    return;
  }
  const fromEnv = Object.entries(fields.textMap('env_http_headers') ?? {});
  const bearer = fields.text('bearer_token_env_var');
  const headers = [
    ...Object.entries(draft.headers ?? {}),
    ...fromEnv.map(([header, variable]) => [header, `\${${variable}}`] as const),
    ...(bearer === undefined ? [] : [['Authorization', `Bearer \${${bearer}}`] as const]),
  ];
  draft.headers = Object.fromEntries(headers);
}

function inherited(listed: unknown, notes: string[]): string[] {
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((item: unknown) => {
    const name = isEntry(item) ? item.name : item;
    if (typeof name !== 'string') return [];
    if (isEntry(item) && item.source === 'remote') notes.push(`${name} came from the remote machine there`);
    return [name];
  });
}

function prepare(draft: ServerDraft, entry: Record<string, unknown>, notes: string[]): ServerDraft {
  if (draft.type === 'stdio') return prepareProcess(draft, entry, notes);
  const literal: [string, string][] = [];
  const fromEnv: [string, string][] = [];
  for (const [header, value] of Object.entries(draft.headers ?? {})) {
    const bearer = header === 'Authorization' ? BEARER.exec(value)?.[1] : undefined;
    const whole = WHOLE.exec(value)?.[1];
    if (bearer !== undefined) entry.bearer_token_env_var = bearer;
    else if (whole !== undefined && !isFolder(whole)) fromEnv.push([header, whole]);
    else literal.push([header, value]);
  }
  if (fromEnv.length > 0) entry.env_http_headers = Object.fromEntries(fromEnv);
  const { headers: _, ...rest } = draft;
  return literal.length === 0 ? rest : { ...rest, headers: Object.fromEntries(literal) };
}

function prepareProcess(draft: ServerDraft, entry: Record<string, unknown>, notes: string[]): ServerDraft {
  const { env = {}, inheritEnv = [], ...rest } = draft;
  const passed = Object.entries(env).filter(
    ([name, value]) => WHOLE.exec(value)?.[1] === name && !isFolder(name),
  );
  const names = passed.map(([name]) => name);
  for (const name of names) notes.push(`${name} is passed on from Codex's own environment`);
  if (names.length + inheritEnv.length > 0) entry.env_vars = [...new Set([...inheritEnv, ...names])];
  const literal = Object.entries(env).filter(([name]) => !names.includes(name));
  return literal.length === 0 ? rest : { ...rest, env: Object.fromEntries(literal) };
}

const isFolder = (name: string): boolean => name === 'workspaceFolder' || name === 'userHome';
