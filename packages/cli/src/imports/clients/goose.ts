/** goose: extensions in YAML, with its own words for commands, addresses and secrets. */
import type { Client } from '../client.js';
import type { LooseDraft } from '../dialect.js';
import type { Fields } from '../fields.js';
import type { ServerDraft } from '../imported-server.js';
import { SHELL_STYLE } from '../placeholder-styles.js';
import { isEntry, without } from '../plain-value.js';

const INTERNAL = ['builtin', 'platform', 'frontend', 'inline_python'];

const KEPT = /^\$\{(?:(secret|env):)?([A-Za-z_]\w*)\}$/;

export const goose: Client = {
  id: 'goose',
  label: 'goose',
  format: 'yaml',
  candidates: (at) => [
    at.place.platform === 'win32'
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
    owns: ['env_keys', 'name'],
    before(entry) {
      // Some versions put everything but the switch one level down.
      const flat = isEntry(entry.config) ? { ...without(entry, 'config'), ...entry.config } : entry;
      if (typeof flat.type === 'string' && INTERNAL.includes(flat.type))
        return `is part of goose itself (${flat.type})`;
      const all = Array.isArray(flat.available_tools) && flat.available_tools.length === 0;
      return without(flat, 'name', ...(all ? ['available_tools'] : []));
    },
    finish,
    prepare,
  },
};

/** Variables that goose takes from its own store of secrets. */
function finish(draft: LooseDraft, fields: Fields, notes: string[]): void {
  const names = fields.texts('env_keys') ?? [];
  if (names.length === 0) return;
  notes.push(`goose keeps ${names.join(', ')} among its secrets; give them here too`);
  if (draft.type !== 'stdio') return;
  const secrets = names.map((name) => [name, `\${secret:${name}}`]);
  draft.env = Object.fromEntries([...Object.entries(draft.env ?? {}), ...secrets]);
}

function prepare(draft: ServerDraft, entry: Record<string, unknown>, notes: string[]): ServerDraft {
  if (draft.includeTools?.length === 0) notes.push('goose takes an empty list of tools as all of them');
  if (draft.env === undefined) return draft;
  const pairs = Object.entries(draft.env).map(([name, value]) => {
    const [, kind, referred] = KEPT.exec(value) ?? [];
    const kept = referred === name && name !== 'workspaceFolder' && name !== 'userHome';
    return { name, value, kept, secret: kept && kind === 'secret' };
  });
  const names = pairs.filter(({ kept }) => kept).map(({ name }) => name);
  for (const { name } of pairs.filter(({ kept, secret }) => kept && !secret))
    notes.push(`goose looks for ${name} in its environment and among its secrets`);
  if (names.length > 0) entry.env_keys = names;
  const { env: _, ...rest } = draft;
  const literal = pairs.filter(({ kept }) => !kept).map(({ name, value }) => [name, value]);
  return literal.length === 0 ? rest : { ...rest, env: Object.fromEntries(literal) };
}
