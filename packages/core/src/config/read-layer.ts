/** One layer's file, read and understood: its servers as written, its settings, and all that is wrong with it. */
import { readFile, stat } from 'node:fs/promises';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { type ConfigDocument, type DocumentFault, type Place, parseDocument } from './document.js';
import { FILE_SCHEMAS, type FileSettings, SERVER_KEYS } from './file-schema.js';
import { describeType } from './issue-text.js';
import { isOfProject, type Layer } from './layers.js';
import { nearest } from './nearest.js';
import { keyPath } from './parse.js';

const MAX_FILE_BYTES = 4 * 1_024 * 1_024;

export interface WrittenServer {
  readonly name: string;
  readonly entry: unknown;
  /** The keys that lead to it, as a text. */
  readonly path: string;
  readonly place: Place;
  /** Where a key of the entry stands. */
  readonly placeOf: (keys: readonly PropertyKey[]) => Place;
}

export interface ReadLayer {
  readonly layer: Layer;
  readonly present: boolean;
  readonly servers: readonly WrittenServer[];
  readonly settings: Partial<FileSettings>;
  readonly problems: readonly TurnbuckleError[];
  /** The file, or all of its servers, could not be used. */
  readonly unusable: boolean;
}

/** Reads the file of a layer. Never rejects: what is wrong is in `problems`. */
export async function readLayer(layer: Layer): Promise<ReadLayer> {
  const empty = { layer, servers: [], settings: {}, problems: [] };
  const read = await readText(layer);
  if (read === undefined) return { ...empty, present: false, unusable: false };
  if (read instanceof TurnbuckleError) return { ...empty, present: true, problems: [read], unusable: true };
  const document = parseDocument(read);
  const problems = document.faults.map((fault) => faultError(layer.file, fault));
  if (document.value === undefined && problems.length === 0)
    return { ...empty, present: true, unusable: false };
  if (!isRecord(document.value)) {
    const fault = {
      ...document.placeOf([]),
      path: '',
      text: 'the file has to hold one object: { "servers": { … } }',
    };
    return {
      ...empty,
      present: true,
      problems: problems.length > 0 ? problems : [faultError(layer.file, fault)],
      unusable: true,
    };
  }
  const settings = readSettings(layer, document, document.value);
  const servers = readServers(layer, document, document.value);
  return {
    layer,
    present: true,
    unusable: servers.unusable,
    servers: servers.written,
    settings: settings.settings,
    problems: [...problems, ...settings.problems, ...servers.problems],
  };
}

/** The text; undefined when there is no file; an error when it is there and cannot be read. */
async function readText({ file, required }: Layer): Promise<string | TurnbuckleError | undefined> {
  try {
    const facts = await stat(file);
    if (!facts.isFile()) return fileError(file, 'it is not a file');
    if (facts.size > MAX_FILE_BYTES) return fileError(file, `it is larger than ${MAX_FILE_BYTES} bytes`);
    return await readFile(file, 'utf8');
  } catch (cause) {
    const errno = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if ((errno === 'ENOENT' || errno === 'ENOTDIR') && !required) return undefined;
    const reasons: Record<string, string> = {
      ENOENT: 'it does not exist',
      ENOTDIR: 'a part of its path is no directory',
      EACCES: 'there is no permission to read it',
      ELOOP: 'its symbolic links go round in a circle',
      EISDIR: 'it is a directory',
    };
    return fileError(file, reasons[String(errno)] ?? 'it cannot be read', cause);
  }
}

function fileError(file: string, reason: string, cause?: unknown): TurnbuckleError {
  return new TurnbuckleError('CONFIG_INVALID', `The configuration file ${file} cannot be used: ${reason}.`, {
    cause,
    hint: 'The other files are not affected.',
    data: { file, line: 1, column: 1 },
  });
}

