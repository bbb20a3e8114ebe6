/** One server of ours in a client's own dialect. */
import { type Dialect, KEY_SPELLINGS } from './dialect.js';
import type { ServerDraft } from './imported-server.js';
import { OURS, translate } from './placeholders.js';
import { toDraft } from './to-draft.js';

export type WrittenEntry =
  | { readonly entry: Record<string, unknown>; readonly notes: readonly string[] }
  | { readonly reason: string };

export interface WriteContext {
  readonly dialect: Dialect;
  /** How the client is called in notes. */
  readonly label: string;
  /** True when the file can say elsewhere that a server is off. */
  readonly switchedElsewhere: boolean;
}

/** `reason` says why the client cannot have this server; `notes` what it cannot have of it. */
export function writeEntry(config: Readonly<Record<string, unknown>>, context: WriteContext): WrittenEntry {
  const { dialect, label, switchedElsewhere } = context;
  const given = toDraft(config);
  if ('reason' in given) return given;
  const { draft, unknown } = given;
  const spelled = dialect.transports[draft.type];
  const fallback = draft.type === 'sse' ? dialect.transports.http : undefined;
  const transport = spelled ?? fallback;
  if (transport === undefined) return { reason: `${label} has no ${draft.type} servers` };
  if (draft.enabled === false && dialect.switchKey === undefined && !switchedElsewhere)
    return { reason: `it is switched off, which a file of ${label} cannot say` };
  const notes = unknown.length === 0 ? [] : [`${label} has no place for: ${unknown.join(', ')}`];
  if (spelled === undefined) notes.push(`${label} chooses between Streamable HTTP and SSE by itself`);
  const entry: Record<string, unknown> = {};
  const rest = dialect.prepare?.(draft, entry, notes) ?? draft;
  if (dialect.typeKey !== undefined && transport !== '') entry[dialect.typeKey] = transport;
  writeReach(entry, rest, { ...context, notes });
  writeRest(entry, rest, { ...context, notes });
  return { entry: dialect.after?.(entry, draft) ?? entry, notes };
}

function writeReach(
  entry: Record<string, unknown>,
  draft: ServerDraft,
  { dialect, label, notes }: WriteContext & { notes: string[] },
): void {
  const { keys = {}, style } = dialect;
  const turn = (text: string): string => {
    const turned = translate(text, OURS, style);
    for (const placeholder of turned.unspeakable)
      notes.push(`${label} does not fill in ${placeholder}: it is written as it stands`);
    if (!turned.faithful && turned.unspeakable.length === 0)
      notes.push(`${label} may read a text differently: check its dollar signs and braces`);
    if (style.unsure && turned.placeholders.length > 0)
      notes.push(`it is not documented that ${label} fills in ${turned.placeholders.join(', ')}`);
    return turned.text;
  };
  const turnMap = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, turn(value)]));
  if (draft.command !== undefined) entry[keys.command ?? 'command'] = turn(draft.command);
  if (draft.args !== undefined) entry.args = draft.args.map(turn);
  if (draft.env !== undefined) entry[keys.env ?? 'env'] = turnMap(draft.env);
  if (draft.url !== undefined) entry[keys.url ?? 'url'] = turn(draft.url);
  if (draft.headers !== undefined) entry[keys.headers ?? 'headers'] = turnMap(draft.headers);
  if (draft.cwd !== undefined) {
    if (keys.cwd === undefined) notes.push(`${label} has no place for: cwd`);
    else entry[keys.cwd] = turn(draft.cwd);
  }
}

function writeRest(
  entry: Record<string, unknown>,
  draft: ServerDraft,
  { dialect, label, notes }: WriteContext & { notes: string[] },
): void {
  for (const key of ['description', 'includeTools', 'excludeTools'] as const) {
    const value = draft[key];
    const spelling = dialect.keys?.[key];
    if (value === undefined) continue;
    if (spelling === undefined) notes.push(`${label} has no place for: ${key}`);
    else entry[spelling] = value;
  }
  for (const to of ['connectTimeoutMs', 'callTimeoutMs'] as const) {
    const value = draft[to];
    const key = dialect.timeouts?.find((timeout) => timeout.to === to);
    if (value === undefined) continue;
    if (key === undefined) notes.push(`${label} has no place for: ${to}`);
    else entry[key.key] = key.unit === 's' ? value / 1000 : value;
  }
  if (draft.inheritEnv !== undefined) notes.push(`${label} has no place for: inheritEnv`);
  if (dialect.switchKey === 'enabled') entry.enabled = draft.enabled !== false;
  if (dialect.switchKey === 'disabled' && draft.enabled === false) entry.disabled = true;
}

/** Every key of an entry that the writer may set or remove; others belong to the client's user. */
export function ownedKeys(dialect: Dialect): ReadonlySet<string> {
  return new Set([
    ...Object.values(KEY_SPELLINGS).flat(),
    ...(dialect.timeouts ?? []).map(({ key }) => key),
    ...(dialect.owns ?? []),
    'enabled',
    'disabled',
  ]);
}
