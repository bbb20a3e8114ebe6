/** Mistral Vibe: a list of tables in TOML; a key from the environment is described in three keys. */
import type { Client } from '../client.js';
import type { ExtrasContext, MutableDraft } from '../dialect.js';
import type { FieldReader } from '../entries/field-reader.js';
import type { ServerDraft } from '../entries/imported-server.js';
import { NO_PLACEHOLDERS } from '../entries/placeholder-styles.js';
import type { Segment } from '../entries/placeholders.js';
import { type Entry, isEntry, omitKeys } from '../formats/plain-value.js';

export const vibe: Client = {
  id: 'vibe',
  label: 'Mistral Vibe',
  format: 'toml',
  candidates: (at) => [
    at.project('.vibe', 'config.toml'),
    ...at.fromEnvironment('VIBE_HOME', 'config.toml'),
    at.home('.vibe', 'config.toml'),
  ],
  dialect: {
    container: ['mcp_servers'],
    list: true,
    style: NO_PLACEHOLDERS,
    typeKey: 'transport',
    transports: { stdio: 'stdio', http: 'streamable-http' },
    timeouts: [
      { key: 'startup_timeout_sec', unit: 's', to: 'connectTimeoutMs' },
      { key: 'tool_timeout_sec', unit: 's', to: 'callTimeoutMs' },
    ],
    switchKey: 'disabled',
    oauth: {
      keys: {
        clientId: 'auth.client_id',
        clientMetadataUrl: 'auth.client_metadata_url',
        scopes: 'auth.scopes',
      },
      port: { key: 'auth.redirect_port', uri: (port) => `http://127.0.0.1:${port}/callback` },
      on: { key: 'auth.type', value: 'oauth' },
      excludesHeaders: true,
      ownedKeys: ['auth.headers', 'auth.api_key_env', 'auth.api_key_header', 'auth.api_key_format'],
    },
    ownedKeys: ['api_key_env', 'api_key_header', 'api_key_format'],
    normalizeEntry: staticAuthInEntry,
    readExtras: readApiKey,
    writeExtras: writeApiKey,
    finalizeEntry: withScopes,
  },
};

/** Newer files keep headers and the key in a table of their own. */
function staticAuthInEntry(entry: Entry): Entry {
  if (!isEntry(entry.auth) || entry.auth.type !== 'static') return entry;
  return { ...omitKeys(entry, 'auth'), ...omitKeys(entry.auth, 'type') };
}

/** The client refuses OAuth without a list of scopes. */
function withScopes(entry: Entry): Record<string, unknown> {
  return isEntry(entry.auth) ? { ...entry, auth: { scopes: [], ...entry.auth } } : { ...entry };
}

function readApiKey(draft: MutableDraft, fields: FieldReader, { print }: ExtrasContext): void {
  if (draft.type === 'stdio') return;
  const variable = fields.text('api_key_env');
  const header = fields.text('api_key_header') ?? 'Authorization';
  const format = fields.text('api_key_format') ?? 'Bearer {token}';
  if (variable === undefined || variable === '') return;
  const [first = '', ...others] = format.split('{token}');
  const key: Segment = { kind: 'env', name: variable };
  const parts = others.flatMap((text): Segment[] => [key, { kind: 'literal', text }]);
  const value = print([{ kind: 'literal', text: first }, ...parts], 'api_key_env, api_key_format');
  draft.headers = Object.fromEntries([...Object.entries(draft.headers ?? {}), [header, value]]);
}

/** The client fills in one variable for each server, in one header. */
function writeApiKey(given: ServerDraft, entry: Record<string, unknown>, notes: string[]): ServerDraft {
  const draft = withoutConflicts(given, notes);
  const headers = Object.entries(draft.headers ?? {});
  const keyed = headers.flatMap(([header, value]) => {
    const [, before = '', variable, after = ''] =
      /^([^${}]*)\$\{([A-Za-z_]\w*)\}([^${}]*)$/.exec(value) ?? [];
    const usable = variable !== undefined && variable !== 'workspaceFolder' && variable !== 'userHome';
    return usable ? [{ header, variable, format: `${before}{token}${after}` }] : [];
  });
  const [key] = keyed;
  if (key === undefined) return draft;
  entry.api_key_env = key.variable;
  entry.api_key_header = key.header;
  entry.api_key_format = key.format;
  const { headers: _, ...rest } = draft;
  const others = headers.filter(([header]) => header !== key.header);
  return others.length === 0 ? rest : { ...rest, headers: Object.fromEntries(others) };
}

/** The client refuses an entry with headers and OAuth, or with two ways to say which client signs in. */
function withoutConflicts(draft: ServerDraft, notes: string[]): ServerDraft {
  if (draft.auth?.type !== 'oauth') return draft;
  const { headers, ...rest } = draft;
  if (headers !== undefined)
    notes.push(
      `Mistral Vibe does not support headers together with OAuth: ${Object.keys(headers).join(', ')}`,
    );
  const { clientMetadataUrl, ...auth } = draft.auth;
  if (clientMetadataUrl === undefined || auth.clientId === undefined) return rest;
  notes.push('Mistral Vibe does not support auth.clientMetadataUrl together with auth.clientId');
  return { ...rest, auth };
}
