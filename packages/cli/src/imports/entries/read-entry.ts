/** One entry of a client's file, read into our own shape. */

import { describeRest } from './describe-rest.js';
import { type Dialect, KEY_SPELLINGS, type LooseDraft } from './dialect.js';
import { type Fields, takeFields } from './fields.js';
import type { DraftTransport, ServerDraft } from './imported-server.js';
import { OURS, translate } from './placeholders.js';
import type { Entry } from './plain-value.js';
import { unwrap } from './unwrap.js';

export type EntryOutcome =
  | { readonly config: ServerDraft; readonly notes: string[]; readonly extra: Record<string, unknown> }
  | { readonly reason: string };

/** Never throws; `reason` says why an entry cannot be carried over. */
export function readEntry(raw: Entry, dialect: Dialect): EntryOutcome {
  const notes: string[] = [];
  const entry = dialect.before?.(raw, notes) ?? raw;
  if (typeof entry === 'string') return { reason: entry };
  const fields = takeFields(entry);
  const transport = transportOf(fields, entry);
  if ('reason' in transport) return transport;
  const draft: LooseDraft = { type: transport.type };
  if (transport.type === 'stdio') readProcess(draft, fields);
  else readRemote(draft, fields);
  readShared(draft, fields, { dialect, notes });
  if (textsOf(draft).some((text) => text.length > LONGEST_TEXT))
    return { reason: `has a text of more than ${LONGEST_TEXT} characters` };
  const foreign = translateTexts(draft, dialect, notes);
  if (foreign.length > 0) return { reason: `nothing outside that client can fill in ${foreign.join(', ')}` };
  dialect.finish?.(draft, fields, notes);
  if (fields.faults.length > 0) return { reason: fields.faults.join('; ') };
  const broken = draft.type === 'stdio' ? processFault(draft) : addressFault(draft);
  if (broken !== undefined) return { reason: broken };
  const extra = fields.rest();
  notes.push(...describeRest(extra));
  const native = unwrap(trimmed(draft));
  return { config: native.config, notes: [...native.notes, ...notes], extra };
}

const TYPE_NAMES: ReadonlyMap<string, DraftTransport | 'auto'> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['command', 'stdio'],
  ['http', 'http'],
  ['https', 'http'],
  ['remote', 'http'],
  ['streamable', 'http'],
  ['streamablehttp', 'http'],
  ['httpstream', 'http'],
  ['sse', 'sse'],
  ['ws', 'websocket'],
  ['websocket', 'websocket'],
  ['auto', 'auto'],
]);

function transportOf(fields: Fields, entry: Entry): { type: DraftTransport } | { reason: string } {
  const word = fields.text(...KEY_SPELLINGS.type);
  const has = (keys: readonly string[]): boolean =>
    keys.some((key) => Object.hasOwn(entry, key) && entry[key] !== null && entry[key] !== undefined);
  if (word !== undefined) {
    const type = TYPE_NAMES.get(word.toLowerCase().replace(/[-_ ]/g, ''));
    if (type === undefined)
      return { reason: `its type "${word.slice(0, 60)}" is not a way to reach a server` };
    if (type !== 'auto') return { type };
  }
  if (has(KEY_SPELLINGS.command)) return { type: 'stdio' };
  if (has(KEY_SPELLINGS.url)) return { type: 'http' };
  return { reason: 'has neither a command nor an address' };
}

function readProcess(draft: LooseDraft, fields: Fields): void {
  const [key] = KEY_SPELLINGS.command.filter((candidate) => Object.hasOwn(fields.rest(), candidate));
  const words = key !== undefined && Array.isArray(fields.rest()[key]) ? fields.texts(key) : undefined;
  const command = words === undefined ? fields.text(...KEY_SPELLINGS.command) : words[0];
  if (command !== undefined) draft.command = command;
  draft.args = [...(words?.slice(1) ?? []), ...(fields.texts(...KEY_SPELLINGS.args) ?? [])];
  const env = fields.textMap(...KEY_SPELLINGS.env);
  if (env !== undefined) draft.env = env;
  const cwd = fields.text(...KEY_SPELLINGS.cwd);
  if (cwd !== undefined && cwd !== '') draft.cwd = cwd;
}

