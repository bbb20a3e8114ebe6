/** One server of ours in a client's own dialect. */
import { type Dialect, KEY_VARIANTS } from '../dialect.js';
import type { ServerDraft } from './imported-server.js';
import { plainText, TURNBUCKLE_STYLE, translate } from './placeholders.js';
import { oauthKeys } from './read-auth.js';
import { toDraft } from './to-draft.js';
import { writeAuth } from './write-auth.js';

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
  if (transport === undefined) return { reason: `${label} does not support ${draft.type} servers` };
  if (draft.enabled === false && dialect.switchKey === undefined && !switchedElsewhere)
    return { reason: `it is disabled, and ${label} does not support disabled servers` };
  const notes = unknown.length === 0 ? [] : [`${label} does not support ${unknown.join(', ')}`];
  if (spelled === undefined) notes.push(`${label} chooses between Streamable HTTP and SSE automatically`);
  const entry: Record<string, unknown> = {};
  const rest = dialect.writeExtras?.(draft, entry, notes) ?? draft;
  if (dialect.typeKey !== undefined && transport !== '') entry[dialect.typeKey] = transport;
  writeTransport(entry, rest, { ...context, notes });
  writeOptions(entry, rest, { ...context, notes });
  return { entry: dialect.finalizeEntry?.(entry, draft) ?? entry, notes };
}

function writeTransport(
  entry: Record<string, unknown>,
  draft: ServerDraft,
  { dialect, label, notes }: WriteContext & { notes: string[] },
): void {
  const { keys = {}, style } = dialect;
  const turn = (text: string): string => {
    const turned = translate(text, TURNBUCKLE_STYLE, style);
    for (const placeholder of turned.unsupported)
      notes.push(`${label} does not replace ${placeholder}; the placeholder is written unchanged`);
    if (!turned.isLossless && turned.unsupported.length === 0)
      notes.push(`check the dollar signs and braces because ${label} may interpret them differently`);
    if (style.isUndocumented && turned.placeholders.length > 0)
      notes.push(`it is not documented whether ${label} replaces ${turned.placeholders.join(', ')}`);
    return turned.text;
  };
  const turnMap = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, turn(value)]));
  if (draft.command !== undefined) entry[keys.command ?? 'command'] = turn(draft.command);
  if (draft.args !== undefined) entry.args = draft.args.map(turn);
  if (draft.env !== undefined) entry[keys.env ?? 'env'] = turnMap(draft.env);
  if (draft.url !== undefined) entry[keys.url ?? 'url'] = turn(draft.url);
  if (draft.headers !== undefined) entry[keys.headers ?? 'headers'] = turnMap(draft.headers);
  if (draft.auth !== undefined)
    writeAuth(draft.auth, entry, { dialect, label, notes, turn, serverUrl: draft.url ?? '' });
  if (draft.sandbox !== undefined) {
    if (dialect.sandbox === undefined) notes.push(`${label} does not support sandbox`);
    else dialect.sandbox.write(draft.sandbox, entry, notes);
  }
  if (draft.cwd !== undefined) {
    if (keys.cwd === undefined) notes.push(`${label} does not support cwd`);
    else entry[keys.cwd] = turn(draft.cwd);
  }
}

const unescapeText = (text: string): string => plainText(text) ?? text;

function writeOptions(
  entry: Record<string, unknown>,
  draft: ServerDraft,
  { dialect, label, notes }: WriteContext & { notes: string[] },
): void {
  for (const key of ['description', 'includeTools', 'excludeTools'] as const) {
    const value = draft[key];
    const spelling = dialect.keys?.[key];
    if (value === undefined) continue;
    if (spelling === undefined) notes.push(`${label} does not support ${key}`);
    else entry[spelling] = typeof value === 'string' ? unescapeText(value) : value.map(unescapeText);
  }
  for (const to of ['connectTimeoutMs', 'callTimeoutMs'] as const) {
    const value = draft[to];
    const key = dialect.timeouts?.find((timeout) => timeout.to === to);
    if (value === undefined) continue;
    if (key === undefined) notes.push(`${label} does not support ${to}`);
    else entry[key.key] = key.unit === 's' ? value / 1000 : value;
  }
  if (draft.inheritEnv !== undefined) notes.push(`${label} does not support inheritEnv`);
  if (dialect.switchKey === 'enabled') entry.enabled = draft.enabled !== false;
  if (dialect.switchKey === 'disabled' && draft.enabled === false) entry.disabled = true;
}

/**
 * Every key of an entry that the writer may set or remove for this server; others belong to the client's user. A sign-in
 * or sandbox that the server does not mention is kept: without it, the client would protect less than before.
 */
export function ownedKeys(
  dialect: Dialect,
  { auth, headers, sandbox }: Readonly<Record<string, unknown>>,
): ReadonlySet<string> {
  const saysHow = auth !== undefined || (dialect.oauth?.excludesHeaders === true && headers !== undefined);
  return new Set([
    ...Object.values(KEY_VARIANTS).flat(),
    ...(dialect.timeouts ?? []).map(({ key }) => key),
    ...(saysHow ? oauthKeys(dialect) : []),
    ...(sandbox === undefined ? [] : (dialect.sandbox?.keys ?? [])),
    ...(dialect.ownedKeys ?? []),
    'enabled',
    'disabled',
  ]);
}
