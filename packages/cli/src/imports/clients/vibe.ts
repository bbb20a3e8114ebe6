/** Mistral Vibe: a list of tables in TOML; a key from the environment is described in three keys. */
import type { Client } from '../client.js';
import type { MutableDraft } from '../dialect.js';
import type { FieldReader } from '../entries/field-reader.js';
import type { ServerDraft } from '../entries/imported-server.js';
import { NO_PLACEHOLDERS } from '../entries/placeholder-styles.js';

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
    ownedKeys: ['api_key_env', 'api_key_header', 'api_key_format'],
    readExtras: readApiKey,
    writeExtras: writeApiKey,
  },
};

function readApiKey(draft: MutableDraft, fields: FieldReader): void {
  if (draft.type === 'stdio') return;
  const variable = fields.text('api_key_env');
  const header = fields.text('api_key_header') ?? 'Authorization';
  const format = fields.text('api_key_format') ?? 'Bearer {token}';
  if (variable === undefined || variable === '') return;
  const value = format.split('{token}').join(`\${${variable}}`);
  draft.headers = Object.fromEntries([...Object.entries(draft.headers ?? {}), [header, value]]);
}

/** The client fills in one variable for each server, in one header. */
function writeApiKey(draft: ServerDraft, entry: Record<string, unknown>): ServerDraft {
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