function readRemote(draft: LooseDraft, fields: Fields): void {
  const url = fields.text(...KEY_SPELLINGS.url);
  if (url !== undefined) draft.url = url;
  const headers = fields.textMap(...KEY_SPELLINGS.headers);
  if (headers !== undefined) draft.headers = headers;
  if (draft.type === 'http' && url !== undefined && /^wss?:/i.test(url)) draft.type = 'websocket';
}

/** The runtime takes no longer ones. */
const LONGEST_TEXT = 32_768;

function textsOf({
  command = '',
  cwd = '',
  url = '',
  args = [],
  env = {},
  headers = {},
}: LooseDraft): string[] {
  return [command, cwd, url, ...args, ...Object.values(env), ...Object.values(headers)];
}

const LONGEST_MS = 24 * 3_600_000;

function readShared(
  draft: LooseDraft,
  fields: Fields,
  { dialect, notes }: { dialect: Dialect; notes: string[] },
): void {
  const description = fields.text(...KEY_SPELLINGS.description);
  if (description !== undefined && description !== '') draft.description = description;
  const on = fields.flag('enabled') ?? true;
  const off = fields.flag('disabled') ?? false;
  if (!on || off) draft.enabled = false;
  for (const list of ['includeTools', 'excludeTools'] as const) {
    const names = fields.texts(...KEY_SPELLINGS[list]);
    if (names !== undefined && (names.length > 0 || list === 'includeTools')) draft[list] = names;
  }
  for (const { key, unit, to } of dialect.timeouts ?? []) {
    const given = typeof fields.rest()[key] === 'number' ? fields.amount(key) : undefined;
    if (given === undefined) continue;
    const milliseconds = Math.round(unit === 's' ? given * 1000 : given);
    if (milliseconds >= 1 && milliseconds <= LONGEST_MS) draft[to] = milliseconds;
    else notes.push(`not carried over: ${key}, because ${given} ${unit} is not between 1 ms and 24 hours`);
  }
}

/** Puts every text into our own placeholders; answers those that nobody else can fill in. */
function translateTexts(draft: LooseDraft, { style }: Dialect, notes: string[]): string[] {
  const foreign: string[] = [];
  // Notes name the spot, never the text: it can be a secret.
  const turn = (text: string, spot: string): string => {
    const turned = translate(text, style, OURS);
    foreign.push(...turned.foreign);
    if (!turned.faithful && turned.foreign.length === 0)
      notes.push(`${spot} may be read differently here: check its dollar signs`);
    return turned.text;
  };
  const turnMap = (map: Readonly<Record<string, string>>, spot: string): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, turn(value, `${spot}.${key}`)]));
  if (draft.command !== undefined) draft.command = turn(draft.command, 'command');
  if (draft.args !== undefined) draft.args = draft.args.map((arg, index) => turn(arg, `args[${index}]`));
  if (draft.cwd !== undefined) draft.cwd = turn(draft.cwd, 'cwd');
  if (draft.url !== undefined) draft.url = turn(draft.url, 'url');
  if (draft.env !== undefined) draft.env = turnMap(draft.env, 'env');
  if (draft.headers !== undefined) draft.headers = turnMap(draft.headers, 'headers');
  return foreign;
}

function processFault({ command }: LooseDraft): string | undefined {
  return command === undefined || command.trim() === '' ? 'has no command' : undefined;
}

function addressFault({ type, url }: LooseDraft): string | undefined {
  if (url === undefined || url.trim() === '') return 'has no address';
  if (url.startsWith('${')) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === 'unix' || scheme === 'pipe')
    return `servers behind ${scheme}:// addresses cannot be reached yet`;
  const fitting = type === 'websocket' ? ['ws', 'wss'] : ['http', 'https'];
  if (scheme === undefined || !fitting.includes(scheme))
    return `its address does not begin with ${fitting.join(':// or ')}://`;
  return URL.canParse(url) ? undefined : 'its address is not a URL';
}

function trimmed(draft: LooseDraft): ServerDraft {
  const result = { ...draft };
  if (result.args?.length === 0) delete result.args;
  if (result.env !== undefined && Object.keys(result.env).length === 0) delete result.env;
  if (result.headers !== undefined && Object.keys(result.headers).length === 0) delete result.headers;
  return result;
}
