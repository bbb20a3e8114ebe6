/** One entry of a client's file, read into our own shape. */

import { describeUnknownKeys } from '../describe-unknown-keys.js';
import { type Dialect, type ExtrasContext, KEY_VARIANTS, type MutableDraft } from '../dialect.js';
import type { Entry } from '../formats/plain-value.js';
import { flattenKeys, nestKeys } from './dotted-keys.js';
import { createFieldReader, type FieldReader } from './field-reader.js';
import type { DraftTransport, ServerDraft } from './imported-server.js';
import {
  escapeText,
  type PlaceholderStyle,
  printExactly,
  TURNBUCKLE_STYLE,
  translate,
} from './placeholders.js';
import { oauthKeys, readAuth } from './read-auth.js';
import { unwrap } from './unwrap.js';

export type EntryOutcome =
  | { readonly config: ServerDraft; readonly notes: string[]; readonly extra: Record<string, unknown> }
  | { readonly reason: string };

/** Never throws; `reason` says why an entry cannot be carried over. */
export function readEntry(raw: Entry, dialect: Dialect): EntryOutcome {
  const notes: string[] = [];
  const entry = dialect.normalizeEntry?.(raw, notes) ?? raw;
  if (typeof entry === 'string') return { reason: entry };
  const fields = createFieldReader(flattenKeys(entry, oauthKeys(dialect)));
  const transport = transportOf(fields, entry);
  if ('reason' in transport) return transport;
  const draft: MutableDraft = { type: transport.type };
  if (transport.type === 'stdio') readProcess(draft, fields);
  else readRemote(draft, fields);
  readShared(draft, fields, { dialect, notes });
  if (textsOf(draft).some((text) => text.length > MAX_TEXT_LENGTH))
    return { reason: `it has a value of more than ${MAX_TEXT_LENGTH} characters` };
  const translator = createTranslator(dialect.style, notes);
  translateTexts(draft, translator.turn);
  dialect.readExtras?.(draft, fields, { ...translator, notes });
  const { oauth, sandbox } = dialect;
  if (draft.type !== 'stdio' && oauth !== undefined)
    readAuth(draft, fields, { oauth, turn: translator.turn });
  if (draft.type === 'stdio' && sandbox !== undefined) {
    const limits = sandbox.read(fields, (text) => translator.turn(text, 'sandbox'), notes);
    if (limits !== undefined) draft.sandbox = limits;
  }
  const { foreign, inexpressible } = translator;
  if (foreign.length > 0) return { reason: `only the original client can resolve ${foreign.join(', ')}` };
  if (inexpressible.length > 0)
    return { reason: `it uses ${inexpressible.join(', ')}, which Turnbuckle placeholders do not support` };
  if (fields.typeErrors.length > 0) return { reason: fields.typeErrors.join('; ') };
  const broken = draft.type === 'stdio' ? commandProblem(draft) : urlProblem(draft);
  if (broken !== undefined) return { reason: broken };
  const extra = fields.rest();
  notes.push(...describeUnknownKeys(extra));
  const native = unwrap(withoutEmptyFields(draft));
  return { config: native.config, notes: [...native.notes, ...notes], extra: nestKeys(extra) };
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

function transportOf(fields: FieldReader, entry: Entry): { type: DraftTransport } | { reason: string } {
  const word = fields.text(...KEY_VARIANTS.type);
  const has = (keys: readonly string[]): boolean =>
    keys.some((key) => Object.hasOwn(entry, key) && entry[key] !== null && entry[key] !== undefined);
  if (word !== undefined) {
    const type = TYPE_NAMES.get(word.toLowerCase().replace(/[-_ ]/g, ''));
    if (type === undefined) return { reason: `its type "${word.slice(0, 60)}" is not a known transport` };
    if (type !== 'auto') return { type };
  }
  if (has(KEY_VARIANTS.command)) return { type: 'stdio' };
  if (has(KEY_VARIANTS.url)) return { type: 'http' };
  return { reason: 'it has neither a command nor a URL' };
}

function readProcess(draft: MutableDraft, fields: FieldReader): void {
  const [key] = KEY_VARIANTS.command.filter((candidate) => Object.hasOwn(fields.rest(), candidate));
  const words = key !== undefined && Array.isArray(fields.rest()[key]) ? fields.texts(key) : undefined;
  const command = words === undefined ? fields.text(...KEY_VARIANTS.command) : words[0];
  if (command !== undefined) draft.command = command;
  draft.args = [...(words?.slice(1) ?? []), ...(fields.texts(...KEY_VARIANTS.args) ?? [])];
  const env = fields.textMap(...KEY_VARIANTS.env);
  if (env !== undefined) draft.env = env;
  const cwd = fields.text(...KEY_VARIANTS.cwd);
  if (cwd !== undefined && cwd !== '') draft.cwd = cwd;
}

function readRemote(draft: MutableDraft, fields: FieldReader): void {
  const url = fields.text(...KEY_VARIANTS.url);
  if (url !== undefined) draft.url = url;
  const headers = fields.textMap(...KEY_VARIANTS.headers);
  if (headers !== undefined) draft.headers = headers;
  if (draft.type === 'http' && url !== undefined && /^wss?:/i.test(url)) draft.type = 'websocket';
}

/** The runtime takes no longer ones. */
const MAX_TEXT_LENGTH = 32_768;

function textsOf({
  command = '',
  cwd = '',
  url = '',
  args = [],
  env = {},
  headers = {},
}: MutableDraft): string[] {
  return [command, cwd, url, ...args, ...Object.values(env), ...Object.values(headers)];
}

const MAX_TIMEOUT_MS = 24 * 3_600_000;

function readShared(
  draft: MutableDraft,
  fields: FieldReader,
  { dialect, notes }: { dialect: Dialect; notes: string[] },
): void {
  const description = fields.text(...KEY_VARIANTS.description);
  if (description !== undefined && description !== '') draft.description = description;
  const on = fields.flag('enabled') ?? true;
  const off = fields.flag('disabled') ?? false;
  if (!on || off) draft.enabled = false;
  for (const list of ['includeTools', 'excludeTools'] as const) {
    const names = fields.texts(...KEY_VARIANTS[list]);
    if (names !== undefined && (names.length > 0 || list === 'includeTools')) draft[list] = names;
  }
  for (const { key, unit, to } of dialect.timeouts ?? []) {
    const given = typeof fields.rest()[key] === 'number' ? fields.amount(key) : undefined;
    if (given === undefined) continue;
    const milliseconds = Math.round(unit === 's' ? given * 1000 : given);
    if (milliseconds >= 1 && milliseconds <= MAX_TIMEOUT_MS) draft[to] = milliseconds;
    else notes.push(`not imported: ${key}, because ${given} ${unit} is not between 1 ms and 24 hours`);
  }
}

interface Translator extends Omit<ExtrasContext, 'notes'> {
  /** Placeholders that nobody else can fill in. */
  readonly foreign: readonly string[];
  /** Where our spelling cannot say what is meant. Notes and reasons never have the text: it can be a secret. */
  readonly inexpressible: readonly string[];
}

function createTranslator(style: PlaceholderStyle, notes: string[]): Translator {
  const foreign: string[] = [];
  const inexpressible: string[] = [];
  return {
    foreign,
    inexpressible,
    turn(text, spot) {
      const turned = translate(text, style, TURNBUCKLE_STYLE);
      foreign.push(...turned.foreign);
      if (!turned.isLossless && turned.foreign.length === 0) inexpressible.push(spot);
      // In the spelling of another client it is a secret of that client, which has to be stored here first.
      if (style.isUndocumented && turned.placeholders.some((one) => one.includes('${secret:')))
        notes.push(`${spot} refers to a secret in your vault, which is passed to this server`);
      return turned.text;
    },
    print(segments, spot) {
      const text = printExactly(segments);
      if (text === undefined) inexpressible.push(spot);
      return text ?? '';
    },
  };
}

/** Puts every text into our own placeholders. */
function translateTexts(draft: MutableDraft, turn: Translator['turn']): void {
  const turnMap = (map: Readonly<Record<string, string>>, spot: string): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, turn(value, `${spot}.${key}`)]));
  if (draft.command !== undefined) draft.command = turn(draft.command, 'command');
  if (draft.args !== undefined) draft.args = draft.args.map((arg, index) => turn(arg, `args[${index}]`));
  if (draft.cwd !== undefined) draft.cwd = turn(draft.cwd, 'cwd');
  if (draft.url !== undefined) draft.url = turn(draft.url, 'url');
  if (draft.env !== undefined) draft.env = turnMap(draft.env, 'env');
  if (draft.headers !== undefined) draft.headers = turnMap(draft.headers, 'headers');
  // Nobody has placeholders in these, but we do.
  if (draft.description !== undefined) draft.description = escapeText(draft.description);
  if (draft.includeTools !== undefined) draft.includeTools = draft.includeTools.map(escapeText);
  if (draft.excludeTools !== undefined) draft.excludeTools = draft.excludeTools.map(escapeText);
}

function commandProblem({ command }: MutableDraft): string | undefined {
  return command === undefined || command.trim() === '' ? 'it has no command' : undefined;
}

function urlProblem({ type, url }: MutableDraft): string | undefined {
  if (url === undefined || url.trim() === '') return 'it has no URL';
  if (url.startsWith('${')) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === 'unix' || scheme === 'pipe') return `${scheme}:// URLs are not supported yet`;
  const fitting = type === 'websocket' ? ['ws', 'wss'] : ['http', 'https'];
  if (scheme === undefined || !fitting.includes(scheme))
    return `its URL does not start with ${fitting.join(':// or ')}://`;
  return URL.canParse(url) ? undefined : 'its URL is invalid';
}

function withoutEmptyFields(draft: MutableDraft): ServerDraft {
  const result = { ...draft };
  if (result.args?.length === 0) delete result.args;
  if (result.env !== undefined && Object.keys(result.env).length === 0) delete result.env;
  if (result.headers !== undefined && Object.keys(result.headers).length === 0) delete result.headers;
  return result;
}
