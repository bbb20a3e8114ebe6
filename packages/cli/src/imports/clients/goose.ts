/** goose: extensions in YAML, with its own words for commands, addresses and secrets. */
import type { Client } from '../client.js';
import type { ExtrasContext, MutableDraft } from '../dialect.js';
import type { FieldReader } from '../entries/field-reader.js';
import type { ServerDraft } from '../entries/imported-server.js';
import { SHELL_STYLE } from '../entries/placeholder-styles.js';
import { isEntry, omitKeys } from '../formats/plain-value.js';

const INTERNAL_TYPES = ['builtin', 'platform', 'frontend', 'inline_python'];

const WHOLE_PLACEHOLDER = /^\$\{(?:(secret|env):)?([A-Za-z_]\w*)\}$/;

export const goose: Client = {
  id: 'goose',
  label: 'goose',
  format: 'yaml',
  candidates: (at) => [
    at.machine.platform === 'win32'
      ? at.appData('Block', 'goose', 'config', 'config.yaml')
      : at.config('goose', 'config.yaml'),
  ],
  dialect: {
    container: ['extensions'],
    named: true,
    style: SHELL_STYLE,
    typeKey: 'type',
    transports: { stdio: 'stdio', http: 'streamable_http', sse: 'sse' },
    keys: {
      command: 'cmd',
      env: 'envs',
      url: 'uri',
      description: 'description',
      includeTools: 'available_tools',
    },
    timeouts: [{ key: 'timeout', unit: 's', to: 'callTimeoutMs' }],
    switchKey: 'enabled',
    ownedKeys: ['env_keys', 'name'],
    normalizeEntry(entry) {
      // Some versions put everything but the switch one level down.
      const flat = isEntry(entry.config) ? { ...omitKeys(entry, 'config'), ...entry.config } : entry;
      if (typeof flat.type === 'string' && INTERNAL_TYPES.includes(flat.type))
        return `it is part of goose itself (${flat.type})`;
      const all = Array.isArray(flat.available_tools) && flat.available_tools.length === 0;
      return omitKeys(flat, 'name', ...(all ? ['available_tools'] : []));
    },
    readExtras: readEnvKeys,
    writeExtras: writeEnvKeys,
  },
};

/** Variables that goose takes from its own store of secrets. */
function readEnvKeys(draft: MutableDraft, fields: FieldReader, { notes, print }: ExtrasContext): void {
  const names = fields.texts('env_keys') ?? [];
  if (names.length === 0) return;
  notes.push(`goose keeps ${names.join(', ')} in its secret store; add them to the Turnbuckle vault too`);
  if (draft.type !== 'stdio') return;
  const secrets = names.map((name) => [name, print([{ kind: 'secret', name }], 'env_keys')]);
  draft.env = Object.fromEntries([...Object.entries(draft.env ?? {}), ...secrets]);
}

function writeEnvKeys(draft: ServerDraft, entry: Record<string, unknown>, notes: string[]): ServerDraft {
  if (draft.includeTools?.length === 0) notes.push('goose treats an empty list of tools as all tools');
  if (draft.env === undefined) return draft;
  const pairs = Object.entries(draft.env).map(([name, value]) => {
    const [, kind, referred] = WHOLE_PLACEHOLDER.exec(value) ?? [];
    const kept = referred === name && name !== 'workspaceFolder' && name !== 'userHome';
    return { name, value, kept, secret: kept && kind === 'secret' };
  });
  const names = pairs.filter(({ kept }) => kept).map(({ name }) => name);
  for (const { name } of pairs.filter(({ kept, secret }) => kept && !secret))
    notes.push(`goose reads ${name} from its own environment or secret store; set it there`);
  if (names.length > 0) entry.env_keys = names;
  const { env: _, ...rest } = draft;
  const literal = pairs.filter(({ kept }) => !kept).map(({ name, value }) => [name, value]);
  return literal.length === 0 ? rest : { ...rest, env: Object.fromEntries(literal) };
}