/** An error that points at a place of a file. */
export function faultError(
  file: string,
  { line, column, path, text }: DocumentFault,
  { server, hint, ...more }: { server?: string; hint?: string | undefined; problems?: unknown } = {},
): TurnbuckleError {
  const at = `${file}:${line}:${column}`;
  return new TurnbuckleError('CONFIG_INVALID', `${at}: ${path === '' ? '' : `${path}: `}${text}.`, {
    server,
    hint: hint ?? 'Correct it there. The rest of the configuration is not affected.',
    data: { file, line, column, path, ...more },
  });
}

function readSettings(layer: Layer, document: ConfigDocument, value: Record<string, unknown>) {
  const kind = layer.scope === 'managed' ? 'managed' : isOfProject(layer.scope) ? 'project' : 'user';
  const settings: Record<string, unknown> = {};
  const problems: TurnbuckleError[] = [];
  for (const [key, item] of Object.entries(value)) {
    if (SERVER_KEYS.some((one) => one === key)) continue;
    const read = readSetting(kind, key, item);
    if (!Array.isArray(read)) Object.assign(settings, read);
    else
      for (const { keys, text } of read)
        problems.push(faultError(layer.file, { ...document.placeOf(keys), path: keyPath('', keys), text }));
  }
  return { settings: settings as Partial<FileSettings>, problems };
}

interface SettingFault {
  readonly keys: readonly PropertyKey[];
  readonly text: string;
}

/** The setting after validation, or what is wrong with it. */
function readSetting(
  kind: keyof typeof FILE_SCHEMAS,
  key: string,
  item: unknown,
): Partial<FileSettings> | SettingFault[] {
  const known = Object.keys(FILE_SCHEMAS[kind].shape);
  if (!known.includes(key)) {
    const close = nearest(key, [...known, ...SERVER_KEYS]);
    const text = Object.hasOwn(FILE_SCHEMAS.managed.shape, key)
      ? `"${key}" may not be set by a ${kind === 'project' ? "project's" : "user's"} file`
      : `unknown key "${key}"${close === undefined ? '' : `, did you mean "${close}"?`}`;
    return [{ keys: [key], text }];
  }
  const parsed = FILE_SCHEMAS[kind].safeParse({ [key]: item }, { error: describeType });
  if (parsed.success) return parsed.data;
  return parsed.error.issues.map(({ path, message }) => ({
    keys: path,
    text: message.replace(/^Invalid input: /, ''),
  }));
}

function readServers(layer: Layer, document: ConfigDocument, value: Record<string, unknown>) {
  const problems: TurnbuckleError[] = [];
  const written: WrittenServer[] = [];
  const names = new Set<string>();
  let unusable = false;
  const report = (keys: readonly PropertyKey[], text: string): void => {
    problems.push(faultError(layer.file, { ...document.placeOf(keys), path: keyPath('', keys), text }));
  };
  const add = (name: string, entry: unknown, keys: readonly PropertyKey[]): void => {
    if (names.has(name)) return report(keys, `the name "${name}" is there twice`);
    names.add(name);
    written.push({
      name,
      entry,
      path: keyPath('', keys),
      place: document.placeOf(keys),
      placeOf: (below) => document.placeOf([...keys, ...below]),
    });
  };
  for (const key of SERVER_KEYS) {
    const servers = value[key];
    if (servers === undefined) continue;
    if (isRecord(servers)) for (const [name, entry] of Object.entries(servers)) add(name, entry, [key, name]);
    else if (Array.isArray(servers)) {
      servers.forEach((entry: unknown, index) => {
        const named = nameOf(entry);
        if (named === undefined) report([key, index], 'a server in a list needs a "name" or an "id"');
        else add(named.name, named.entry, [key, index]);
      });
    } else {
      unusable = true;
      report([key], 'expected a map or a list of servers');
    }
  }
  return { written, problems, unusable };
}

/** A hosted-proxy entry has an `id` of its own, so its name can only be `name`. */
function nameOf(entry: unknown): { name: string; entry: Record<string, unknown> } | undefined {
  if (!isRecord(entry)) return undefined;
  const { name, ...rest } = entry;
  if (typeof name === 'string') return { name, entry: rest };
  const { id, ...withoutId } = rest;
  return typeof id === 'string' ? { name: id, entry: withoutId } : undefined;
}
