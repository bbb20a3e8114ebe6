/** One layer's file, read and understood: its servers as written, its settings, and all that is wrong with it. */
import { createHash } from 'node:crypto';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { type Place, parseDocument } from './document.js';
import { fileError, withHint } from './file-fault.js';
import { MAX_FILE_BYTES, MAX_SERVERS } from './file-limits.js';
import { FileProblems } from './file-problems.js';
import { type FileSettings, SERVER_KEYS, type SettingName } from './file-schema.js';
import type { Layer } from './layers.js';
import { whyMissing } from './missing.js';
import { codeOf, readFileText, whyUnreadable } from './read-file.js';
import { readServers, type WrittenServer } from './read-servers.js';
import { readSettings } from './read-settings.js';
import type { PlacedRule } from './rule-schema.js';

const NOTHING_HOLDS =
  'Nothing in this file is in effect until it is corrected. Other files are not affected.';
const MAX_KEYS = 200;

export interface ReadLayer {
  readonly layer: Layer;
  readonly present: boolean;
  readonly servers: readonly WrittenServer[];
  readonly settings: Partial<FileSettings>;
  readonly rules: readonly PlacedRule[];
  readonly settingPlaces: ReadonlyMap<SettingName, Place>;
  /** Where a key of the file stands. */
  readonly placeOf: (keys: readonly PropertyKey[]) => Place;
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
    placeOf: () => ({ line: 1, column: 1 }),
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
    problems: problems.map((one) => withHint(one, NOTHING_HOLDS)),
    fingerprint,
    unusable: true,
    known: false,
  });
  if (text instanceof TurnbuckleError) return unusable([text], text.message);
  const fingerprint = createHash('sha256').update(text).digest('hex');
  const document = parseDocument(text);
  const problems = new FileProblems(layer.file, document);
  for (const fault of document.faults) problems.addFault(fault);
  if (document.value === undefined && document.faults.length === 0)
    return { ...nothing, fingerprint, blank: /^\uFEFF?\s*$/.test(text) };
  if (!isRecord(document.value)) {
    if (document.faults.length === 0)
      problems.add([], 'the file has to hold one object: { "servers": { … } }');
    return unusable(problems.list(), fingerprint);
  }
  const tooMany = findTooMany(document.value);
  if (tooMany !== undefined) {
    problems.add(...tooMany);
    return unusable(problems.list(), fingerprint);
  }
  const settings = readSettings(layer, { document, problems }, document.value);
  const servers = readServers({ document, problems }, document.value);
  return {
    ...nothing,
    fingerprint,
    servers: servers.written,
    settings: settings.settings,
    rules: settings.rules,
    settingPlaces: settings.places,
    placeOf: (keys) => document.placeOf(keys),
    unclear: new Set([...settings.unclear, ...(servers.unclear ? ['servers'] : [])]),
    problems: problems.list(),
  };
}

/** What a file has more of than anybody needs: then it is not used at all, for the rest may be what guards. */
function findTooMany(value: Readonly<Record<string, unknown>>): [PropertyKey[], string] | undefined {
  const sizeOf = (part: unknown): number => Object.keys(Object(part)).length;
  const key = SERVER_KEYS.find((one) => sizeOf(value[one]) > MAX_SERVERS);
  if (key !== undefined) return [[key], `more than ${MAX_SERVERS} servers`];
  return sizeOf(value) > MAX_KEYS ? [[], `more than ${MAX_KEYS} keys beside the servers`] : undefined;
}

/** The text; undefined when there is no file; an error when it is there and cannot be read. */
async function readText(layer: Layer, isAgain = false): Promise<string | TurnbuckleError | undefined> {
  const { file, required } = layer;
  try {
    return await readFileText(file, { maxBytes: MAX_FILE_BYTES });
  } catch (error) {
    const cause = await whyMissing(file, error);
    // It came to be just now.
    if (cause === undefined && !isAgain) return readText(layer, true);
    const code = codeOf(cause);
    if (code === 'ENOENT' && !required) return undefined;
    const reason = code === 'EFBIG' ? `it is larger than ${MAX_FILE_BYTES} bytes` : whyUnreadable(cause);
    return fileError(file, reason, { cause });
  }
}
