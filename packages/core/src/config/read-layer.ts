/** One layer's file, read and understood: its servers as written, its settings, and all that is wrong with it. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { type Place, parseDocument } from './document.js';
import { faultError, fileError } from './file-fault.js';
import type { FileSettings, SettingName } from './file-schema.js';
import type { Layer } from './layers.js';
import { readServers, type WrittenServer } from './read-servers.js';
import { readSettings } from './read-settings.js';
import type { PlacedRule } from './rule-schema.js';

const MAX_FILE_BYTES = 4 * 1_024 * 1_024;

export interface ReadLayer {
  readonly layer: Layer;
  readonly present: boolean;
  readonly servers: readonly WrittenServer[];
  readonly settings: Partial<FileSettings>;
  readonly rules: readonly PlacedRule[];
  readonly settingPlaces: ReadonlyMap<SettingName, Place>;
  readonly problems: readonly TurnbuckleError[];
  /** The file could not be used: what it says, or said last, is that of another time or nothing. */
  readonly unusable: boolean;
  /** There is a file, and nothing but white space in it. */
  readonly blank: boolean;
  /** Settings that are wrong, and `servers` when there may be more than could be told apart. */
  readonly unclear: ReadonlySet<string>;
  /** What it says, or said last, is known. */
  readonly known: boolean;
  /** The same as long as the file says the same. */
  readonly fingerprint: string;
}

/** Reads the file of a layer. Never rejects: what is wrong is in `problems`. */
export async function readLayer(layer: Layer): Promise<ReadLayer> {
  const text = await readText(layer);
  const nothing: ReadLayer = {
    layer,
    present: text !== undefined,
    servers: [],
    settings: {},
    rules: [],
    settingPlaces: new Map(),
    problems: [],
    unusable: false,
    blank: false,
    unclear: new Set(),
    known: true,
    fingerprint: '',
  };
  if (text === undefined) return nothing;
  const unusable = (problems: readonly TurnbuckleError[], fingerprint: string): ReadLayer => ({
    ...nothing,
    problems,
    fingerprint,
    unusable: true,
    known: false,
  });
  if (text instanceof TurnbuckleError) return unusable([text], text.message);
  const fingerprint = createHash('sha256').update(text).digest('hex');
  const document = parseDocument(text);
  const problems = document.faults.map((fault) => faultError(layer.file, fault));
  if (document.value === undefined && problems.length === 0)
    return { ...nothing, fingerprint, blank: /^\uFEFF?\s*$/.test(text) };
  if (!isRecord(document.value)) {
    const fault = {
      ...document.placeOf([]),
      path: '',
      text: 'the file has to hold one object: { "servers": { … } }',
    };
    return unusable(problems.length > 0 ? problems : [faultError(layer.file, fault)], fingerprint);
  }
  const settings = readSettings(layer, document, document.value);
  const servers = readServers(layer, document, document.value);
  return {
    ...nothing,
    fingerprint,
    servers: servers.written,
    settings: settings.settings,
    rules: settings.rules,
    settingPlaces: settings.places,
    unclear: new Set([...settings.unclear, ...(servers.unclear ? ['servers'] : [])]),
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
    return fileError(file, reasons[String(errno)] ?? 'it cannot be read', { cause });
  }
}
