/** A server of ours, as somebody wrote it, cut down to what other clients can have. */
import type { MutableDraft } from '../dialect.js';
import { createFieldReader } from './field-reader.js';
import type { DraftTransport, ServerDraft } from './imported-server.js';
import { readOwnAuth, readOwnSandbox } from './own-protection.js';

export type DraftOutcome =
  /** `unknown`: keys of ours that no other client has. `auth.account` is the key `account` of `auth`. */
  { readonly draft: ServerDraft; readonly unknown: readonly string[] } | { readonly reason: string };

const TRANSPORTS: ReadonlyMap<string, DraftTransport> = new Map([
  ['stdio', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['streamable_http', 'http'],
  ['sse', 'sse'],
  ['websocket', 'websocket'],
  ['ws', 'websocket'],
]);

/** Empty maps and lists are left out; so is `enabled` when it is true. */
export function toDraft(config: Readonly<Record<string, unknown>>): DraftOutcome {
  const fields = createFieldReader(config);
  const word = fields.text('type') ?? fields.text('transport') ?? guessType(config);
  const type = TRANSPORTS.get(word);
  if (type === undefined) return { reason: `a server of type "${word}" cannot be exported` };
  const draft: MutableDraft = { type };
  const unknown: string[] = [];
  if (type === 'stdio') {
    const command = fields.text('command');
    if (command !== undefined) draft.command = command;
    draft.args = fields.texts('args') ?? [];
    draft.env = fields.textMap('env') ?? {};
    draft.inheritEnv = fields.texts('inheritEnv') ?? [];
    const cwd = fields.text('cwd');
    if (cwd !== undefined) draft.cwd = cwd;
    unknown.push(...readOwnSandbox(draft, fields));
  } else {
    const url = fields.text('url');
    if (url !== undefined) draft.url = url;
    draft.headers = fields.textMap('headers') ?? {};
    unknown.push(...readOwnAuth(draft, fields));
  }
  for (const key of ['connectTimeoutMs', 'callTimeoutMs'] as const) {
    const value = fields.amount(key);
    if (value !== undefined) draft[key] = value;
  }
  for (const key of ['includeTools', 'excludeTools'] as const) {
    const value = fields.texts(key);
    if (value !== undefined) draft[key] = value;
  }
  const description = fields.text('description');
  if (description !== undefined) draft.description = description;
  if (fields.flag('enabled') === false) draft.enabled = false;
  if (fields.typeErrors.length > 0) return { reason: fields.typeErrors.join('; ') };
  if ((draft.command ?? draft.url ?? '') === '') return { reason: 'it has neither a command nor a URL' };
  unknown.push(...Object.keys(fields.rest()).filter((key) => key !== 'scope'));
  return { draft: withoutEmpty(draft), unknown };
}

function guessType({ command, url }: Readonly<Record<string, unknown>>): string {
  if (typeof command === 'string') return 'stdio';
  if (typeof url !== 'string') return 'unknown';
  return /^wss?:/i.test(url) ? 'websocket' : 'http';
}

function withoutEmpty(draft: MutableDraft): ServerDraft {
  const result = { ...draft };
  for (const key of ['args', 'env', 'inheritEnv', 'headers', 'excludeTools'] as const) {
    const value = result[key];
    if (value !== undefined && Object.keys(value).length === 0) delete result[key];
  }
  return result;
}
